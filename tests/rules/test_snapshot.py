"""Which transactions a snapshot holds, against a model of how PostgreSQL makes one."""

from hypothesis import given
from hypothesis import strategies as st

from tertulia.events.log.snapshot import Snapshot, parse_snapshot

# The transactions of a small database, in the order they began: whether each has ended when the snapshot is taken.
transactions = st.lists(st.booleans(), max_size=12)
FIRST = 700


def snapshot_of(ended: list[bool]) -> Snapshot:
    """As PostgreSQL says it: the oldest still under way, the next to begin, and those under way between them."""
    under_way = [FIRST + number for number, has_ended in enumerate(ended) if not has_ended]
    xmax = FIRST + len(ended)
    text = f"{min(under_way, default=xmax)}:{xmax}:{','.join(map(str, under_way))}"
    return parse_snapshot(text, "2/A0000000")


@given(transactions)
def test_a_snapshot_sees_exactly_the_transactions_that_had_ended(ended: list[bool]) -> None:
    snapshot = snapshot_of(ended)
    for number, has_ended in enumerate(ended):
        assert snapshot.sees(FIRST + number) is has_ended


@given(transactions, st.integers(0, 5))
def test_a_snapshot_sees_all_older_transactions_and_none_that_began_later(ended: list[bool], distance: int) -> None:
    snapshot = snapshot_of(ended)
    assert snapshot.sees(FIRST - 1 - distance)
    assert not snapshot.sees(FIRST + len(ended) + distance)


@given(transactions)
def test_no_snapshot_holds_a_transient_event(ended: list[bool]) -> None:
    assert not snapshot_of(ended).sees(None)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 999_999))
def test_positions_compare_as_their_places_in_the_log_do(taken: int, committed: int, index: int) -> None:
    snapshot = parse_snapshot("5:5:", f"{taken >> 32:X}/{taken & 0xFFFFFFFF:X}")
    assert snapshot.is_before(f"{committed:016X}-{index:06d}", 0) is (committed >= taken)


AFTER, EARLIER = "00000002B0000000-000001", "0000000290000000-000001"


def test_a_number_that_was_given_out_again_after_a_crash_is_not_held() -> None:
    snapshot = parse_snapshot("710:710:", "2/A0000000", 1)
    assert snapshot.covers(705, EARLIER, 1)
    assert not snapshot.covers(705, AFTER, 1)


def test_nothing_of_a_newer_timeline_is_held_whatever_its_position_and_number() -> None:
    """The primary had flushed up to 2/A, the standby had got less: it gives out positions and numbers again."""
    snapshot = parse_snapshot("710:710:", "2/A0000000", 1)
    assert not snapshot.covers(705, EARLIER, 2)
    assert snapshot.is_before(EARLIER, 2)


def test_what_was_written_before_timelines_were_told_is_judged_by_its_position() -> None:
    older = parse_snapshot("710:710:", "2/A0000000")
    assert older.covers(705, EARLIER, 2)
    assert parse_snapshot("710:710:", "2/A0000000", 2).covers(705, EARLIER, 0)
