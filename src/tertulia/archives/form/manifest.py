"""The last entry of an archive: what is in it."""

from datetime import datetime
from typing import Literal

import msgspec

from tertulia.archives.form.kinds import Number, Sum

FORMAT = 1
"""Of archives. A program refuses those of a newer one."""
NAME = "manifest.json"
MOST_BYTES = 16 * 1024 * 1024
"""Of a manifest: a part takes 150 bytes of it."""
Scope = Literal["everything", "consenting", "public", "mine", "moving"]
"""Whose private data it has: everybody's, that of those who agree (`allow_private_data_export`), or nobody's. `mine`: it is
of one person, and has nothing but what is theirs. `moving`: everybody's, and what opens their accounts (moving.py)."""


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry with lines of one kind."""

    name: str
    lines: Number
    bytes: Number
    sha256: Sum


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an archive holds, and of which moment."""

    format: int = FORMAT
    made_by: str
    """The program, with its version."""
    source: str
    """Which organization it is of, whoever made it: archives of one source have the same."""
    moment: datetime
    scope: Scope
    counts: dict[str, Number]
    """Lines of each kind."""
    blobs: Number
    blob_bytes: Number
    parts: list[Part]
    """In the order in which they are in the archive."""
