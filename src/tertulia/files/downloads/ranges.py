"""The part of a file that a request asks for (RFC 9110, section 14; pure). One range; of several the whole file is sent."""

import re
from typing import NamedTuple

from tertulia.kernel.errors import Refusal

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


class Part(NamedTuple):
    """From `start` to before `end`."""

    start: int
    end: int


def part_of(header: str | None, size: int) -> Part | None:
    """The range that is asked for; None: everything. Refuses one that is not there."""
    found = _RANGE.fullmatch(header.replace(" ", "")) if header else None
    if found is None or (not found[1] and not found[2]):
        return None
    if not found[1]:
        length = int(found[2])
        part = Part(max(0, size - length), size)
    else:
        part = Part(int(found[1]), min(int(found[2]) + 1, size) if found[2] else size)
        if found[2] and int(found[2]) < int(found[1]):
            return None
    if part.start >= part.end:
        raise Refusal(
            "The file has no such range.",
            code="RANGE_NOT_SATISFIABLE",
            status=416,
            headers={"Content-Range": f"bytes */{size}"},
        )
    return part
