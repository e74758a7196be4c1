"""The language of search, and changing it while the server runs.

Search knows words by their stems, which PostgreSQL makes in `search_language()` and stores beside each text (generated columns).
A change replaces that function, so that from then on new texts and searches speak the new language; then the stems of what is
there already are made anew, a few rows at a time.

- Nobody waits for longer than one batch takes. A row that somebody else holds is left for later, so nobody waits in a circle.
- Until a text is reached it is found by words whose stems are the same in both languages, and not by others.
- Only rows are written whose stems differ. So it can be ended at any moment and begun again, and does no work twice.
- Transactions that began before the change may store old stems after it: they are waited for first.
"""

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

import asyncpg

from tertulia.kernel.db import Database, Reader, Transaction

BATCH: Final = 500
"""Rows that are looked at in one transaction."""
SETTLE_SECONDS: Final = 1.0
"""A statement that was planned before the change, and had no number of a transaction yet, has got one by then."""
ASK_SECONDS: Final = 0.2

Tell = Callable[[str, int, int], None]
"""A table, how many of its rows are looked at, and about how many there are."""


class Text(NamedTuple):
    """A column whose stems are stored beside it, in `search`."""

    table: str
    column: str


TEXTS: Final = (Text("topic", "name"), Text("message", "rendered"))


class NoSuchLanguage(ValueError):
    """PostgreSQL has no such configuration; the text says which there are."""


async def language_now(reader: Reader) -> str:
    """What texts are stored in and searched with."""
    return str(await reader.fetchval("select search_language()::text"))


async def change_language(database: Database, name: str) -> None:
    """From now on search speaks this language; what is stored already follows by `rebuild`."""
    async with database.transaction() as tx:
        full = await _find(tx, name)
        await tx.execute(
            "create or replace function search_language() returns regconfig language sql immutable parallel safe"
            f" as $$ select '{full}'::regconfig $$"
        )
        xid = await tx.fetchval("select pg_current_xact_id()::text")
    async with database.reader() as reader:
        await _wait_for_older(reader, xid)


async def _wait_for_older(reader: Reader, xid: str) -> None:
    """Until all transactions are over that began to write before that one."""
    is_over = "select pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8"
    while not await reader.fetchval(is_over, xid):  # noqa: ASYNC110 -- nobody tells
        await asyncio.sleep(ASK_SECONDS)
    await asyncio.sleep(SETTLE_SECONDS)


async def rebuild(database: Database, tell: Tell) -> int:
    """Make all stems anew; returns how many rows were written."""
    written = 0
    for text in TEXTS:
        written += await _rebuild_table(database, text, tell)
        async with database.connection() as connection:
            # What the planner believes of words decides which way a search goes.
            await connection.execute(f"analyze {text.table} (search)")
    return written


async def _rebuild_table(database: Database, text: Text, tell: Tell) -> int:
    async with database.reader() as reader:
        total = await reader.fetchval(
            "select greatest(reltuples, 0)::bigint from pg_class where oid = $1::text::regclass", text.table
        )
    looked_at = written = last = 0
    held: list[int] = []
    while True:
        async with database.transaction() as tx:
            ids = await _next_ids(tx, text, last)
            if not ids:
                break
            free = await _lock(tx, text, ids)
            written += await _rebuild_rows(tx, text, free)
        held += set(ids).difference(free)
        last, looked_at = ids[-1], looked_at + len(ids)
        tell(text.table, looked_at, max(total, looked_at))
    return written + await _rebuild_held(database, text, held)


async def _rebuild_held(database: Database, text: Text, ids: list[int]) -> int:
    """Those that somebody held: now one at a time, waiting for them."""
    written = 0
    for row_id in sorted(ids):
        async with database.transaction() as tx:
            written += await _rebuild_rows(tx, text, [row_id])
    return written


async def _find(tx: Transaction, name: str) -> str:
    """The configuration, with its schema, quoted."""
    try:
        found: str | None = await tx.fetchval(_NAMED, name)
    except (asyncpg.SyntaxOrAccessError, asyncpg.DataError, asyncpg.InvalidSchemaNameError):
        found = None
    if found is None:
        raise NoSuchLanguage(name)
    return found


_NAMED = """
select quote_ident(nspname) || '.' || quote_ident(cfgname) from pg_ts_config
join pg_namespace on pg_namespace.oid = cfgnamespace where pg_ts_config.oid = $1::text::regconfig
"""


async def languages(reader: Reader) -> list[str]:
    """Those that PostgreSQL knows."""
    rows = await reader.fetch("select cfgname from pg_ts_config order by cfgname")
    return [row["cfgname"] for row in rows]


# The names of tables and columns are our own (TEXTS).
async def _next_ids(tx: Transaction, text: Text, after: int) -> list[int]:
    sql = f"select id from {text.table} where id > $1 order by id limit {BATCH}"  # noqa: S608
    return [row["id"] for row in await tx.fetch(sql, after)]


async def _lock(tx: Transaction, text: Text, ids: list[int]) -> list[int]:
    sql = f"select id from {text.table} where id = any($1::bigint[]) order by id for no key update skip locked"  # noqa: S608
    return [row["id"] for row in await tx.fetch(sql, ids)]


async def _rebuild_rows(tx: Transaction, text: Text, ids: list[int]) -> int:
    """Write those whose stems are not what they should be; returns how many."""
    sql = f"""
    update {text.table} set {text.column} = {text.column}
    where id = any($1::bigint[]) and search is distinct from to_tsvector(search_language(), {text.column})
    """  # noqa: S608
    return int((await tx.execute(sql, ids)).rpartition(" ")[2])
