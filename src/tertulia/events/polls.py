"""Long polls: what GET /events answers, and when.

A poll answers at once when events are there, else it waits for one, for its heartbeat, for another poll on the same queue,
for the end of the queue, or for the client to go away. A heartbeat travels alone, and a waiting poll never answers with
an empty list: there are clients that take such an answer for a new beginning.
"""

import asyncio
import random
import time

import msgspec

from tertulia.events.gateway import Gateway, bad_queue, never_issued
from tertulia.events.logged import Presenter
from tertulia.events.queue import Queue
from tertulia.events.wake import end
from tertulia.kernel.call import Call, ClientGone
from tertulia.kernel.departure import Departure

MAX_EVENTS_PER_REPLY = 1000
_HEAD = b'{"events":['
_FOOT = b"]}"


class Polls:
    """Answers polls."""

    def __init__(self, gateway: Gateway, presenters: dict[str, Presenter]) -> None:
        self._gateway = gateway
        self._presenters = presenters

    async def answer(self, call: Call, queue: Queue, last_event_id: int, *, dont_block: bool) -> msgspec.Raw:
        """The body of the reply."""
        if last_event_id > queue.issued:
            raise never_issued(last_event_id)
        queue.last_used = time.monotonic()
        queue.acknowledge(last_event_id)
        self._gateway.keep(queue)
        if not queue.pending and not dont_block:
            await self._wait(call, queue)
            if not self._gateway.is_alive(queue):
                if queue.has_moved:
                    return self._heartbeat(queue, queue.issued)
                raise bad_queue(queue.id)
            queue.last_used = time.monotonic()
            if not queue.pending:
                return self._heartbeat(queue, self._gateway.head_of(queue))
        return self._events(queue)

    async def _wait(self, call: Call, queue: Queue) -> None:
        queue.end_wait()
        if self._gateway.draining or not self._gateway.is_alive(queue):
            return
        loop = asyncio.get_running_loop()
        waiter = queue.waiter = loop.create_future()
        settings = self._gateway.settings
        pause = settings.heartbeat_seconds + random.uniform(0, settings.heartbeat_jitter_seconds)
        timer = loop.call_later(pause, end, waiter)
        departure = Departure(call.gone(), lambda: end(waiter))
        try:
            await waiter
        finally:
            timer.cancel()
            if queue.waiter is waiter:
                queue.waiter = None
            has_gone = departure.is_noticed
            departure.close()
        if has_gone:
            raise ClientGone

    def _heartbeat(self, queue: Queue, head: int) -> msgspec.Raw:
        queue.issued = max(queue.issued, head)
        return msgspec.Raw(_HEAD + b'{"type":"heartbeat","id":%d}' % queue.issued + _FOOT)

    def _events(self, queue: Queue) -> msgspec.Raw:
        presenters = self._presenters
        texts = []
        for logged in queue.pending:
            texts.append(logged.text_for(queue, presenters.get(logged.record.type)))
            queue.issued = max(queue.issued, logged.seq)
            if len(texts) == MAX_EVENTS_PER_REPLY:
                break
        return msgspec.Raw(_HEAD + b",".join(texts) + _FOOT)
