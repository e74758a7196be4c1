"""What clients see of files."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset
from tertulia.files.uploads.thumbnails.sizes import ThumbnailFormat


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A file of yours. After its deletion only the ID is given."""

    id: int
    name: str | Unset = UNSET
    path_id: str | Unset = UNSET
    size: int | Unset = UNSET
    create_time: int | Unset = UNSET
    message_ids: list[int] | Unset = UNSET
    messages: list[dict[str, int]] | Unset = UNSET


class AttachmentEvent(Event, frozen=True, kw_only=True):
    """You uploaded a file (`add`), other messages link it than before (`update`), or it was deleted (`remove`)."""

    type: Literal["attachment"]
    op: Literal["add", "update", "remove"]
    attachment: Attachment
    upload_space_used: int


KEYS = {
    "max_file_upload_size_mib": int,
    "realm_upload_quota_mib": int | None,
    "server_thumbnail_formats": list[ThumbnailFormat],
}
