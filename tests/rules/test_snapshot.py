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
    assert snapshot.is_before(f"{committed:016X}-{index:06d}") is (committed >= taken)
