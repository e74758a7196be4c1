"""What people say in custom profile fields is the affair of a feature above this one; here is where it is tied in."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.users.model import ProfileEntry


class ProfileWriter(msgspec.Struct, frozen=True):
    """Writes what an administrator says of somebody. `hold` comes before any account is locked, `write` after."""

    hold: Callable[[Transaction, int], Awaitable[None]]
    """Of a realm, by its id: no field changes from now on."""
    write: Callable[[Transaction, Caller, int, Sequence[ProfileEntry]], Awaitable[None]]
