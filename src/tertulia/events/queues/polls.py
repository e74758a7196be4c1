"""Long polls: what GET /events answers, and when.

A poll answers at once when events are there, else it waits for one, for its heartbeat, for another poll on the same queue,
for the end of the queue or of the credential it was made with, or for the client to go away. A heartbeat travels alone, and
a waiting poll never answers with an empty list: there are clients that take such an answer for a new beginning.
"""

import asyncio
import random
from collections.abc import Callable
from itertools import islice

import msgspec

from tertulia.events.queues.gateway import Gateway
from tertulia.events.queues.logged_event import Presenter
from tertulia.events.queues.queue import Queue
from tertulia.events.queues.refusals import bad_queue, never_issued, revoked
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import MAX_ANSWER_BYTES
from tertulia.kernel.later import Later

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

    def answer(self, caller: Caller, queue: Queue, last_event_id: int, *, dont_block: bool) -> msgspec.Raw | Later:
        """The body of the reply, or when it comes."""
        if last_event_id > queue.issued:
            raise never_issued(last_event_id)
        queue.touch()
        queue.acknowledge(last_event_id)
        self._gateway.keep(queue)
        if queue.pending or dont_block:
            return self._events(queue)
        queue.end_wait()
        gateway = self._gateway
        if gateway.draining or not gateway.is_alive(queue) or gateway.is_revoked(queue, caller.credential):
            return self.answer_after_wait(caller, queue)
        settings = gateway.settings
        pause = settings.heartbeat_seconds + random.uniform(0, settings.heartbeat_jitter_seconds)
        return _WaitingPoll(self, caller, queue, pause)

    def answer_after_wait(self, caller: Caller, queue: Queue) -> msgspec.Raw:
        """The body of the reply to who has waited."""
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


class _WaitingPoll(Later):
    """A poll that waits, for so many seconds at most."""

    __slots__ = ("_caller", "_pause", "_polls", "_queue", "_timer", "_waiter")

    def __init__(self, polls: Polls, caller: Caller, queue: Queue, pause: float) -> None:
        self._polls = polls
        self._caller = caller
        self._queue = queue
        self._pause = pause

    def begin(self, tell: Callable[[], None]) -> None:
        """The queue wakes it, or its heartbeat."""
        self._waiter = self._queue.begin_wait(tell, self._caller.credential)
        self._timer = asyncio.get_running_loop().call_later(self._pause, self._waiter.wake)

    def result(self) -> msgspec.Raw:
        """What it is answered with."""
        self.leave()
        return self._polls.answer_after_wait(self._caller, self._queue)

    def leave(self) -> None:
        """It waits no more."""
        self._timer.cancel()
        self._queue.leave_wait(self._waiter)
