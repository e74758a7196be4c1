"""Muted users as the API shows them."""

import msgspec


class MutedUser(msgspec.Struct, frozen=True):
    """Who was muted, and when (UNIX seconds)."""

    id: int
    timestamp: int
