"""What may be confirmed to PostgreSQL: only an unbroken prefix of stored transactions that have rested."""

from hypothesis import given
from hypothesis import strategies as st

from tertulia.events.relay.in_flight import BUCKET_SECONDS, InFlightTransactions, TransactionInFlight


def test_a_transaction_counts_when_its_commit_was_seen_and_all_its_events_are_acknowledged() -> None:
    in_flight = InFlightTransactions()
    due = in_flight.begin(1.0)
    due.unacked = 2
    in_flight.acknowledged(due, 10.0)
    in_flight.commit(due, 100, 10.0)
    assert (in_flight.stored_end, in_flight.is_settled, in_flight.oldest_commit) == (0, False, 1.0)
    in_flight.acknowledged(due, 11.0)
    assert (in_flight.stored_end, in_flight.is_settled, in_flight.oldest_commit) == (100, True, None)


def test_a_later_transaction_waits_for_an_earlier_one() -> None:
    in_flight = InFlightTransactions()
    first, second = in_flight.begin(1.0), in_flight.begin(2.0)
    first.unacked = second.unacked = 1
    in_flight.commit(first, 100, 10.0)
    in_flight.commit(second, 200, 10.0)
    in_flight.acknowledged(second, 10.0)
    assert in_flight.stored_end == 0
    in_flight.acknowledged(first, 11.0)
    assert in_flight.stored_end == 200


def test_a_transaction_without_events_of_ours_counts_at_its_commit() -> None:
    in_flight = InFlightTransactions()
    in_flight.commit(in_flight.begin(1.0), 100, 10.0)
    assert in_flight.stored_end == 100


def test_rest_is_counted_from_the_acknowledgement_and_idle_comes_after_it() -> None:
    in_flight = InFlightTransactions()
    in_flight.commit(in_flight.begin(1.0), 100, 10.0)
    assert (in_flight.rested(34.9, 25.0), in_flight.is_idle) == (0, False)
    assert (in_flight.rested(35.1, 25.0), in_flight.is_idle) == (100, True)
    assert in_flight.rested(99.0, 25.0) == 0


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0.01, 2.0)), min_size=1, max_size=60),
    st.floats(0.5, 30.0),
)
def test_nothing_that_rested_too_short_is_ever_released(transactions: list[tuple[int, float]], rest: float) -> None:
    in_flight = InFlightTransactions()
    now = 0.0
    stored_at: dict[int, float] = {}
    waiting: list[tuple[TransactionInFlight, int]] = []
    for number, (events, pause) in enumerate(transactions, start=1):
        now += pause
        due = in_flight.begin(now)
        due.unacked = events
        waiting.append((due, number))
        in_flight.commit(due, number, now)
        if events % 2:  # some are acknowledged at once, the others only when a later one is
            for late, _ in waiting:
                while late.unacked:
                    in_flight.acknowledged(late, now)
        for stored in range(1, in_flight.stored_end + 1):
            stored_at.setdefault(stored, now)
        released = in_flight.rested(now, rest)
        if released:
            assert now - stored_at[released] > rest
    assert in_flight.stored_end <= len(transactions)


def test_a_busy_second_is_remembered_in_a_few_groups() -> None:
    in_flight = InFlightTransactions()
    for number in range(1, 10_001):
        in_flight.commit(in_flight.begin(0.0), number, number / 10_000)
    groups = 0
    released = 0
    while released < 10_000:
        released = in_flight.rested(1.0 + groups * BUCKET_SECONDS / 2, 0.0) or released
        groups += 1
        assert groups < 20
