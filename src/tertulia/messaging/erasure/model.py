"""An erasure under way, and its words."""

from datetime import datetime
from enum import StrEnum

import msgspec


class Messages(StrEnum):
    """What becomes of what somebody wrote."""

    KEEP = "keep"
    """It stays, by somebody who has no name any more."""
    DELETE = "delete"
    ANONYMIZE = "anonymize"
    """It stays, by one account for all who are gone: nobody sees that two messages are of one person."""


class Stage(StrEnum):
    """What is done next, in this order. The first transaction, before all of these, has ended the account."""

    ACCOUNT = "account"
    """What the person is, and all that there is little of: emptied in one transaction."""
    ROWS = "rows"
    """What there may be very much of: marks, and what was read."""
    FILES = "files"
    MESSAGES = "messages"
    TEXTS = "texts"
    """What others wrote that names the person."""
    REVISIONS = "revisions"
    """The same, in what messages were before."""
    LAST = "last"
    """The first stages, once more."""


AFTER = dict(zip(Stage, [*list(Stage)[1:], None], strict=True))
SETTLED_SECONDS = 3600.0
"""No request that began before an erasure is still under way after that time."""


class Erasure(msgspec.Struct, frozen=True):
    """Who is erased, and how far it is."""

    id: int
    realm_id: int
    user_id: int
    account_ids: list[int]
    messages: Messages
    stage: Stage | None
    last_id: int
    since_message: int
    counts: dict[str, int]
    asked: datetime
    finished: datetime | None
    asked_by: int | None = None
    """An owner; None: the operator."""
    kept: dict[str, int] | None = None
    """By table, rows that still held the numbers of the accounts when all was done. None: it is not."""


class Listed(msgspec.Struct, frozen=True):
    """An erasure as it is listed beside the backups: ids and times, by which the same account is found again."""

    realm: str
    """The organization's uuid."""
    user_id: int
    joined: datetime
    """When the account was made: a number alone may be somebody else's in a database that was restored."""
    messages: Messages
    asked: datetime


def name_of(user_id: int, *, is_bot: bool = False) -> str:
    """What an account is called that has no name any more."""
    return f"Deleted {'bot' if is_bot else 'user'} {user_id}"


def address_of(user_id: int) -> str:
    """An address that nobody can have."""
    return f"deleted-{user_id}@erased.invalid"


SHARED_NAME = "Deleted users"
SHARED_ADDRESS = "deleted-users@erased.invalid"
