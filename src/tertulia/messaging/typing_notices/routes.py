"""Endpoints of typing."""

from typing import Annotated, Literal

import msgspec

from tertulia.conversations.channels.rules import ChannelId
from tertulia.kernel.auth import Person
from tertulia.kernel.endpoint import Unread, post
from tertulia.kernel.errors import Refusal
from tertulia.messaging.sending.rules import MAX_RECIPIENTS
from tertulia.messaging.typing_notices.actions import Op, Typing


@post("/typing")
async def set_typing(
    caller: Person,
    typing: Typing,
    *,
    op: Op,
    type: Literal["direct", "stream", "channel"] = "direct",
    to: Unread[Annotated[list[int], msgspec.Meta(max_length=MAX_RECIPIENTS)]],
    stream_id: Unread[ChannelId],
    topic: Unread[str],
) -> None:
    """Tell others that you started or stopped typing a message.

    Repeat `start` while you type, send `stop` when you pause or give up; POST /register says how often.
    """
    if type == "direct":
        people = to.read()
        if not people:
            raise Refusal(
                "to is missing: whom do you write to?" if people is None else "to is empty: whom do you write to?"
            )
        await typing.to_people(caller, op, people)
        return
    channel_id, about = stream_id.read(), topic.read()
    if channel_id is None:
        raise Refusal("stream_id is missing: which channel do you write in?")
    if about is None:
        raise Refusal("topic is missing: what do you write about?")
    await typing.in_channel(caller, op, channel_id, about)


@post("/messages/{message_id}/typing")
async def set_typing_while_editing(caller: Person, typing: Typing, *, message_id: int, op: Op) -> None:
    """Tell others that you started or stopped editing a message of yours; as often as with POST /typing."""
    await typing.over_message(caller, op, message_id)
