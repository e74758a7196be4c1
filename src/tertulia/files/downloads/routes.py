"""Endpoints that hand out files."""

import time
from urllib.parse import quote

import msgspec

from tertulia.content.storage import NotStored, Store
from tertulia.files.downloads.serving import serve
from tertulia.files.downloads.tickets import is_valid, ticket_for
from tertulia.files.uploads import queries
from tertulia.files.uploads.model import StoredFile, Thumbnail
from tertulia.files.uploads.thumbnails.sizes import FORMATS, thumbnail_key
from tertulia.kernel.auth import Anyone, Caller, Person
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database
from tertulia.kernel.endpoint import Reply, get
from tertulia.kernel.errors import not_found
from tertulia.kernel.settings import Settings
from tertulia.people.users.spectators import spectator_at

_FILE = "/{realm_id}/{part}/{secret}/{name}"


class TemporaryLink(msgspec.Struct):
    """The answer of GET /user_uploads/{realm_id}/... and GET /exports/..."""

    url: str
    """Works for a minute, for everybody who has it."""


class ThumbnailStatus(msgspec.Struct):
    """The answer of GET /thumbnail/status/..."""

    has_thumbnail: bool


@get("/user_uploads" + _FILE, prefix="", listed=False, unlimited=True)
async def get_file(
    caller: Anyone,
    call: Call,
    database: Database,
    store: Store,
    settings: Settings,
    *,
    realm_id: int,
    part: str,
    secret: str,
    name: str,
) -> Reply:
    """The bytes of a file, for whoever may read a message that links it, and for its owner."""
    file = await _find(call, database, settings, caller, f"{realm_id}/{part}/{secret}/{name}")
    return await serve(call, store, file.key, name=file.name, content_type=file.content_type, size=file.size)


@get("/user_uploads/thumbnail" + _FILE + "/{form}", prefix="", listed=False, unlimited=True)
async def get_thumbnail(
    caller: Anyone,
    call: Call,
    database: Database,
    store: Store,
    settings: Settings,
    *,
    realm_id: int,
    part: str,
    secret: str,
    name: str,
    form: str,
) -> Reply:
    """The thumbnail of a picture, for whoever may read the picture."""
    file = await _find(call, database, settings, caller, f"{realm_id}/{part}/{secret}/{name}")
    wanted = next((one for one in FORMATS if one.name == form), None)
    if wanted is None or file.thumbnail != Thumbnail.READY or (wanted.animated and file.frames < 2):
        raise not_found()
    key = thumbnail_key(file.key, wanted)
    try:
        size = (await store.get(key)).size
    except NotStored:
        raise not_found() from None
    return await serve(call, store, key, name=f"{file.name}.webp", content_type="image/webp", size=size)


@get("/user_uploads/temporary/{attachment_id}/{ticket}/{name}", prefix="", listed=False)
async def get_by_ticket(
    call: Call, database: Database, store: Store, *, attachment_id: int, ticket: str, name: str
) -> Reply:
    """The bytes of a file, for whoever holds a link that is not older than a minute."""
    async with database.reader() as reader:
        file = await queries.find_by_id(reader, attachment_id)
    if file is None or name != file.name or not is_valid(ticket, file.key, str(file.id), time.time()):
        raise not_found()
    return await serve(
        call, store, file.key, name=file.name, content_type=file.content_type, size=file.size, site="cross-origin"
    )


@get("/user_uploads" + _FILE)
async def get_temporary_link(
    caller: Person, database: Database, *, realm_id: int, part: str, secret: str, name: str
) -> TemporaryLink:
    """A link to a file that works for a minute without logging in."""
    file = await _access(database, caller, f"{realm_id}/{part}/{secret}/{name}")
    ticket = ticket_for(file.key, str(file.id), time.time())
    return TemporaryLink(f"/user_uploads/temporary/{file.id}/{ticket}/{quote(file.name)}")


@get("/thumbnail/status" + _FILE)
async def get_thumbnail_status(
    caller: Person, database: Database, *, realm_id: int, part: str, secret: str, name: str
) -> ThumbnailStatus:
    """Whether the thumbnail of a picture is there."""
    file = await _access(database, caller, f"{realm_id}/{part}/{secret}/{name}")
    return ThumbnailStatus(file.thumbnail == Thumbnail.READY)


async def _find(call: Call, database: Database, settings: Settings, caller: Caller | None, path_id: str) -> StoredFile:
    if caller is None:
        async with database.reader() as reader:
            caller = await spectator_at(call, reader, settings)
    return await _access(database, caller, path_id)


async def _access(database: Database, caller: Caller, path_id: str) -> StoredFile:
    """The one way to a file: what is out of reach looks like what does not exist."""
    async with database.reader() as reader:
        file = await queries.find_file(reader, caller.realm_id, caller.user_id, path_id)
    if file is None:
        raise not_found()
    return file
