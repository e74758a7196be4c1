"""Who has received which of some messages, as ranges of their numbers (pure).

Where history is protected every subscriber may know another part of a topic: what that costs must not be people times messages.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from tertulia.events.log.ranges import Bounds
from tertulia.messaging.editing.model import Moving

MAX_LISTED = 10_000
"""How many messages an event names: the newest. The log takes no event of any size."""
MAX_TOLD = 1_000_000
"""How many the events of one change name together, to people who each know another part: all of them are one write."""
TURN = 20
"""After so many parts others have their turn."""


def newest(messages: Sequence[Moving], limit: int = MAX_LISTED) -> list[int]:
    """The ids that an event names, ascending."""
    return sorted(one.id for one in messages)[-limit:]


class Parts:
    """Parts of some messages, each with those who know just that one."""

    def __init__(self, messages: Sequence[Moving]) -> None:
        ordered = sorted(messages, key=lambda one: one.seq)
        self._seqs = [one.seq for one in ordered]
        self._ids = [one.id for one in ordered]
        self._users: dict[tuple[tuple[int, int], ...], list[int]] = {}

    def add(self, users: Sequence[int], received: Sequence[Bounds]) -> None:
        """These have received what is in these ranges, which are ascending."""
        places: list[tuple[int, int]] = []
        for part in received:
            low = 0 if part.lower is None else bisect_left(self._seqs, part.lower)
            high = len(self._seqs) if part.upper is None else bisect_left(self._seqs, part.upper)
            if places and places[-1][1] == low:
                places[-1] = places[-1][0], high
            elif low < high:
                places.append((low, high))
        if places:
            self._users.setdefault(tuple(places), []).extend(users)

    def by_users(self) -> Iterator[tuple[list[int], list[int]]]:
        """Who knows what: the newest that they know, ascending, so many that all of it can be told."""
        total = sum(high - low for places in self._users for low, high in places)
        limit = MAX_LISTED if total <= MAX_TOLD else max(1, min(MAX_LISTED, MAX_TOLD // len(self._users)))
        for places, users in self._users.items():
            known = [id for low, high in places for id in self._ids[low:high]]
            known.sort()
            yield users, known[-limit:]
