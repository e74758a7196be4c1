"""Links that work for a minute without logging in (pure): signed with the key of the object, which nobody knows."""

import hashlib
import hmac
import re

SECONDS = 60
_TICKET = re.compile(r"([0-9]{1,12})-([0-9a-f]{64})")


def ticket_for(key: str, what: str, now: float) -> str:
    """The part of a link that lets its bearer in; `what` is what else the link says, which nobody may change."""
    until = int(now) + SECONDS
    return f"{until}-{_sign(key, what, until)}"


def is_valid(ticket: str, key: str, what: str, now: float) -> bool:
    """Whether a ticket is for this object, and still good."""
    found = _TICKET.fullmatch(ticket)
    if found is None:
        return False
    until = int(found[1])
    return hmac.compare_digest(found[2], _sign(key, what, until)) and now <= until <= now + SECONDS + 1


def _sign(key: str, what: str, until: int) -> str:
    return hmac.new(key.encode(), f"{what} {until}".encode(), hashlib.sha256).hexdigest()
