"""What event queues ask PostgreSQL: one statement per function."""

from tertulia.events.log.snapshot import Snapshot, parse_snapshot
from tertulia.kernel.db import Reader, Transaction

# Whatever the snapshot sees was flushed before it could be seen, so all that commits from the flushed end on is new. Not
# the end of what is inserted: a crash takes that back, and the numbers of lost transactions, which the snapshot counts
# as ended, go to new ones below it. Without synchronous commits changes are seen before they are flushed. The name of a
# file of the log begins with the timeline.
_SNAPSHOT = """
select pg_current_snapshot()::text, (case current_setting('synchronous_commit') when 'off'
    then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end)::text,
    substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)
"""


async def read_snapshot(reader: Reader) -> Snapshot:
    """What this reader sees: the first statement of its transaction."""
    row = await reader.fetchrow(_SNAPSHOT)
    assert row is not None
    return parse_snapshot(row[0], row[1], int(row[2], 16))


async def transaction_id(tx: Transaction) -> int:
    """The number under which this transaction is in the log."""
    return int(await tx.fetchval("select pg_current_xact_id()::text"))
