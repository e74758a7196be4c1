"""Uploaded files as the markup shows them."""

from collections.abc import Collection
from urllib.parse import quote, unquote

from tertulia.content.markup import Upload
from tertulia.files.uploads import queries
from tertulia.files.uploads.links.actions import Attached
from tertulia.files.uploads.model import StoredFile, Thumbnail
from tertulia.files.uploads.thumbnails.sizes import MOVING, STILL, thumbnail_url
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database


async def find_uploads(
    database: Database, author: Caller, paths: Collection[str]
) -> tuple[dict[str, Upload], dict[str, Attached]]:
    """Those of the files that the author may link, by path: as the markup knows them, and as a message attaches them."""
    if not paths:
        return {}, {}
    async with database.reader() as reader:
        found = await queries.find_files(reader, author, {*paths, *map(unquote, paths)})
    return (
        {file.path_id: as_upload(file) for file, _ in found},
        {file.path_id: Attached(file.id, file.thumbnail == Thumbnail.WAITING, by) for file, by in found},
    )


def as_upload(file: StoredFile) -> Upload:
    """What the markup needs to show a file; a picture that cannot be read is shown as a link alone."""
    is_ready = file.thumbnail == Thumbnail.READY
    form = MOVING if file.frames > 1 else STILL
    return Upload(
        path=file.path_id,
        content_type="" if file.thumbnail == Thumbnail.FAILED else file.content_type,
        width=file.width,
        height=file.height,
        thumbnail=thumbnail_url(quote(file.path_id, safe="/"), form) if is_ready else "",
        is_animated=file.frames > 1,
    )
