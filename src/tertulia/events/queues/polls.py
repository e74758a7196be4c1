"""Long polls: what GET /events answers, and when.

A poll answers at once when events are there, else it waits for one, for its heartbeat, for another poll on the same queue,
for the end of the queue or of the credential it was made with, or for the client to go away. A heartbeat travels alone, and
a waiting poll never answers with an empty list: there are clients that take such an answer for a new beginning.
"""

import asyncio
import random
from itertools import islice

import msgspec

from tertulia.events.queues.gateway import Gateway
from tertulia.events.queues.logged_event import Presenter
from tertulia.events.queues.queue import Queue
from tertulia.events.queues.refusals import bad_queue, never_issued, revoked
from tertulia.events.queues.waiters import release
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import MAX_ANSWER_BYTES
from tertulia.kernel.call import Call, ClientGone
from tertulia.kernel.departure import Departure

MAX_EVENTS_PER_REPLY = 1000
MAX_BYTES_PER_REPLY = MAX_ANSWER_BYTES
"""About: the event that comes to it is the last. The next poll brings the rest at once."""
_HEAD = b'{"events":['
_FOOT = b"]}"


class Polls:
    """Answers polls."""

    def __init__(self, gateway: Gateway, presenters: dict[str, Presenter]) -> None:
        self._gateway = gateway
        self._presenters = presenters

    async def answer(
        self, call: Call, caller: Caller, queue: Queue, last_event_id: int, *, dont_block: bool
    ) -> msgspec.Raw:
        """The body of the reply."""
        if last_event_id > queue.issued:
            raise never_issued(last_event_id)
        queue.touch()
        queue.acknowledge(last_event_id)
        self._gateway.keep(queue)
        if not queue.pending and not dont_block:
            await self._wait(call, queue, caller.credential)
            if self._gateway.is_revoked(queue, caller.credential):
                raise revoked(caller)
            if not self._gateway.is_alive(queue):
                if queue.has_moved:
                    return self._heartbeat(queue, queue.issued)
                raise bad_queue(queue.id)
            queue.touch()
            if not queue.pending:
                return self._heartbeat(queue, self._gateway.head_of(queue))
        return self._events(queue)

    async def _wait(self, call: Call, queue: Queue, credential: int) -> None:
        queue.end_wait()
        if self._gateway.draining or not self._gateway.is_alive(queue) or self._gateway.is_revoked(queue, credential):
            return
        waiter = queue.begin_wait(credential)
        settings = self._gateway.settings
        pause = settings.heartbeat_seconds + random.uniform(0, settings.heartbeat_jitter_seconds)
        timer = asyncio.get_running_loop().call_later(pause, release, waiter)
        departure = Departure(call.gone(), lambda: release(waiter))
        try:
            await waiter
        finally:
            timer.cancel()
            queue.leave_wait(waiter)
            has_gone = departure.is_noticed
            departure.close()
        if has_gone:
            raise ClientGone

    def _heartbeat(self, queue: Queue, head: int) -> msgspec.Raw:
        queue.issue(head)
        return msgspec.Raw(_HEAD + b'{"type":"heartbeat","id":%d}' % queue.issued + _FOOT)

    def _events(self, queue: Queue) -> msgspec.Raw:
        presenters = self._presenters
        texts: list[bytes] = []
        room, last = MAX_BYTES_PER_REPLY, 0
        for logged in islice(queue.pending, MAX_EVENTS_PER_REPLY):
            texts.append(text := logged.text_for(queue, presenters.get(logged.record.type)))
            last = logged.seq
            room -= len(text)
            if room <= 0:
                break
        if texts:
            queue.issue(last)
        return msgspec.Raw(_HEAD + b",".join(texts) + _FOOT)
