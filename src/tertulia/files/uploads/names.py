"""What an uploaded file is called, and where it is (pure)."""

import re
import secrets
import unicodedata
from urllib.parse import quote

from tertulia.kernel.text import normalized

MAX_NAME_BYTES = 180
"""With the rest of a path it fits into any file system and into a header."""
UNNAMED = "file"
_FORBIDDEN = re.compile(r'[\\/:*?"<>|%#&=+;`$!@^~\[\](){}\',]')
_QUOTED = re.compile("%(?:22|0D|0A)", re.IGNORECASE)
"""How browsers write in a form what would end the name."""
_SPACES = re.compile(r"[\s_]+")
_DOTS = re.compile(r"\.{2,}")


def clean_name(sent: str) -> str:
    """A name without paths, control characters, marks that turn the writing direction, or signs that a text would read."""
    name = normalized("NFC", _QUOTED.sub("", sent.replace("\\", "/").rpartition("/")[2]))
    # Categories: control, format (which turns directions, or is not to be seen), surrogates, private use, not assigned.
    name = "".join(" " if char.isspace() else char for char in name if unicodedata.category(char)[0] != "C")
    name = _DOTS.sub(".", _SPACES.sub("-", _FORBIDDEN.sub("", name)))
    return _shortened(name.strip(".- ")) or UNNAMED


def _shortened(name: str) -> str:
    """Not too long; what says its kind is kept."""
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending.encode()) > 20:
        stem, ending = name, ""
    room = MAX_NAME_BYTES - len(ending.encode()) - 1
    stem = stem.encode()[:room].decode(errors="ignore")
    return f"{stem}.{ending}" if ending else stem


def new_path(realm_id: int, name: str) -> str:
    """The end of a file's address: nobody guesses it."""
    return f"{realm_id}/{secrets.token_hex(1)}/{secrets.token_urlsafe(18).replace('-', 'x').replace('_', 'y')}/{name}"


def new_key(realm_id: int) -> str:
    """Of an object: nothing that anybody chose is in it."""
    secret = secrets.token_hex(24)
    return f"uploads/{realm_id}/{secret[:2]}/{secret}"


def url_of(path_id: str) -> str:
    """The address of a file, as clients put it into a text."""
    return "/user_uploads/" + quote(path_id, safe="/")


def disposition(kind: str, name: str) -> str:
    """A Content-Disposition header: the name in ASCII, and as it is."""
    plain = name.encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
