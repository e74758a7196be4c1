"""Which positions of the log are in a database's past."""

import pytest

from tertulia.events.relay.checkpoint import State
from tertulia.events.relay.failover import check_descent, check_nothing_answered_is_lost
from tertulia.events.relay.lineage import Fork, Identity, Lineage
from tertulia.events.relay.publisher import ContinuityBroken
from tertulia.events.relay.source import NotedSource, Overtaken, Source, check_not_overtaken
from tertulia.events.relay.wal import position

HISTORY = "1\t0/3000148\tno recovery target specified\n2\t1/10\tbefore 2000-01-01 00:00:00+00\n"
FIRST_END, SECOND_END = 0x3000148, 0x1_0000_0010
TWICE_PROMOTED = Lineage.parse(Identity("7", 3), HISTORY)


def test_the_history_of_timelines_is_read() -> None:
    assert TWICE_PROMOTED.forks == (Fork(1, FIRST_END), Fork(2, SECOND_END))
    assert TWICE_PROMOTED.timelines == (1, 2, 3)
    assert Lineage.parse(Identity("7", 1), "").timelines == (1,)


@pytest.mark.parametrize(
    ("lsn", "timeline"),
    [
        (1, 1),
        (FIRST_END - 1, 1),
        (FIRST_END, 2),
        (SECOND_END - 1, 2),
        (SECOND_END, 3),
        (2**63, 3),
    ],
)
def test_a_position_is_of_the_timeline_that_the_database_had_there(lsn: int, timeline: int) -> None:
    """A commit that begins where its timeline ended is not in the past: the promoted standby never had that record."""
    assert TWICE_PROMOTED.timeline_at(position(lsn, 1)) == timeline


def noted(timeline: int, waits_since: int | None = 1, system: str = "7") -> NotedSource:
    return NotedSource(Source(system, timeline, waits_since), 1)


@pytest.mark.parametrize("followed", [1, 2, 3])
@pytest.mark.parametrize("written", [1, 2, 3])
def test_a_database_goes_on_from_each_of_its_ancestors(followed: int, written: int) -> None:
    state = State(1, Identity("7", written))
    if followed == 3 != written:
        with pytest.raises(ContinuityBroken, match="another database has taken the number"):
            check_descent(state, noted(followed), TWICE_PROMOTED)
    else:
        assert check_descent(state, noted(followed), TWICE_PROMOTED).timeline == followed


@pytest.mark.parametrize(
    ("state", "source"),
    [
        (Identity("8", 1), noted(1)),
        (Identity("7", 1), noted(1, system="8")),
        (Identity("7", 4), noted(1)),
        (Identity("7", 1), noted(4)),
    ],
)
def test_a_database_does_not_go_on_from_another_one_or_from_a_sister(state: Identity, source: NotedSource) -> None:
    with pytest.raises(ContinuityBroken):
        check_descent(State(1, state), source, TWICE_PROMOTED)


def test_without_a_key_in_nats_the_database_must_be_the_one_of_its_epoch() -> None:
    source = check_descent(State(1, Identity("7", 2)), None, TWICE_PROMOTED)
    with pytest.raises(ContinuityBroken, match="did not wait"):
        check_nothing_answered_is_lost(source, TWICE_PROMOTED)
    source = check_descent(State(1, Identity("7", 3)), None, TWICE_PROMOTED)
    check_nothing_answered_is_lost(source, TWICE_PROMOTED)


@pytest.mark.parametrize(("waits_since", "is_lost"), [(None, True), (SECOND_END, True), (SECOND_END - 1, False)])
def test_nothing_answered_is_lost_only_if_commits_waited_for_the_standby(
    waits_since: int | None, is_lost: bool
) -> None:
    source = noted(2, waits_since).source
    if is_lost:
        with pytest.raises(ContinuityBroken, match="did not wait"):
            check_nothing_answered_is_lost(source, TWICE_PROMOTED)
    else:
        check_nothing_answered_is_lost(source, TWICE_PROMOTED)


def test_what_was_answered_by_a_primary_that_no_relay_saw_is_not_known() -> None:
    with pytest.raises(ContinuityBroken, match="more than once"):
        check_nothing_answered_is_lost(noted(1).source, TWICE_PROMOTED)


def test_an_old_primary_is_left_alone_and_nobody_else_is() -> None:
    with pytest.raises(Overtaken):
        check_not_overtaken(noted(4), Identity("7", 3))
    check_not_overtaken(noted(3), Identity("7", 3))
    check_not_overtaken(noted(2), Identity("7", 3))
    check_not_overtaken(noted(4), Identity("8", 3))
    check_not_overtaken(None, Identity("7", 3))
