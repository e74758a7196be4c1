"""Who serves a queue: a process that takes one over, or ends it, says so to all others, and they let go of theirs.

Invariant: whoever ends a queue deletes its record before it says so. So if nothing was said since a record was read, the queue
had not ended by then, and its end will be heard.
"""

import time
import uuid
from collections.abc import Callable, Sequence

from nats.aio.client import Client
from nats.aio.msg import Msg

from tertulia.kernel.coalesce import Coalescer

SUBJECT = "queue.claim"
MANY = "many"
"""In place of a queue's id: the ids are in the message."""
TOGETHER = 1000
REMEMBERED_SECONDS = 120.0
"""Longer than a take-over takes."""


class Claims:
    """`let_go` is called for each queue that another process claims."""

    def __init__(self, nc: Client, let_go: Callable[[str], None]) -> None:
        self._nc = nc
        self._let_go = let_go
        self._process = uuid.uuid4().hex.encode()
        # Thousands of queues move at the same moment after the death of a process: few messages tell of them.
        self._said: Coalescer[str, None] = Coalescer(self._say, most=TOGETHER)
        self._heard: dict[str, float] = {}
        """When each was claimed last, the oldest first."""

    async def open(self) -> None:
        """Hear what the others claim."""
        await self._nc.subscribe(f"{SUBJECT}.*", cb=self._hear)

    async def claim(self, queue_id: str) -> None:
        """Tell all other processes to let go of a queue."""
        await self._said.load(queue_id)

    def was_claimed_since(self, queue_id: str, moment: float) -> bool:
        """Whether another process has claimed a queue after a moment of the monotonic clock, not long ago."""
        return self._heard.get(queue_id, float("-inf")) >= moment

    async def _say(self, queue_ids: Sequence[str]) -> dict[str, None]:
        if len(queue_ids) == 1:
            await self._nc.publish(f"{SUBJECT}.{queue_ids[0]}", self._process)
        else:
            await self._nc.publish(
                f"{SUBJECT}.{MANY}", b" ".join([self._process, *(one.encode() for one in queue_ids)])
            )
        return {}

    async def _hear(self, msg: Msg) -> None:
        name = msg.subject.removeprefix(f"{SUBJECT}.")
        process, *many = msg.data.decode().split(" ")
        if process.encode() == self._process:
            return
        now = time.monotonic()
        for queue_id in many if name == MANY else [name]:
            self._heard.pop(queue_id, None)
            self._heard[queue_id] = now
            self._let_go(queue_id)
        self._forget(now - REMEMBERED_SECONDS)

    def _forget(self, before: float) -> None:
        while self._heard and self._heard[oldest := next(iter(self._heard))] < before:
            del self._heard[oldest]
