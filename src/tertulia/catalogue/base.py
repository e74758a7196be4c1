"""What all events have."""

import msgspec
from msgspec import UnsetType as Unset

__all__ = ["Event", "Unset"]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers rise within a queue, with gaps."""

    id: int
