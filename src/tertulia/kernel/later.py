"""Answers that come later, without a task that waits for them.

A request that waits in a task keeps the task, its context and a dozen frames, and going on takes a turn through all of them:
for 10,000 polls that one message answers, that is most of the work. So an endpoint may return a `Later`. The request's task ends;
what it waits for calls back, and the answer is written from there (`Line`), if the server can do that. With any other ASGI server
the task waits (`arrival`).
"""

import asyncio
from collections.abc import Callable
from typing import Any

from tertulia.kernel.call import Call, ClientGone, Message
from tertulia.kernel.departure import Departure


class Later:
    """What an endpoint returns that does not know its answer yet. Either `result` or `leave` is called, and once."""

    def begin(self, tell: Callable[[], None]) -> None:
        """Wait from now on. `tell` is called once the answer is known, never from within this call."""
        raise NotImplementedError

    def result(self) -> Any:
        """What the endpoint would have returned, or its refusal."""
        raise NotImplementedError

    def leave(self) -> None:
        """The client has gone."""
        raise NotImplementedError


class Line:
    """The `send` of a server that lets an answer come after the application has returned."""

    async def __call__(self, message: Message) -> None:
        """ASGI."""
        raise NotImplementedError

    def hold(self, gone: Callable[[], None]) -> None:
        """The application has read the whole request, and returns without an answer. `gone` is called if the client goes before
        there is one."""
        raise NotImplementedError

    def answer(self, begun: Message, body: bytes) -> None:
        """Here it is: the head as ASGI has it, and the whole body."""
        raise NotImplementedError


async def arrival(call: Call, later: Later) -> Any:
    """What the endpoint would have returned, waited for in this task."""
    arrived = asyncio.get_running_loop().create_future()

    def go_on() -> None:
        if not arrived.done():
            arrived.set_result(None)

    later.begin(go_on)
    departure = Departure(call.gone(), go_on)
    try:
        await arrived
        if departure.is_noticed:
            raise ClientGone
    except BaseException:
        later.leave()
        raise
    finally:
        departure.close()
    return later.result()
