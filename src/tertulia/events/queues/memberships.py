"""Which channels a listener belongs to at its place in the log.

They are read from the database once, as of a snapshot, and changed by the log from then on: by what the snapshot does not
hold. Until the log has passed the snapshot there is a second answer, exact for events with a number: the numbers of each
channel that were the listener's, at all times. When it has passed (`settle`), the first answer is enough.

A queue that is taken over begins before the snapshot, so what was read is newer than the events that come: it is rewound
through them first, then they are replayed.
"""

from tertulia.events.log.ranges import SeqSet
from tertulia.events.log.record import Change
from tertulia.events.log.snapshot import Snapshot
from tertulia.events.queues.logged_event import LoggedEvent


class Memberships:
    """Of one listener."""

    __slots__ = ("_numbers", "_read_at", "_rewound", "channels")

    def __init__(self, read_at: Snapshot, numbers: dict[int, SeqSet]) -> None:
        self._read_at = read_at
        self._numbers = numbers
        self._rewound: set[int] = set()
        self.channels = {channel for channel, theirs in numbers.items() if theirs.is_open}
        """What the listener belongs to here and now: an open end."""

    def are_passed_by(self, pos: str, timeline: int) -> bool:
        """Whether everything from this position of the log on was committed after they were read."""
        return self._read_at.is_before(pos, timeline)

    def settle(self) -> None:
        """The log has passed the moment they were read."""
        self._numbers = {}

    def include(self, channel: int, number: int | None) -> bool:
        """Whether an event of a channel is the listener's."""
        if number is None:
            return channel in self.channels
        # Exact wherever the queue is in the log: the numbers say what was theirs when it was sent.
        theirs = self._numbers.get(channel)
        return theirs is not None and number in theirs

    def set(self, channel: int, *, joined: bool) -> None:
        """The listener joins or leaves at this place in the log."""
        if joined:
            self.channels.add(channel)
        else:
            self.channels.discard(channel)

    def replay(self, change: Change, logged: LoggedEvent) -> None:
        """Take a change of the log, in its order."""
        if not self._hold(logged):
            self.set(change.channel, joined=change.joined)
            theirs = self._numbers.setdefault(change.channel, SeqSet())
            if change.joined:
                theirs.open_from(change.seq + 1)
            else:
                theirs.close_at(change.seq + 1)
        elif change.channel in self._rewound:
            self.set(change.channel, joined=change.joined)

    def rewind(self, change: Change, logged: LoggedEvent) -> None:
        """Before a change is replayed: if what was read holds it, take it back.

        Of several such changes the first tells what was before. The numbers stay: they tell of all times by themselves.
        """
        if self._hold(logged) and change.channel not in self._rewound:
            self._rewound.add(change.channel)
            self.set(change.channel, joined=not change.joined)

    def _hold(self, logged: LoggedEvent) -> bool:
        """Whether what the event tells was read with them."""
        return self._read_at.covers(logged.xid, logged.pos, logged.timeline)
