"""Where people talked elsewhere, and what that is in an archive."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tertulia.archives.converting.shelf import Shelf
from tertulia.archives.converting.topics import time_of
from tertulia.archives.form import kinds

OLDEST, NEWEST = 1_230_768_000, 4_102_444_800
"""Seconds: from 2009 to 2099. Times outside stand for none."""
MOST_DESCRIPTION = 1024


@dataclass
class Room:
    """A conversation there. `number` tells rooms apart, `id` is the conversation here: several rooms can be one."""

    id: int
    number: int
    folders: list[str] = field(default_factory=list)
    is_direct: bool = False
    is_private: bool = True
    name: str = ""
    description: str = ""
    is_archived: bool = False
    is_default: bool = False
    created: int = 0
    creator: int | None = None
    people: set[int] = field(default_factory=set)
    folder_id: int | None = None
    """Of the archive: where channels are grouped."""
    is_unknown: bool = False
    """It is in no list: who writes in it belongs to it."""
    pins: dict[int, int] = field(default_factory=dict)
    """Of a source that lists them with the room: when a message was pinned, by when it was sent, until it comes."""


def began(rooms: Iterable[Room], shelf: Shelf) -> datetime:
    """When the first room was made, or the first message sent."""
    times = [room.created for room in rooms if room.created]
    if span := shelf.span():
        times.append(span[0] // 1_000_000)
    return datetime.fromtimestamp(min(times, default=OLDEST), UTC)


def records(
    rooms: Iterable[Room], created: datetime
) -> tuple[list[kinds.Channel], list[kinds.Direct], dict[int, list[int]]]:
    """As the archive has them."""
    channels, directs, members = [], [], {}
    seen: set[int] = set()
    for room in rooms:
        if room.id in seen:
            continue
        seen.add(room.id)
        if room.is_direct:
            directs.append(kinds.Direct(id=room.id, participants=sorted(room.people)))
            continue
        members[room.id] = sorted(room.people)
        channels.append(
            kinds.Channel(
                id=room.id,
                name=room.name,
                description=room.description,
                is_private=room.is_private,
                is_archived=room.is_archived,
                is_default=room.is_default,
                creator_id=room.creator,
                folder_id=room.folder_id,
                created=time_of(room.created * 1_000_000) if room.created else created,
            )
        )
    return channels, directs, members
