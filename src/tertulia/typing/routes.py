"""Endpoints of typing."""

from typing import Annotated, Literal

import msgspec

from tertulia.kernel.auth import Person
from tertulia.kernel.endpoint import post
from tertulia.kernel.errors import Refusal
from tertulia.messages.rules import MAX_RECIPIENTS
from tertulia.typing.actions import Op, Typing


@post("/typing")
async def set_typing(
    caller: Person,
    typing: Typing,
    *,
    op: Op,
    type: Literal["direct", "stream", "channel"] = "direct",
    to: Annotated[list[int], msgspec.Meta(max_length=MAX_RECIPIENTS)] | None = None,
    stream_id: int | None = None,
    topic: str | None = None,
) -> None:
    """Tell that you are writing a message, or have stopped.

    Repeat `start` while you write, send `stop` when you pause or give up; POST /register says how often.
    """
    if type == "direct":
        if not to:
            raise Refusal(
                "to is missing: whom do you write to?" if to is None else "to is empty: whom do you write to?"
            )
        await typing.to_people(caller, op, to)
        return
    if stream_id is None:
        raise Refusal("stream_id is missing: which channel do you write in?")
    if topic is None:
        raise Refusal("topic is missing: what do you write about?")
    await typing.in_channel(caller, op, stream_id, topic)


@post("/messages/{message_id}/typing")
async def set_typing_while_editing(caller: Person, typing: Typing, *, message_id: int, op: Op) -> None:
    """Tell that you are changing a message of yours, or have stopped; as often as for POST /typing."""
    await typing.over_message(caller, op, message_id)
