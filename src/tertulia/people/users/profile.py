"""Custom profile fields are a feature above this one: it provides `ProfileWriter` as a service (its feature.py)."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.people.users.model import ProfileEntry


class ProfileWriter(msgspec.Struct, frozen=True):
    """Writes the values that an administrator sets for somebody. `hold` is called before any account is locked, `write` after."""

    hold: Callable[[Transaction, int], Awaitable[None]]
    """Locks the fields of a realm, by its id, until the commit."""
    write: Callable[[Transaction, Caller, int, Sequence[ProfileEntry]], Awaitable[None]]
