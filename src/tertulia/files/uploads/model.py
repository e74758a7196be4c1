"""Files as the API shows them, and as the rest of the server knows them."""

from enum import IntEnum

import msgspec


class Thumbnail(IntEnum):
    """What is known of a picture's thumbnail."""

    NONE = 0
    WAITING = 1
    READY = 2
    FAILED = 3


class AttachmentRecord(msgspec.Struct, frozen=True):
    """A file as its owner sees it."""

    id: int
    name: str
    path_id: str
    size: int
    create_time: int
    """Milliseconds."""
    message_ids: list[int]


class StoredFile(msgspec.Struct, frozen=True):
    """A file as it is kept."""

    id: int
    owner_id: int
    path_id: str
    key: str
    name: str
    size: int
    content_type: str
    created_at: float
    thumbnail: int
    width: int
    height: int
    frames: int


class NewFile(msgspec.Struct, frozen=True):
    """An object that was just stored, and is about to be somebody's."""

    path_id: str
    key: str
    name: str
    size: int
    content_type: str
