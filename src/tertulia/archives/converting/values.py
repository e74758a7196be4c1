"""Values of a source, which may be anything whatever they should be (pure)."""

import re
from datetime import datetime
from typing import Any

from tertulia.archives.converting import rooms
from tertulia.archives.converting.topics import time_of

OLDEST, NEWEST = 1000 * rooms.OLDEST, 1000 * rooms.NEWEST
"""Milliseconds."""
Json = dict[str, Any]
_HALVES = re.compile("[\ud800-\udfff]")
"""Half a character: JSON can say it, and nothing here can store it."""


def string(value: object) -> str:
    """A text, or none."""
    return _HALVES.sub("", value) if isinstance(value, str) else ""


def objects(value: object) -> list[Json]:
    """The documents of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def strings(value: object) -> list[str]:
    """The texts of a list, each once."""
    return [one for one in dict.fromkeys(map(string, value)) if one] if isinstance(value, list) else []


def inner(value: object) -> Json:
    """A document in another."""
    return value if isinstance(value, dict) else {}


def milliseconds(value: object) -> int:
    """A time; 0 if it can be none."""
    found = int(value) if isinstance(value, int) or (isinstance(value, float) and abs(value) < 1e15) else 0
    return found if OLDEST < found < NEWEST else 0


def moment(value: object) -> datetime | None:
    """A time, if it can be one."""
    found = milliseconds(value)
    return time_of(found * 1000) if found else None
