"""An event queue: a cursor in a realm's log, and the events after it that are for this listener.

What is pending is only a memory of the log: it can be dropped and read again. At most one request waits on a queue; a
second one ends the first with a heartbeat.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping

from tertulia.events.filters import Filter
from tertulia.events.logged import Logged
from tertulia.events.options import QueueOptions
from tertulia.events.ranges import SeqSet
from tertulia.events.record import Audience
from tertulia.events.snapshot import Snapshot
from tertulia.events.wake import end
from tertulia.kernel.auth import Role

MAX_PENDING = 10_000
"""A listener further behind than this reads the rest from the log later."""


class Queue:
    """A listener of a realm."""

    __slots__ = (
        "_rewound",
        "acknowledged",
        "all_public",
        "channels",
        "filters",
        "has_moved",
        "history",
        "id",
        "idle_seconds",
        "is_dead",
        "is_guest",
        "issued",
        "joined",
        "kept_at",
        "last_used",
        "options",
        "overflowed",
        "pending",
        "role",
        "snapshot",
        "user_id",
        "waiter",
        "wake",
    )

    def __init__(self, id: str, user_id: int, *, role: int, options: QueueOptions, snapshot: Snapshot) -> None:
        self.id = id
        self.user_id = user_id
        self.role = role
        """A queue ends with the role it was registered in."""
        self.is_guest = role == Role.GUEST
        self.options = options
        # A narrow is for what happens anywhere: it brings messages of public channels one has not joined.
        self.all_public = (options.all_public_channels or bool(options.narrow)) and not self.is_guest
        self.filters: Mapping[str, Filter] = {}
        self.snapshot: Snapshot | None = snapshot
        """Which transactions the client's state holds already; None once the log is past them."""
        self.joined: Snapshot = snapshot
        """When `channels` and `history` were read."""
        self.channels: set[int] = set()
        self.history: dict[int, SeqSet] = {}
        self._rewound: set[int] = set()
        self.pending: deque[Logged] = deque()
        self.acknowledged = 0
        self.issued = 0
        self.idle_seconds = 0
        self.overflowed = False
        self.is_dead = False
        """An event that may have been for this listener was lost, or one said that their queues end."""
        self.has_moved = False
        """Another process serves the queue now."""
        self.last_used = time.monotonic()
        self.kept_at = float("-inf")
        """When this process last put off the end of the queue's record."""
        self.waiter: asyncio.Future[None] | None = None
        self.wake: Callable[[asyncio.Future[None]], None] = end

    def replay(self, logged: Logged) -> None:
        """Take an event of the log in order, deciding alone whether it is for this listener."""
        if (logged.is_broken or self.user_id in logged.record.ends) and not self.knows(logged):
            self.is_dead = True
        if self._hears(logged, logged.record.to):
            if self.is_closed_by(logged):
                self.is_dead = True
            self.offer(logged)
        for change in logged.record.changes:
            if self.user_id not in change.users:
                continue
            if not self.joined.sees(logged.xid):
                self.change_channel(change.channel, joined=change.joined, seq=change.seq)
            elif change.channel in self._rewound:
                self._change_now(change.channel, joined=change.joined)

    def knows(self, logged: Logged) -> bool:
        """Whether the client's state holds the event already."""
        return self.snapshot is not None and self.snapshot.sees(logged.xid)

    def is_closed_by(self, logged: Logged) -> bool:
        """Whether an event of the listener's audience ends the queue."""
        record = logged.record
        is_for_it = record.closes and self.options.wants(record.type) and self.options.suits(record.to)
        return is_for_it and not self.knows(logged)

    def rewind(self, logged: Logged) -> None:
        """Before an event is replayed: if the memberships hold what it changed, take that back.

        Of several such changes the first tells what was before. `history` stays: it tells of all times by itself.
        """
        for change in logged.record.changes:
            is_held = self.user_id in change.users and self.joined.sees(logged.xid)
            if is_held and change.channel not in self._rewound:
                self._rewound.add(change.channel)
                self._change_now(change.channel, joined=not change.joined)

    def change_channel(self, channel: int, *, joined: bool, seq: int) -> None:
        """The listener joined or left a channel."""
        self._change_now(channel, joined=joined)
        history = self.history.setdefault(channel, SeqSet())
        if joined:
            history.open_from(seq + 1)
        else:
            history.close_at(seq + 1)

    def _change_now(self, channel: int, *, joined: bool) -> None:
        if joined:
            self.channels.add(channel)
        else:
            self.channels.discard(channel)

    def _hears(self, logged: Logged, to: Audience) -> bool:
        if to.without is not None and self._hears(logged, to.without):
            return False
        if to.realm or (to.members and not self.is_guest) or self.user_id in to.users:
            return True
        if to.channel is None:
            return False
        if to.public and self.all_public:
            return True
        if logged.record.stamp is not None:
            # Exact wherever the queue is in the log: the numbers say what was theirs when it was sent.
            history = self.history.get(to.channel)
            return history is not None and logged.record.stamp.seq in history
        return to.channel in self.channels

    def offer(self, logged: Logged) -> None:
        """Take an event that this listener's audience hears, unless the state holds it or the client did not ask for it."""
        if not self.options.wants(logged.record.type) or not self.options.suits(logged.record.to):
            return
        chosen = self.filters.get(logged.record.type) if self.options.narrow else None
        if chosen is not None and not chosen.passes(logged, self):
            return
        if logged.seq <= self.acknowledged:
            return  # the client has it from another process, which was ahead of this one in the log
        if self.snapshot is not None:
            if self.snapshot.is_before(logged.pos):
                self.snapshot = None
            elif self.snapshot.sees(logged.xid):
                return
        if self.overflowed or len(self.pending) >= MAX_PENDING:
            self.overflowed = True  # from here on everything is read from the log, or there would be a hole
            return
        self.pending.append(logged)
        if self.waiter is not None and len(self.pending) == 1:  # whoever waits has nothing pending: the first one wakes
            self.wake(self.waiter)

    def acknowledge(self, last_event_id: int) -> None:
        """Forget what the client has."""
        self.acknowledged = max(self.acknowledged, last_event_id)
        while self.pending and self.pending[0].seq <= self.acknowledged:
            self.pending.popleft()

    def is_idle(self, now: float) -> bool:
        """Whether the client has not asked for longer than the queue lives."""
        return self.waiter is None and now - self.last_used > self.idle_seconds

    def end_wait(self) -> None:
        """End the waiting request, if there is one."""
        if self.waiter is not None:
            end(self.waiter)
