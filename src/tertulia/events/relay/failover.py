"""After a promotion: does the database go on from where the streams are?

A standby that was promoted is the same database if three things hold; each is looked at, none assumed from the timeline:
- it descends from the database that the streams follow, as its history of timelines tells;
- every event in the streams is in its past: nothing was published of a commit that it never got;
- commits had waited for a standby, so that no change was answered which it never got.
The slot, which must stand where we left it or before, is looked at as at every start (continuity.py).
"""

from collections.abc import AsyncIterator, Sequence

import structlog

from tertulia.events.log.stream import EventsGone, EventStream, Stored
from tertulia.events.relay.checkpoint import State
from tertulia.events.relay.lineage import Lineage
from tertulia.events.relay.metrics import UNDONE
from tertulia.events.relay.publisher import ContinuityBroken
from tertulia.events.relay.source import NotedSource, Source
from tertulia.events.relay.wal import format_lsn, position_key

log = structlog.get_logger("tertulia.events.relay.failover")


def check_descent(state: State, noted: NotedSource | None, lineage: Lineage) -> Source:
    """What the streams followed until now, if this database can be what became of it."""
    # A relay of an older version wrote no key: it knew one timeline, that of its epoch.
    source = noted.source if noted else Source(*state.identity)
    now = lineage.identity
    if {source.system_identifier, state.identity.system_identifier} != {now.system_identifier}:
        raise ContinuityBroken(f"the database was {state.identity} and is {now}")
    if not {source.timeline, state.identity.timeline} <= set(lineage.timelines):
        raise ContinuityBroken(f"{now} does not descend from timeline {source.timeline}, or from {state.identity}")
    if source.timeline == now.timeline != state.identity.timeline:
        raise ContinuityBroken(f"another database has taken the number of timeline {now.timeline}")
    return source


def check_nothing_answered_is_lost(source: Source, lineage: Lineage) -> None:
    """Refuse a promotion that may have undone what clients were told."""
    end = lineage.end_of(source.timeline)
    if end is None:
        return
    if lineage.forks[-1].timeline != source.timeline:
        raise ContinuityBroken(
            f"standbys were promoted more than once since timeline {source.timeline}: no relay saw what was answered between"
        )
    if source.waits_since is None or source.waits_since >= end:
        raise ContinuityBroken(
            f"a standby was promoted at {format_lsn(end)} and commits did not wait for it: "
            "what was answered in the last moments before may be lost"
        )


async def undone_events(
    streams: EventStream, lineage: Lineage, source: Source, number: int, epoch: int, span: tuple[int, int]
) -> AsyncIterator[Stored]:
    """The events of a stream, after the first number and up to the second, that are not in the past of the database."""
    if not lineage.forks or span[0] >= span[1]:
        return
    try:
        async for stored in streams.read(number, epoch, f"ev.{number}.>", *span):
            if lineage.timeline_at(stored.pos) != (stored.timeline or source.timeline):
                yield stored
    except EventsGone:
        return  # whether something is missing is asked elsewhere


def say_undone(events: Sequence[Stored], lineage: Lineage) -> None:
    """Tell the operator what the fail-over has cost, as far as it was published."""
    if not events:
        return
    UNDONE.inc(len(events))
    first, last = (position_key(pos)[0] for pos in (min(one.pos for one in events), max(one.pos for one in events)))
    log.error(
        "a fail-over undid changes that were announced",
        transactions=len({one.pos[:16] for one in events}),
        events=len(events),
        realms=sorted({int(one.subject.rpartition(".")[2]) for one in events})[:100],
        promoted_at=[f"timeline {fork.timeline} ended at {format_lsn(fork.end)}" for fork in lineage.forks],
        first=format_lsn(first),
        last=format_lsn(last),
    )
