"""Sets of numbers as sorted ranges (pure): what a multirange is once it has left the database."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Protocol


class Bounds(Protocol):
    """A range as asyncpg gives it: int8 ranges are always `[lower, upper)`."""

    @property
    def lower(self) -> int | None: ...

    @property
    def upper(self) -> int | None: ...


class SeqSet:
    """A set of numbers that answers `number in set` in logarithmic time."""

    __slots__ = ("_lowers", "_uppers")

    def __init__(self, ranges: Sequence[Bounds] = ()) -> None:
        self._lowers = [-1 if part.lower is None else part.lower for part in ranges]
        self._uppers = [float("inf") if part.upper is None else part.upper for part in ranges]

    def copy(self) -> "SeqSet":
        """Another one with the same numbers."""
        other = SeqSet()
        other._lowers, other._uppers = self._lowers.copy(), self._uppers.copy()
        return other

    def __contains__(self, number: int) -> bool:
        index = bisect_right(self._lowers, number) - 1
        return index >= 0 and number < self._uppers[index]

    @property
    def is_open(self) -> bool:
        """Whether the set has no upper end."""
        return bool(self._uppers) and self._uppers[-1] == float("inf")

    def open_from(self, number: int) -> None:
        """Add `number` and everything above it."""
        self.close_at(number)
        self._lowers.append(number)
        self._uppers.append(float("inf"))

    def close_at(self, number: int) -> None:
        """Remove `number` and everything above it."""
        while self._lowers and self._lowers[-1] >= number:
            self._lowers.pop()
            self._uppers.pop()
        if self._uppers and self._uppers[-1] > number:
            self._uppers[-1] = number
