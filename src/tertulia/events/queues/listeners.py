"""Who of a realm's listeners in this process hears which event: an index by user and by channel.

A queue *settles* when the log has passed the moment its memberships were read. Until then each event is decided for it
alone and exactly (`Queue.replay`), and it is not in the index; after that by the index, which the same log keeps current.
"""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from tertulia.events.log.record import Audience, Change
from tertulia.events.queues.queue import Queue


class Listeners:
    """The queues of one realm."""

    def __init__(self) -> None:
        self.queues: dict[str, Queue] = {}
        self.settling: set[Queue] = set()
        self._by_user: defaultdict[int, set[Queue]] = defaultdict(set)
        self._by_channel: defaultdict[int, set[Queue]] = defaultdict(set)
        self._hearing_all_public: set[Queue] = set()

    def add(self, queue: Queue) -> None:
        """A new listener."""
        self.queues[queue.id] = queue
        self.settling.add(queue)

    def settle(self, queue: Queue) -> None:
        """From here on the index answers for it."""
        self.settling.discard(queue)
        queue.memberships.settle()
        self._by_user[queue.user_id].add(queue)
        for channel in queue.memberships.channels:
            self._by_channel[channel].add(queue)
        if queue.all_public:
            self._hearing_all_public.add(queue)

    def remove(self, queue: Queue) -> None:
        """Forget a listener."""
        self.queues.pop(queue.id, None)
        self.settling.discard(queue)
        self._hearing_all_public.discard(queue)
        self._by_user[queue.user_id].discard(queue)
        if not self._by_user[queue.user_id]:
            del self._by_user[queue.user_id]
        for channel in queue.memberships.channels:
            self._by_channel[channel].discard(queue)
            if not self._by_channel[channel]:
                del self._by_channel[channel]

    def audience(self, to: Audience) -> set[Queue]:
        """The settled ones who hear an event."""
        if to.without is not None:
            return self.audience(msgspec.structs.replace(to, without=None)) - self.audience(to.without)
        if to.realm:
            return {queue for queue in self.queues.values() if queue not in self.settling}
        found: set[Queue] = set()
        if to.members:
            found |= {queue for queue in self.queues.values() if not queue.is_guest and queue not in self.settling}
        for user_id in to.users:
            found |= self._by_user.get(user_id, set())
        if to.channel is not None:
            found |= self._by_channel.get(to.channel, set())
            if to.public:
                found |= self._hearing_all_public
        return found

    def change(self, changes: Sequence[Change]) -> None:
        """The log says that users join or leave channels. Those who are settling see to it themselves."""
        for change in changes:
            for user_id in change.users:
                for queue in self._by_user.get(user_id, ()):
                    self._change_one(queue, change)

    def _change_one(self, queue: Queue, change: Change) -> None:
        queue.memberships.set(change.channel, joined=change.joined)
        if change.joined:
            self._by_channel[change.channel].add(queue)
        else:
            self._by_channel[change.channel].discard(queue)
