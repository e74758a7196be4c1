"""What happens to people who come new is the affair of features above this one; here is where it is tied in."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from tertulia.kernel.db import Transaction


async def _no_channels(_tx: Transaction, _realm_id: int) -> list[int]:
    return []


async def _no_welcome(_tx: Transaction, _realm_id: int, _user_id: int, _channels: Sequence[int]) -> None:
    return


class Arrival(msgspec.Struct, frozen=True):
    """Subscribes newcomers to the default channels. `hold` comes before the account is made, `welcome` after."""

    hold: Callable[[Transaction, int], Awaitable[list[int]]] = _no_channels
    """The default channels of a realm, by its id: they stay as they are until the commit."""
    welcome: Callable[[Transaction, int, int, Sequence[int]], Awaitable[None]] = _no_welcome
    """Of a realm and a user: with the channels that are held."""
