"""The transactions on their way: which are stored completely, and how much PostgreSQL may forget. Pure.

Transactions enter in commit order. One is *stored* when its `C` was seen and every event of it was acknowledged; only
an unbroken prefix of stored transactions counts (`stored_end`). A stored transaction then rests for some seconds before
it may be confirmed, because NATS writes to disk with a delay: what a power cut takes from NATS must still be in the slot.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

BUCKET_SECONDS = 0.25  # resting transactions are remembered in batches: a busy second costs four entries, not thousands


@dataclass(slots=True)
class TransactionInFlight:
    """From its `B` to the last acknowledgement."""

    committed_at: float
    unacked: int = 0
    end_lsn: int = 0  # 0: the commit message was not seen yet


@dataclass(slots=True)
class _Resting:
    since: float
    until: float
    end_lsn: int


class InFlightTransactions:
    def __init__(self, observe: Callable[[float], None] = lambda _: None) -> None:
        """`observe` hears of each transaction with events how long after its commit it was stored."""
        self._observe = observe
        self.stored_end = 0
        self._unstored: deque[TransactionInFlight] = deque()
        self._resting: deque[_Resting] = deque()

    def begin(self, committed_at: float) -> TransactionInFlight:
        transaction = TransactionInFlight(committed_at)
        self._unstored.append(transaction)
        return transaction

    def commit(self, transaction: TransactionInFlight, end_lsn: int, now: float) -> None:
        transaction.end_lsn = end_lsn
        self._settle(now)

    def acknowledged(self, transaction: TransactionInFlight, now: float) -> None:
        transaction.unacked -= 1
        if not transaction.unacked:
            self._observe(time.time() - transaction.committed_at)
            self._settle(now)

    @property
    def is_settled(self) -> bool:
        """Everything that arrived is stored."""
        return not self._unstored

    @property
    def is_idle(self) -> bool:
        """Everything that arrived is stored and has rested."""
        return not self._unstored and not self._resting

    @property
    def oldest_commit(self) -> float | None:
        """When the oldest transaction that is not stored was committed."""
        return self._unstored[0].committed_at if self._unstored else None

    def rested(self, now: float, rest: float) -> int:
        """The end of what was stored more than `rest` seconds ago; 0 if that is nothing new."""
        end = 0
        while self._resting and now - self._resting[0].until > rest:
            end = self._resting.popleft().end_lsn
        return end

    def _settle(self, now: float) -> None:
        while self._unstored and self._unstored[0].end_lsn and not self._unstored[0].unacked:
            self.stored_end = self._unstored.popleft().end_lsn
            if self._resting and now - self._resting[-1].since < BUCKET_SECONDS:
                self._resting[-1].until, self._resting[-1].end_lsn = now, self.stored_end
            else:
                self._resting.append(_Resting(now, now, self.stored_end))
