"""What the relay owes: which transactions are stored completely, and how much PostgreSQL may forget. Pure.

Transactions enter in commit order. One is *stored* when its `C` was seen and every event of it was acknowledged; only
an unbroken prefix of stored transactions counts (`stored_end`). A stored transaction then rests for some seconds before
it may be confirmed, because NATS writes to disk with a delay: what a power cut takes from NATS must still be in the slot.
"""

from collections import deque
from dataclasses import dataclass

BUCKET_SECONDS = 0.25  # resting transactions are remembered in groups: a busy second costs four entries, not thousands


@dataclass(slots=True)
class Due:
    """A transaction on its way."""

    committed_at: float
    unacked: int = 0
    end_lsn: int = 0  # 0: the commit message was not seen yet


@dataclass(slots=True)
class _Resting:
    since: float
    until: float
    end_lsn: int


class Ledger:
    def __init__(self) -> None:
        self.stored_end = 0
        self._due: deque[Due] = deque()
        self._resting: deque[_Resting] = deque()

    def begin(self, committed_at: float) -> Due:
        due = Due(committed_at)
        self._due.append(due)
        return due

    def commit(self, due: Due, end_lsn: int, now: float) -> None:
        due.end_lsn = end_lsn
        self._settle(now)

    def acknowledged(self, due: Due, now: float) -> None:
        due.unacked -= 1
        if not due.unacked:
            self._settle(now)

    @property
    def is_settled(self) -> bool:
        """Everything that arrived is stored."""
        return not self._due

    @property
    def is_idle(self) -> bool:
        """Everything that arrived is stored and has rested."""
        return not self._due and not self._resting

    @property
    def oldest_commit(self) -> float | None:
        """When the oldest transaction that is not stored was committed."""
        return self._due[0].committed_at if self._due else None

    def rested(self, now: float, rest: float) -> int:
        """The end of what was stored more than `rest` seconds ago; 0 if that is nothing new."""
        end = 0
        while self._resting and now - self._resting[0].until > rest:
            end = self._resting.popleft().end_lsn
        return end

    def _settle(self, now: float) -> None:
        while self._due and self._due[0].end_lsn and not self._due[0].unacked:
            self.stored_end = self._due.popleft().end_lsn
            if self._resting and now - self._resting[-1].since < BUCKET_SECONDS:
                self._resting[-1].until, self._resting[-1].end_lsn = now, self.stored_end
            else:
                self._resting.append(_Resting(now, now, self.stored_end))
