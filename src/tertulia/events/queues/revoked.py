"""Credentials that the log has lately said are revoked.

A request is authenticated by the database, and may then wait: whether its credential was revoked meanwhile, the log knows
before it brings any event that was committed later. The memory is bounded: it has to reach back only from the moment a
request begins to wait to the moment it was authenticated.
"""

from collections.abc import Iterable

MAX_REMEMBERED = 10_000


class Revoked:
    """The last ones, by their numbers."""

    def __init__(self) -> None:
        self._numbers: dict[int, None] = {}

    def add(self, credentials: Iterable[int]) -> None:
        """These are good for nothing from now on. They never come back: numbers are given once."""
        for number in credentials:
            self._numbers[number] = None
        while len(self._numbers) > MAX_REMEMBERED:
            del self._numbers[next(iter(self._numbers))]

    def __contains__(self, credential: int) -> bool:
        return credential in self._numbers
