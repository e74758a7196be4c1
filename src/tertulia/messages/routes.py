"""Endpoint of sending; those of reading are in reading.py."""

from typing import Annotated, Any

import msgspec

from tertulia.kernel.auth import Sender
from tertulia.kernel.endpoint import Call, Wire, alias, decode_json, post
from tertulia.kernel.errors import Refusal
from tertulia.messages.actions import Draft, send
from tertulia.messages.lane import SendLane
from tertulia.messages.model import Echo
from tertulia.messages.places import Places
from tertulia.messages.rules import MessageType, address

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


class Sent(msgspec.Struct):
    """The answer of POST /messages."""

    id: int


@post("/messages")
async def send_message(
    caller: Sender,
    call: Call,
    places: Places,
    lane: SendLane,
    *,
    type: MessageType,
    to: Recipients | None = None,
    content: str,
    topic: str | None = alias("subject"),
    queue_id: EchoText | None = None,
    local_id: EchoText | None = None,
    read_by_sender: bool | None = None,
) -> Sent:
    """Send a channel or direct message.

    With the header `Idempotency-Key`, a repeat within 24 hours sends nothing and returns the first answer.
    """
    if queue_id is not None and local_id is None:
        raise Refusal("queue_id needs local_id beside it.")
    echo = Echo(queue_id, local_id) if queue_id is not None and local_id is not None else None
    key = call.header("idempotency-key")
    if key is not None and not 1 <= len(key) <= MAX_IDEMPOTENCY_KEY:
        raise Refusal(f"An Idempotency-Key has 1 to {MAX_IDEMPOTENCY_KEY} characters.")
    draft = Draft(address(type, to, topic), content, call.client, echo, read_by_sender, key)
    return Sent(await send(places, lane, caller, draft))
