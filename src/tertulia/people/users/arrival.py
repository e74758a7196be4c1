"""What new accounts get is decided by a feature above this one: it provides `Arrival` as a service (its feature.py)."""

from collections.abc import Awaitable, Callable

import msgspec

from tertulia.kernel.auth import Role
from tertulia.kernel.db import Transaction


class Newcomer(msgspec.Struct, frozen=True):
    """Somebody who is about to get an account, whose address is known to be theirs."""

    email: str
    key: str | None = None
    """Of the invitation they came with. Without one, an invitation to their address counts."""
    is_made: bool = False
    """The account is made by an administrator: then invitations do not matter."""


class Reception(msgspec.Struct, frozen=True):
    """What awaits a newcomer. Channels and groups stay as they are until the commit."""

    email: str = ""
    role: int = Role.MEMBER
    channels: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    invitation_id: int | None = None
    inviter_id: int | None = None
    """Whom the invitation is from; None: nobody invited them."""
    tells_inviter: bool = False


async def _nothing(_tx: Transaction, _realm_id: int, _who: Newcomer) -> Reception:
    return Reception()


async def _no_welcome(_tx: Transaction, _realm_id: int, _user_id: int, _reception: Reception) -> None:
    return


class Arrival(msgspec.Struct, frozen=True):
    """Channels, groups and a role for new accounts. `hold` is called before the account is made, `welcome` after."""

    hold: Callable[[Transaction, int, Newcomer], Awaitable[Reception]] = _nothing
    """What a realm, by its id, has for somebody. Refuses an invalid key."""
    welcome: Callable[[Transaction, int, int, Reception], Awaitable[None]] = _no_welcome
    """Of a realm and a user. Refuses if the invitation was used or revoked in the meantime."""
