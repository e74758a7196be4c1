"""Mails about an account are written by a feature above this one: it provides `AccountMails` as a service (its feature.py)."""

from collections.abc import Awaitable, Callable

import msgspec

from tertulia.kernel.db import Transaction


class AccountMails(msgspec.Struct, frozen=True):
    """What somebody is told by mail, once the transaction commits."""

    welcome: Callable[[Transaction, int], Awaitable[None]]
    """That they have an account, if the organization wants that to be told."""
    farewell: Callable[[Transaction, int, str], Awaitable[None]]
    """That theirs was deactivated, with a comment, which may be empty."""
