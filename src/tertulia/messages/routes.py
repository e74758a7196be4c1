"""Endpoint of sending; those of reading are in reading.py."""

from typing import Annotated, Any

import msgspec

from tertulia.kernel.auth import Person, Sender
from tertulia.kernel.endpoint import Call, Wire, alias, decode_json, post
from tertulia.kernel.errors import Refusal
from tertulia.messages.actions import Draft, Sending
from tertulia.messages.model import Echo
from tertulia.messages.rules import MessageType, address, clean_content

MAX_IDEMPOTENCY_KEY = 200
# It travels with the event: the log takes no event of any size.
EchoText = Annotated[str, msgspec.Meta(max_length=1000)]


def json_or_text(value: Any) -> Any:
    """`to` is JSON if it can be, else the text itself: a channel's name, or addresses."""
    if not isinstance(value, str):
        return value
    try:
        return decode_json(value)
    except msgspec.DecodeError:
        return value


Recipients = Annotated[
    Any, Wire(json_or_text, {"description": "A channel's name or ID, or a list of user IDs or of email addresses."})
]


class RenderedText(msgspec.Struct):
    """The answer of POST /messages/render."""

    rendered: str


class Answer(msgspec.Struct, omit_defaults=True):
    """The answer of POST /messages."""

    id: int
    automatic_new_visibility_policy: int | msgspec.UnsetType = msgspec.UNSET
    """2 unmuted, 3 followed: the sender's policy for the topic, if sending changed it."""


@post("/messages/render")
async def render_message(caller: Person, sending: Sending, *, content: str) -> RenderedText:
    """See how a text would look as a message, without sending it."""
    return RenderedText(await sending.composer.render(caller, clean_content(content)))


@post("/messages")
async def send_message(
    caller: Sender,
    call: Call,
    sending: Sending,
    *,
    content: str,
    type: MessageType,
    to: Recipients | None = None,
    topic: str | None = alias("subject"),
    queue_id: EchoText | None = None,
    local_id: EchoText | None = None,
    read_by_sender: bool | None = None,
) -> Answer:
    """Send a channel or direct message.

    With the header `Idempotency-Key`, a repeat within 24 hours sends nothing and returns the first answer.
    """
    if queue_id is not None and local_id is None:
        raise Refusal("queue_id needs local_id beside it.")
    echo = Echo(queue_id, local_id) if queue_id is not None and local_id is not None else None
    key = call.header("idempotency-key")
    if key is not None and not 1 <= len(key) <= MAX_IDEMPOTENCY_KEY:
        raise Refusal(f"An Idempotency-Key has 1 to {MAX_IDEMPOTENCY_KEY} characters.")
    if to is None and caller.is_bot and type in ("stream", "channel"):
        to = await sending.places.default_channel(caller)
    draft = Draft(address(type, to, topic), content, call.client, echo, read_by_sender, key)
    sent = await sending.send(caller, draft)
    return Answer(sent.id, msgspec.UNSET if sent.policy is None else sent.policy)
