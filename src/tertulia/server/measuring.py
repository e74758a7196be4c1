"""What only the database knows, told by the worker: how much there is, and what waits for whom.

Each measurement is cheap by its plan: sizes come from counters and estimates, and of what waits at most MOST rows are looked at.
"""

import asyncio
from collections.abc import Sequence

import structlog
from prometheus_client import Gauge

from tertulia.kernel.chores import Chore
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.settings import Settings

log = structlog.get_logger()

BACKLOG = Gauge(
    "tertulia_worker_backlog", "Pieces of work of a chore that are due; at most 100,000 are counted", ["chore"]
)
OLDEST = Gauge("tertulia_worker_oldest_seconds", "For how long the oldest of them has been due", ["chore"])
DATABASE_BYTES = Gauge("tertulia_database_bytes", "Size of the database")
FILE_BYTES = Gauge("tertulia_file_bytes", "Bytes of uploaded files, as the organizations' quotas count them")
ORGANIZATIONS = Gauge("tertulia_organizations", "Organizations that are not deactivated")
PEOPLE = Gauge("tertulia_people", "Accounts that are not deactivated, by kind: people, bots", ["kind"])
MESSAGES = Gauge("tertulia_messages", "Messages in the database, as PostgreSQL estimates")
SLOT_BYTES = Gauge("tertulia_slot_retained_bytes", "Write-ahead log that PostgreSQL keeps for the relay")
SLOT_LOST = Gauge(
    "tertulia_slot_lost", "1: what the relay needs of the write-ahead log is gone, or its slot; 0: it is there"
)

MEASURE_SECONDS = 15.0
MOST = 100_000

_SIZES = """
select pg_database_size(current_database()) as database_bytes,
    (select coalesce(sum(used), 0)::bigint from upload_space) as file_bytes,
    (select count(*) from realm where is_active) as organizations,
    (select count(*) from account where is_active and bot_type is null) as people,
    (select count(*) from account where is_active and bot_type is not null) as bots,
    (select greatest(reltuples, 0)::bigint from pg_class where oid = 'message'::regclass) as messages
"""
_SLOT = """
select coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint as bytes, wal_status = 'lost' as is_lost
from pg_replication_slots where slot_name = $1
"""


async def keep_measuring(database: Database, settings: Settings, chores: Sequence[Chore]) -> None:
    """Until cancelled. What goes wrong is no more than a measurement that is missing: others say why."""
    backlogs = backlogs_of(chores)
    while True:
        try:
            async with database.reader() as reader:
                await _measure(reader, settings.slot, backlogs)
        except Exception as error:
            log.debug("nothing was measured", error=repr(error))
        await asyncio.sleep(MEASURE_SECONDS)


def backlogs_of(chores: Sequence[Chore]) -> str:
    """One statement for all of them: name, number, and age of the oldest (pure)."""
    return " union all ".join(
        f"""
        select '{chore.name}' as chore, count(*) as number, coalesce(extract(epoch from now() - min(due)), 0)::float8 as oldest
        from (select due from {chore.waiting} where due <= now() limit {MOST}) as waiting
        """  # noqa: S608
        for chore in chores
        if chore.waiting
    )


async def _measure(reader: Reader, slot: str, backlogs: str) -> None:
    for row in await reader.fetch(backlogs):
        BACKLOG.labels(row["chore"]).set(row["number"])
        OLDEST.labels(row["chore"]).set(row["oldest"])
    sizes = await reader.fetchrow(_SIZES)
    assert sizes is not None
    DATABASE_BYTES.set(sizes["database_bytes"])
    FILE_BYTES.set(sizes["file_bytes"])
    ORGANIZATIONS.set(sizes["organizations"])
    PEOPLE.labels("people").set(sizes["people"])
    PEOPLE.labels("bots").set(sizes["bots"])
    MESSAGES.set(sizes["messages"])
    found = await reader.fetchrow(_SLOT, slot)
    SLOT_BYTES.set(found["bytes"] if found else 0)
    SLOT_LOST.set(found is None or bool(found["is_lost"]))
