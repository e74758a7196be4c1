"""Values of an export, which may be of any type (pure)."""

import re
from datetime import datetime

from tertulia.archives.converting.topics import time_of

MOST_ID = 10**10
"""Ids stay as they are, and one that is far from all others would take those between from everybody here."""
OLDEST, NEWEST = 315_532_800, 4_102_444_800
"""Seconds: from 1980 to 2099. Times outside stand for none."""
_SHORT_PATH = re.compile(r"(?<![\w.:/-])(/?user_uploads/[0-9]{1,16}/)(?=[A-Za-z0-9_-]{8,64}/[^/\s()\[\]<>\"'?#\\]+)")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def id_of(value: object) -> int:
    """An id; 0 if it can be none."""
    return value if type(value) is int and 1 <= value <= MOST_ID else 0


def microseconds(value: object) -> int:
    """A time in seconds; 0 if it can be none."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return 0
    return round(value * 1_000_000) if OLDEST < value < NEWEST else 0


def moment(value: object, otherwise: datetime) -> datetime:
    """A time, or another."""
    found = microseconds(value)
    return time_of(found) if found else otherwise


def words(value: object) -> str:
    """A text; empty if it is none. Halves of characters and controls are no text."""
    if not isinstance(value, str):
        return ""
    return _CONTROLS.sub("", value).encode(errors="replace").decode()


def long_path(path: str) -> str:
    """The path of a file with the letters that ours have: organizations that were imported there have paths without."""
    organization, _, rest = path.partition("/")
    return f"{organization}/00/{rest}" if rest.count("/") == 1 else path


def with_long_paths(text: str) -> str:
    """A text that links files so."""
    return _SHORT_PATH.sub(r"\g<1>00/", text) if "user_uploads/" in text else text
