"""How far behind queues are, as the web processes say that serve them: asked over NATS by whoever looks after the server.

Records do not tell: the client brings its position with each poll, and only the process that serves a queue knows what waits.
"""

import asyncio
import time
from collections.abc import Iterable
from typing import Final

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

from tertulia.events.queues.queue import Queue

SUBJECT: Final = "queue.report"
PORTION: Final = 5000
"""Queues in one answer, which is far smaller than a message of NATS may be."""


class Backlog(msgspec.Struct, frozen=True, array_like=True):
    """Of one queue, in the process that serves it."""

    id: str
    waiting: int
    """Events that its client has not asked for yet, or not acknowledged."""
    is_more: bool
    """There are more, which the process would read from the log again."""
    silent_seconds: float
    """Since its client last asked; 0 while a request waits."""


_decoder = msgspec.json.Decoder(list[Backlog])


def backlogs_of(queues: Iterable[Queue]) -> list[Backlog]:
    """At this moment."""
    now = time.monotonic()
    return [
        Backlog(queue.id, len(queue.pending), queue.overflowed, round(max(0.0, now - queue.last_used), 1))
        for queue in queues
    ]


async def answer_reports(nc: Client, queues: Iterable[Queue]) -> None:
    """From now on, whoever asks is told."""

    async def answer(asked: Msg) -> None:
        found = backlogs_of(queues)
        for start in range(0, len(found), PORTION):
            await nc.publish(asked.reply, msgspec.json.encode(found[start : start + PORTION]))

    await nc.subscribe(SUBJECT, cb=answer)


async def ask_for_reports(nc: Client, seconds: float) -> dict[str, Backlog]:
    """What the web processes say that answer within that time; nobody knows how many there are."""
    found: dict[str, Backlog] = {}

    async def hear(answer: Msg) -> None:
        if answer.data:  # without: nobody listens
            found.update({one.id: one for one in _decoder.decode(answer.data)})

    inbox = nc.new_inbox()
    await nc.subscribe(inbox, cb=hear)
    await nc.publish(SUBJECT, b"", reply=inbox)
    await asyncio.sleep(seconds)
    return found
