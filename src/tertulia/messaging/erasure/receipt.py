"""What was done, for whoever asked for it: every table of the schema with a number, and what lies outside of the database."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.messaging.erasure import queries
from tertulia.messaging.erasure.model import Erasure, Messages
from tertulia.messaging.erasure.tables import TABLES, explanation_of

_TABLES = """
select relname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
where nspname = 'public' and relkind in ('r', 'p') order by relname
"""
DAY = 86_400


class TableLine(msgspec.Struct, frozen=True):
    """What became of a table."""

    table: str
    erased: int
    """Rows that were deleted or emptied, or in which the name was replaced."""
    kept: int
    """Rows that still hold the number of the account."""
    what: str


class Outside(msgspec.Struct, frozen=True):
    """What is not in the database, and until when it is there."""

    where: str
    what: str
    seconds: int | None = None
    """How long it is kept at most; null: it is gone, or says why not."""


class Receipt(msgspec.Struct, frozen=True):
    """Ids, times and numbers: it names nobody."""

    realm_id: int
    user_id: int
    account_ids: list[int]
    messages: Messages
    asked: datetime
    finished: datetime | None
    tables: list[TableLine]
    outside: list[Outside]


async def receipt_of(reader: Reader, erasure: Erasure, settings: Settings) -> Receipt:
    """The receipt of an erasure, as it is now."""
    kept = erasure.kept
    if kept is None:
        kept = await queries.count_rows(reader, erasure.account_ids)
    return Receipt(
        realm_id=erasure.realm_id,
        user_id=erasure.user_id,
        account_ids=erasure.account_ids,
        messages=erasure.messages,
        asked=erasure.asked,
        finished=erasure.finished,
        tables=lines(await _table_names(reader), erasure.counts, kept),
        outside=outside(settings),
    )


async def _table_names(reader: Reader) -> list[str]:
    return [row["relname"] for row in await reader.fetch(_TABLES)]


def lines(names: Sequence[str], erased: Mapping[str, int], kept: Mapping[str, int]) -> list[TableLine]:
    """One for each table; of one that this program does not know, that it does not."""
    return [
        TableLine(
            name,
            erased.get(name, 0),
            kept.get(name, 0),
            explanation_of(TABLES[name]) if name in TABLES else "not a table of this program: look at it yourself",
        )
        for name in names
    ]


def outside(settings: Settings) -> list[Outside]:
    """Where else something may be."""
    return [
        Outside("storage", "objects of files and pictures are deleted; while a backup is made, right after it"),
        Outside("streams EV_*", "events of before, with names and texts of then", settings.event_retention_seconds),
        Outside("bucket KV_TERTULIA_QUEUES", "the person's event queues have ended, with their records"),
        Outside("logs", "hold numbers of accounts, and neither names nor texts"),
        Outside(
            "backups", "archives from before hold all of it until they are pruned; restoring one repeats the erasure"
        ),
        Outside("exports", "archives with the person in them are deleted; what others had downloaded is out of reach"),
        Outside("browsers and mailboxes of others", "what was already delivered there is out of the server's reach"),
    ]


def in_words(receipt: Receipt) -> str:
    """The receipt as a text for people."""
    finished = "not finished" if receipt.finished is None else f"finished {receipt.finished:%Y-%m-%d %H:%M:%S} UTC"
    head = [
        f"Erasure of account {receipt.user_id} in organization {receipt.realm_id}",
        f"Asked {receipt.asked:%Y-%m-%d %H:%M:%S} UTC, {finished}. Messages: {receipt.messages.value}.",
        f"Accounts, with their bots: {', '.join(map(str, receipt.account_ids))}",
        "",
        f"{'Table':<24} {'Erased':>8} {'Kept':>8}  What",
    ]
    table = [f"{one.table:<24} {one.erased:>8} {one.kept:>8}  {one.what}" for one in receipt.tables]
    rest = [
        f"{one.where}: {one.what}" + ("" if one.seconds is None else f" (at most {one.seconds / DAY:g} days)")
        for one in receipt.outside
    ]
    return "\n".join([*head, *table, "", "Outside of the database", *rest, ""])
