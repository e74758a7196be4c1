"""Sets of numbers as ranges, against Python's own sets."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tertulia.events.log.ranges import SeqSet

numbers = st.frozensets(st.integers(0, 40), max_size=20)
LIMIT = 60


class Bounds(NamedTuple):
    lower: int | None
    upper: int | None


def as_set(ranges: SeqSet) -> set[int]:
    return {number for number in range(LIMIT) if number in ranges}


def made_of(members: frozenset[int]) -> SeqSet:
    return SeqSet([Bounds(number, number + 1) for number in sorted(members)])


@given(numbers)
def test_a_set_made_of_ranges_has_their_numbers_and_no_others(members: frozenset[int]) -> None:
    ranges = made_of(members)
    assert as_set(ranges) == members
    assert not ranges.is_open


def test_ranges_without_bounds_have_no_end() -> None:
    ranges = SeqSet([Bounds(None, 3), Bounds(7, None)])
    assert as_set(ranges) == {0, 1, 2, *range(7, LIMIT)}
    assert ranges.is_open


@given(numbers, st.lists(st.tuples(st.booleans(), st.integers(0, 45)), max_size=8))
def test_opening_and_closing_at_a_number_is_adding_and_removing_all_above(
    members: frozenset[int], changes: list[tuple[bool, int]]
) -> None:
    ranges = made_of(members)
    model = set(members)
    is_open = False
    for opens, number in changes:
        if opens:
            ranges.open_from(number)
            model |= set(range(number, LIMIT))
        else:
            ranges.close_at(number)
            model -= set(range(number, LIMIT))
        is_open = opens
        assert as_set(ranges) == model
        assert ranges.is_open == is_open
