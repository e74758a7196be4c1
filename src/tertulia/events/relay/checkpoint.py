"""The relay's memory in PostgreSQL: epoch, checkpoint and the state of the slot. One SQL statement per function.

`relay_checkpoint` holds for each shard the last event known to be stored. Its row for shard -1 holds, in `seq`, the
position in the write-ahead log up to which the slot may be confirmed: everything before it is stored and in the rows of
the shards. The slot is never confirmed beyond that; so a slot that stands beyond it was not moved by us (dropped and made
again, say), and the streams cannot be continued.

Invariant: every write names the epoch it belongs to and does nothing if another one has begun (`Fenced`), and no write
takes a checkpoint back: a relay that slept cannot undo its successor's work.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import asyncpg

from tertulia.events.log.stream import POS_ZERO
from tertulia.events.relay.lineage import Identity
from tertulia.events.relay.wal import parse_lsn

CONFIRMABLE: Final = -1  # "shard" of the row with the confirmable position
FAILOVER_SLOTS_SINCE: Final = 17
STATEMENT_SECONDS: Final = 10.0


class Fenced(Exception):
    """Another relay has taken over."""


class Watermark(NamedTuple):
    """An event known to be stored: the last one of its shard."""

    seq: int
    pos: str
    at: float  # when it was known, seconds since 1970


class Memory:
    """What a relay process knows beyond the checkpoint, by (epoch, shard); it outlives sessions, not the process."""

    def __init__(self) -> None:
        self.stored: dict[tuple[int, int], Watermark] = {}
        self.unsure: dict[tuple[int, int], list[tuple[int, str]]] = {}
        """Numbers and positions of events that were sent and not acknowledged when a session ended."""


class State(NamedTuple):
    epoch: int
    identity: Identity


class Slot(NamedTuple):
    confirmed: int
    active: bool
    lost: bool


async def find_state(pg: Any) -> State | None:
    row = await pg.fetchrow("select epoch, system_identifier, timeline from relay_state where id = 1")
    return State(row[0], Identity(row[1], row[2])) if row else None


async def get_watermarks(pg: Any, epoch: int) -> dict[int, Watermark]:
    """The checkpoint of that epoch by shard; one of an older epoch is worth nothing."""
    rows = await pg.fetch("select shard, seq, pos, updated_at from relay_checkpoint where epoch = $1", epoch)
    return {shard: Watermark(seq, pos, at.timestamp()) for shard, seq, pos, at in rows}


async def get_greatest_sequences(pg: Any) -> dict[int, int]:
    """Per shard, over all epochs."""
    rows = await pg.fetch("select shard, seq from relay_checkpoint where shard >= 0")
    return dict(map(tuple, rows))


async def write_watermarks(pg: Any, epoch: int, watermarks: Mapping[int, Watermark], confirmable: int) -> None:
    rows = [(shard, watermark.seq, watermark.pos) for shard, watermark in watermarks.items()]
    rows.append((CONFIRMABLE, confirmable, POS_ZERO))
    shards, seqs, positions = zip(*sorted(rows), strict=True)
    written = await pg.fetchval(
        """
        with current as (select epoch from relay_state where id = 1 and epoch = $1),
        written as (
            insert into relay_checkpoint as old (shard, epoch, seq, pos, updated_at)
            select given.shard, current.epoch, given.seq, given.pos, now()
            from current, unnest($2::integer[], $3::bigint[], $4::text[]) as given (shard, seq, pos)
            on conflict (shard) do update set seq = excluded.seq, pos = excluded.pos, updated_at = excluded.updated_at
            where old.epoch = excluded.epoch and old.seq <= excluded.seq
            returning 1
        )
        select count(*) from written
        """,
        epoch,
        shards,
        seqs,
        positions,
        timeout=STATEMENT_SECONDS,
    )
    if written != len(rows):
        raise Fenced(f"the checkpoint of epoch {epoch} is not ours any more")


async def begin_epoch(pg: Any, old: State | None, new: State, bases: Mapping[int, int], confirmable: int) -> None:
    """Write down that `new` has begun, each shard standing before its first event."""
    async with pg.transaction():
        done = await pg.fetchval(
            """
            insert into relay_state as old (id, epoch, system_identifier, timeline) values (1, $1, $2, $3)
            on conflict (id) do update set epoch = excluded.epoch,
                system_identifier = excluded.system_identifier, timeline = excluded.timeline
            where old.epoch = $4
            returning true
            """,
            new.epoch,
            *new.identity,
            old.epoch if old else -1,
        )
        if not done:
            raise Fenced(f"epoch {new.epoch} was begun by somebody else")
        await pg.execute("delete from relay_checkpoint")
        rows = [(shard, new.epoch, base, POS_ZERO) for shard, base in {**bases, CONFIRMABLE: confirmable}.items()]
        await pg.executemany("insert into relay_checkpoint (shard, epoch, seq, pos) values ($1, $2, $3, $4)", rows)


async def follow(pg: Any, old: State, identity: Identity) -> None:
    """Write down that the epoch goes on in a database that was promoted.

    Events of a timeline are published only after this. So where they are, but this is not, another database of the same
    origin has taken the same number for its timeline.
    """
    done = await pg.fetchval(
        "update relay_state set timeline = $2 where id = 1 and epoch = $1 returning true", old.epoch, identity.timeline
    )
    if not done:
        raise Fenced(f"epoch {old.epoch} was ended by somebody else")


async def spoil_epoch(pg: Any, state: State) -> None:
    """Make the present epoch unusable before the slot is replaced, so that a crash in between cannot hide the gap."""
    done = await pg.fetchval(
        "update relay_state set epoch = epoch + 1 where id = 1 and epoch = $1 returning true", state.epoch
    )
    if not done:
        raise Fenced(f"epoch {state.epoch} was ended by somebody else")


async def get_identity(pg: Any) -> Identity:
    """Which database this connection leads to; fails on a standby."""
    row = await pg.fetchrow(
        """
        select system_identifier::text, pg_walfile_name(pg_current_wal_insert_lsn()) from pg_control_system()
        """,
        timeout=STATEMENT_SECONDS,
    )
    return Identity(row[0], int(row[1][:8], 16))


async def find_slot(pg: Any, name: str) -> Slot | None:
    row = await pg.fetchrow(
        """
        select confirmed_flush_lsn::text, active, wal_status = 'lost', restart_lsn is null
        from pg_replication_slots where slot_name = $1
        """,
        name,
        timeout=STATEMENT_SECONDS,
    )
    if row is None:
        return None
    confirmed, active, lost, released = row
    return Slot(parse_lsn(confirmed) if confirmed else 0, active, bool(lost or released))


async def create_slot(pg: Any, name: str) -> None:
    # Waits for transactions that are running now; on 17+ the slot survives a fail-over.
    failover = ", failover => true" if pg.get_server_version().major >= FAILOVER_SLOTS_SINCE else ""
    await pg.execute(f"select pg_create_logical_replication_slot($1, 'pgoutput'{failover})", name)


async def drop_slot(pg: Any, name: str) -> None:
    await pg.execute("select pg_drop_replication_slot($1)", name)


async def ensure_publication(pg: Any, name: str) -> None:
    if not await pg.fetchval("select exists (select from pg_publication where pubname = $1)", name):
        try:
            await pg.execute(f'create publication "{name}"')
        except asyncpg.DuplicateObjectError:
            pass


async def emit_marker(pg: Any, prefix: str, content: str) -> None:
    """Write a message that comes back through the slot after everything committed before it."""
    await pg.execute("select pg_logical_emit_message(true, $1::text, $2::text)", prefix, content)


class WalEnd(NamedTuple):
    flushed: int
    waits: bool  # whether commits wait until a standby has them


async def get_end(pg: Any) -> WalEnd:
    """The end of the write-ahead log, and who has it."""
    row = await pg.fetchrow(
        """
        select pg_current_wal_flush_lsn()::text, current_setting('synchronous_standby_names') <> ''
            and current_setting('synchronous_commit') not in ('off', 'local')
        """,
        timeout=STATEMENT_SECONDS,
    )
    return WalEnd(parse_lsn(row[0]), row[1])
