"""An event queue: a cursor in a realm's log, and the events after it that are for this listener.

What is pending is only a memory of the log: it can be dropped and read again. At most one request waits on a queue; a
second one ends the first with a heartbeat. What a queue is made of, it gets when it is made; what changes, its methods change.
"""

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping

from tertulia.events.log.record import Audience
from tertulia.events.log.snapshot import Snapshot
from tertulia.events.queues.filters import Filter, with_read_narrow
from tertulia.events.queues.logged_event import LoggedEvent
from tertulia.events.queues.memberships import Memberships
from tertulia.events.queues.queue_record import QueueRecord
from tertulia.events.queues.waiters import Waiter, Waker
from tertulia.kernel.auth import Role

MAX_PENDING = 10_000
MAX_PENDING_BYTES = 16 * 2**20
"""A listener further behind than this reads the rest from the log later."""
MAX_LEFT_BYTES = 256 * 1024
"""Of what a client leaves where it is for a while. Somebody may have hundreds of queues that nobody polls, each made when the one
before was full: all that was said meanwhile would stay in memory."""


class Queue:
    """A listener of a realm."""

    __slots__ = (
        "_acknowledged",
        "_bytes",
        "_credential",
        "_filters",
        "_last_used",
        "_left",
        "_snapshot",
        "_waiter",
        "_waker",
        "all_public",
        "has_moved",
        "id",
        "is_dead",
        "is_guest",
        "is_of_another_version",
        "issued",
        "memberships",
        "options",
        "overflowed",
        "pending",
        "person_id",
        "record",
        "role",
        "user_id",
    )

    def __init__(
        self,
        record: QueueRecord,
        memberships: Memberships,
        after: int,
        *,
        filters: Mapping[str, Filter],
        knows: str = "",
        waker: Waker | None = None,
    ) -> None:
        self.record = record
        self.id = record.id
        self.user_id = record.user_id
        self.person_id = record.owner_id or record.user_id
        """Whom it counts for: the owner of the account, if it has one."""
        self.role = record.role
        """A queue ends with the role it was registered in."""
        self.is_guest = record.role == Role.GUEST
        self.is_of_another_version = record.knows not in ("", knows)
        """Whether its client may have a state that events of unknown kinds change."""
        # Processes of older versions write records with narrows as clients send them.
        self.options = with_read_narrow(record.options, filters.values()) if record.options.narrow else record.options
        # A narrow is for what happens anywhere: it brings what is public in channels one has not joined.
        wide = record.options.all_public_channels or bool(record.options.narrow)
        self.all_public = wide and not self.is_guest
        self.memberships = memberships
        self._filters = filters
        self._snapshot: Snapshot | None = record.snapshot
        """Which transactions the client's state holds already; None once the log is past them."""
        self.pending: deque[LoggedEvent] = deque()
        self._bytes = 0
        self._left = 0
        """The first pending number when somebody last looked."""
        self._acknowledged = after
        self.issued = after
        """The last number that a client was given."""
        self.overflowed = False
        self.is_dead = False
        """An event that may have been for this listener was lost, or one said that their queues end."""
        self.has_moved = False
        """Another process serves the queue now."""
        self._last_used = time.monotonic()
        self._waiter: Waiter | None = None
        self._credential = 0
        """What the request that waits was made with."""
        self._waker = waker or Waker()

    # The log

    def replay(self, logged: LoggedEvent) -> None:
        """Take an event of the log in order; it alone decides whether it is for this listener."""
        if (logged.is_broken or self.user_id in logged.record.ends) and not self.knows(logged):
            self.is_dead = True
        if self._hears(logged, logged.record.to):
            if self.is_closed_by(logged):
                self.is_dead = True
            self.offer(logged)
        for change in logged.record.changes:
            if self.user_id in change.users:
                self.memberships.replay(change, logged)

    def rewind(self, logged: LoggedEvent) -> None:
        """Before an event is replayed: if the memberships hold what it changed, take that back."""
        for change in logged.record.changes:
            if self.user_id in change.users:
                self.memberships.rewind(change, logged)

    def knows(self, logged: LoggedEvent) -> bool:
        """Whether the client's state holds the event already."""
        return self._snapshot is not None and self._snapshot.covers(logged.xid, logged.pos, logged.timeline)

    def is_closed_by(self, logged: LoggedEvent) -> bool:
        """Whether an event of the listener's audience ends the queue."""
        record = logged.record
        closes = record.closes or (logged.is_unknown and self.is_of_another_version)
        is_for_it = closes and self.options.wants(record.type) and self.options.suits(record.to)
        return is_for_it and not self.knows(logged)

    def offer(self, logged: LoggedEvent) -> None:
        """Take an event that this listener's audience hears, unless the state holds it or the client did not ask for it."""
        if logged.is_unknown or not self.options.wants(logged.record.type) or not self.options.suits(logged.record.to):
            return
        chosen = self._filters.get(logged.record.type) if self.options.narrow else None
        if chosen is not None and not chosen.passes(logged, self):
            return
        if logged.seq <= self._acknowledged:
            return  # the client has it from another process, which was ahead of this one in the log
        if self._snapshot is not None:
            if self._snapshot.is_before(logged.pos, logged.timeline):
                self._snapshot = None
            elif self._snapshot.sees(logged.xid):
                return
        if self.overflowed or len(self.pending) >= MAX_PENDING or self._bytes >= MAX_PENDING_BYTES:
            self.overflowed = True  # from here on everything is read from the log, or there would be a hole
            return
        self.pending.append(logged)
        self._bytes += logged.size
        if self._waiter is not None and len(self.pending) == 1:  # who waits has nothing pending: the first one wakes
            self._waiter.wake()

    def _hears(self, logged: LoggedEvent, to: Audience) -> bool:
        if to.without is not None and self._hears(logged, to.without):
            return False
        if to.realm or (to.members and not self.is_guest) or self.user_id in to.users:
            return True
        if to.channel is None:
            return False
        if to.public and self.all_public:
            return True
        return self.memberships.include(to.channel, logged.number)

    # The client

    def needs_reading(self, last_event_id: int) -> bool:
        """Whether what is kept here is not enough: another process has served the queue, or it was too far behind."""
        if last_event_id > self.issued:
            return True
        return self.overflowed and (not self.pending or last_event_id >= self.pending[-1].seq)

    def acknowledge(self, last_event_id: int) -> None:
        """Forget what the client has."""
        self._acknowledged = max(self._acknowledged, last_event_id)
        while self.pending and self.pending[0].seq <= self._acknowledged:
            self._bytes -= self.pending.popleft().size

    def drop_what_was_left(self) -> None:
        """Called now and then: what was pending the last time, too, is forgotten if it is much. The log has it."""
        first = self.pending[0].seq if self.pending else 0
        if first and first == self._left and self._bytes > MAX_LEFT_BYTES and self._waiter is None:
            self.pending.clear()
            self._bytes = 0
            self.overflowed = True
        self._left = first

    def issue(self, event_id: int) -> None:
        """The client is given everything up to this number."""
        self.issued = max(self.issued, event_id)

    def touch(self) -> None:
        """The client is there."""
        self._last_used = time.monotonic()

    def is_idle(self, now: float) -> bool:
        """Whether the client has not asked for longer than the queue lives."""
        return self._waiter is None and now - self._last_used > self.record.idle_seconds

    @property
    def last_used(self) -> float:
        """When the client asked last; while a request waits, that is now."""
        return self._last_used if self._waiter is None else time.monotonic()

    @property
    def is_waited_for(self) -> bool:
        """Whether a request waits."""
        return self._waiter is not None

    def begin_wait(self, go_on: Callable[[], None], credential: int = 0) -> Waiter:
        """A request waits, which was made with this credential. Whoever waited before goes on."""
        self.end_wait()
        self._credential = credential
        self._waiter = Waiter(self._waker, go_on)
        return self._waiter

    def leave_wait(self, waiter: Waiter) -> None:
        """A request waits no more; another may have taken its place."""
        waiter.leave()
        if self._waiter is waiter:
            self._waiter = None

    def end_wait(self) -> None:
        """End the waiting request, if there is one."""
        if self._waiter is not None:
            self._waiter.wake()

    def end_wait_with(self, credentials: Collection[int]) -> None:
        """End the waiting request, if it was made with one of these."""
        if self._credential in credentials:
            self.end_wait()

    def close(self, *, moved: bool) -> None:
        """The queue lives here no more: it moved to another process, or has ended."""
        self.has_moved = moved
        self.end_wait()
