"""What may be confirmed to PostgreSQL: only an unbroken prefix of stored transactions that have rested."""

from hypothesis import given
from hypothesis import strategies as st

from tertulia.events.ledger import BUCKET_SECONDS, Due, Ledger


def test_a_transaction_counts_when_its_commit_was_seen_and_all_its_events_are_acknowledged() -> None:
    ledger = Ledger()
    due = ledger.begin(1.0)
    due.unacked = 2
    ledger.acknowledged(due, 10.0)
    ledger.commit(due, 100, 10.0)
    assert (ledger.stored_end, ledger.is_settled, ledger.oldest_commit) == (0, False, 1.0)
    ledger.acknowledged(due, 11.0)
    assert (ledger.stored_end, ledger.is_settled, ledger.oldest_commit) == (100, True, None)


def test_a_later_transaction_waits_for_an_earlier_one() -> None:
    ledger = Ledger()
    first, second = ledger.begin(1.0), ledger.begin(2.0)
    first.unacked = second.unacked = 1
    ledger.commit(first, 100, 10.0)
    ledger.commit(second, 200, 10.0)
    ledger.acknowledged(second, 10.0)
    assert ledger.stored_end == 0
    ledger.acknowledged(first, 11.0)
    assert ledger.stored_end == 200


def test_a_transaction_without_events_of_ours_counts_at_its_commit() -> None:
    ledger = Ledger()
    ledger.commit(ledger.begin(1.0), 100, 10.0)
    assert ledger.stored_end == 100


def test_rest_is_counted_from_the_acknowledgement_and_idle_comes_after_it() -> None:
    ledger = Ledger()
    ledger.commit(ledger.begin(1.0), 100, 10.0)
    assert (ledger.rested(34.9, 25.0), ledger.is_idle) == (0, False)
    assert (ledger.rested(35.1, 25.0), ledger.is_idle) == (100, True)
    assert ledger.rested(99.0, 25.0) == 0


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0.01, 2.0)), min_size=1, max_size=60),
    st.floats(0.5, 30.0),
)
def test_nothing_that_rested_too_short_is_ever_released(transactions: list[tuple[int, float]], rest: float) -> None:
    ledger = Ledger()
    now = 0.0
    stored_at: dict[int, float] = {}
    waiting: list[tuple[Due, int]] = []
    for number, (events, pause) in enumerate(transactions, start=1):
        now += pause
        due = ledger.begin(now)
        due.unacked = events
        waiting.append((due, number))
        ledger.commit(due, number, now)
        if events % 2:  # some are acknowledged at once, the others only when a later one is
            for late, _ in waiting:
                while late.unacked:
                    ledger.acknowledged(late, now)
        for stored in range(1, ledger.stored_end + 1):
            stored_at.setdefault(stored, now)
        released = ledger.rested(now, rest)
        if released:
            assert now - stored_at[released] > rest
    assert ledger.stored_end <= len(transactions)


def test_a_busy_second_is_remembered_in_a_few_groups() -> None:
    ledger = Ledger()
    for number in range(1, 10_001):
        ledger.commit(ledger.begin(0.0), number, number / 10_000)
    groups = 0
    released = 0
    while released < 10_000:
        released = ledger.rested(1.0 + groups * BUCKET_SECONDS / 2, 0.0) or released
        groups += 1
        assert groups < 20
