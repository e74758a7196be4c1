"""The recent events of a realm's log in this process: without holes, bounded by their number and their size."""

from collections import deque
from collections.abc import Iterator, Sequence

from tertulia.events.log.snapshot import Snapshot
from tertulia.events.queues.logged_event import LoggedEvent

TAIL_EVENTS = 2000
TAIL_BYTES = 8 * 1024 * 1024


class Tail:
    """Every event after `start`, oldest first."""

    def __init__(self, start: int = 0) -> None:
        self.start = start
        self._events: deque[LoggedEvent] = deque()
        self._told: deque[LoggedEvent] = deque()
        """Those of them that tell somebody something: a herd leaves hundreds of others in the log, and each queue that comes back
        would go through them."""
        self._bytes = 0

    @property
    def oldest(self) -> int:
        """The number of the oldest event here; of the last that was here, if there is no room for any."""
        return self._events[0].seq if self._events else self.start

    @property
    def timeline(self) -> int:
        """Of PostgreSQL's log, at the newest event; 0 if that is not known."""
        return self._events[-1].timeline if self._events else 0

    def append(self, logged: LoggedEvent) -> None:
        """Take the next event; the oldest ones make room."""
        self._events.append(logged)
        if not logged.is_silent:
            self._told.append(logged)
        self._bytes += logged.size
        while len(self._events) > TAIL_EVENTS or self._bytes > TAIL_BYTES:
            oldest = self._events.popleft()
            self._bytes -= oldest.size
            if not oldest.is_silent:
                self._told.popleft()
            self.start = oldest.seq

    def has_room_for(self, number: int, size: int) -> bool:
        """Whether so many older events, of so many bytes, can come before those that are here."""
        return len(self._events) + number <= TAIL_EVENTS and self._bytes + size <= TAIL_BYTES

    def put_before(self, older: Sequence[LoggedEvent], start: int) -> None:
        """Take the events between a position and those that are here; the oldest of these may be among them."""
        oldest = self._events[0].seq if self._events else float("inf")
        for logged in reversed(older):
            if logged.seq < oldest:
                self._events.appendleft(logged)
                if not logged.is_silent:
                    self._told.appendleft(logged)
                self._bytes += logged.size
        self.start = start

    def after(self, position: int) -> list[LoggedEvent] | None:
        """The events after a position that tell something; None if that is further back than the tail reaches."""
        if position < self.start:
            return None
        return list(self._newer(position))

    def find(self, seq: int) -> LoggedEvent | None:
        """The event with this number, if it is here."""
        return next((logged for logged in reversed(self._events) if logged.seq == seq), None)

    def has_transaction(self, xid: int) -> bool:
        """Whether an event of this transaction is here."""
        for logged in reversed(self._events):
            if logged.xid == xid:
                return True
            if logged.xmax < xid:
                break
        return False

    def find_seen(self, snapshot: Snapshot, head: int) -> int | None:
        """The last number up to `head` up to which the snapshot certainly sees everything, if it is here."""
        for logged in reversed(self._events):
            if logged.seq <= head and logged.xmax < snapshot.xmin:
                return logged.seq
        return None

    def _newer(self, position: int) -> Iterator[LoggedEvent]:
        newest_first = []
        for logged in reversed(self._told):
            if logged.seq <= position:
                break
            newest_first.append(logged)
        return reversed(newest_first)
