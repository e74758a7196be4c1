"""Links to a file that work for a minute without logging in (pure): signed with the key of its object, which nobody knows."""

import hashlib
import hmac
import re

from tertulia.files.uploads.model import StoredFile

SECONDS = 60
_TICKET = re.compile(r"([0-9]{1,12})-([0-9a-f]{64})")


def ticket_for(file: StoredFile, now: float) -> str:
    """The part of a link that lets its bearer in."""
    until = int(now) + SECONDS
    return f"{until}-{_sign(file, until)}"


def is_valid(ticket: str, file: StoredFile, now: float) -> bool:
    """Whether a ticket is for this file, and still good."""
    found = _TICKET.fullmatch(ticket)
    if found is None:
        return False
    until = int(found[1])
    return hmac.compare_digest(found[2], _sign(file, until)) and now <= until <= now + SECONDS + 1


def _sign(file: StoredFile, until: int) -> str:
    return hmac.new(file.key.encode(), f"{file.id} {until}".encode(), hashlib.sha256).hexdigest()
