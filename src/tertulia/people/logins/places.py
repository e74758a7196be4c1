"""Places people log in from: networks, and browsers by a cookie that outlives the session.

A place becomes known by a login, and stays so for half a year from the last one. The cookie opens nothing: it only lets its
browser try a password while others are guessing. So it is not taken away when somebody logs out.
"""

import secrets

import msgspec

from tertulia.kernel.call import Call
from tertulia.kernel.cookies import MAX_TOKEN_LENGTH, cookie_line, find_cookie
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.limits import network_of
from tertulia.kernel.settings import Settings
from tertulia.people.logins import queries

DEVICE = "tertulia_device"
KNOWN_DAYS = 180
MAX_PLACES = 20
"""Of one account; the oldest are forgotten."""
MOST_TOLD = 10
"""New browsers of one account in an hour, less than `MAX_PLACES`: whoever logs in without end makes no mails without end."""


class Origin(msgspec.Struct, frozen=True):
    """Where a request comes from."""

    network: str
    device: str | None = None

    async def place(self, reader: Reader, user_id: int) -> tuple[str, bool]:
        """What failures are counted for, and whether the user is known to log in from there. No user: 0."""
        wanted = [place for place in (self.device, self.network) if place is not None]
        known = await queries.known_places(reader, user_id, wanted, KNOWN_DAYS)
        if self.device is not None and self.device in known:
            return self.device, True
        return self.network, self.network in known


def origin_of(call: Call, settings: Settings) -> Origin:
    """Where a request comes from."""
    token = find_cookie(call, DEVICE, settings)
    return Origin(f"network {network_of(call.peer)}", _device(token) if token else None)


async def note_login(tx: Transaction, user_id: int, place: str) -> None:
    """Somebody has logged in from there."""
    await queries.note_place(tx, user_id, place, MAX_PLACES)


async def know_browser(tx: Transaction, call: Call, settings: Settings, user_id: int) -> bool:
    """Let the browser that calls be known as one the user logs in from. Whether that is news: they knew others, and not this."""
    token = find_cookie(call, DEVICE, settings)
    if token is None or len(token) > MAX_TOKEN_LENGTH:
        token = secrets.token_urlsafe(24)
    call.add_header("set-cookie", cookie_line(DEVICE, token, settings, KNOWN_DAYS * 86400))
    is_new = await queries.is_new_device(tx, user_id, _device(token), KNOWN_DAYS, MOST_TOLD)
    await note_login(tx, user_id, _device(token))
    return is_new


def _device(token: str) -> str:
    return f"device {digest_of_key(token).hex()}"
