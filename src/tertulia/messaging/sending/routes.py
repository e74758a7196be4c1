"""Endpoint of sending; those of reading are in reading/routes.py."""

from typing import Annotated, Any

import msgspec

from tertulia.kernel.auth import Person, Sender
from tertulia.kernel.endpoint import AnyLength, Call, Unread, Verbatim, Wire, alias, decode_json, post
from tertulia.kernel.errors import Refusal
from tertulia.messaging.sending.actions import Sending
from tertulia.messaging.sending.model import Echo, SendRequest
from tertulia.messaging.sending.rules import MessageType, address, clean_content

MAX_IDEMPOTENCY_KEY = 200
# It travels with the event: the log takes no event of any size.
MAX_ECHO = 1000
QueueId = Annotated[str, msgspec.Meta(max_length=MAX_ECHO)]
LocalId = Annotated[str, Verbatim(), AnyLength(), msgspec.Meta(extra_json_schema={"maxLength": MAX_ECHO})]


def json_or_text(value: Any) -> Any:
    """`to` is JSON if that can be meant, else the text itself: a channel's name, or addresses."""
    if not isinstance(value, str):
        return value
    try:
        decoded = decode_json(value, any_size=True)
    except msgspec.DecodeError:
        return value
    return value if decoded is None or isinstance(decoded, bool | float | dict) else decoded


Recipients = Annotated[
    Any,
    Wire(
        json_or_text,
        {"description": "A channel's name or ID, or a list of user IDs or of email addresses."},
        any_size=True,
    ),
]


class RenderedText(msgspec.Struct):
    """The answer of POST /messages/render."""

    rendered: str


class Answer(msgspec.Struct, omit_defaults=True):
    """The answer of POST /messages."""

    id: int
    automatic_new_visibility_policy: int | msgspec.UnsetType = msgspec.UNSET
    """2 unmuted, 3 followed: the sender's policy for the topic, if sending changed it."""


@post("/messages/render", while_frozen=True)
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
    topic: Unread[str] = alias("subject"),
    queue_id: QueueId | None = None,
    local_id: LocalId | None = None,
    read_by_sender: bool | None = None,
) -> Answer:
    """Send a channel or direct message.

    With the header `Idempotency-Key`, a repeat within 24 hours sends nothing and returns the first answer.
    """
    if queue_id is not None and local_id is None:
        raise Refusal("queue_id needs local_id beside it.")
    if local_id is not None and len(local_id) > MAX_ECHO:
        raise Refusal(f"local_id is passed back as it is, but has at most {MAX_ECHO} characters.")
    echo = Echo(queue_id, local_id) if queue_id is not None and local_id is not None else None
    key = call.header("idempotency-key")
    if key is not None and not 1 <= len(key) <= MAX_IDEMPOTENCY_KEY:
        raise Refusal(f"An Idempotency-Key has 1 to {MAX_IDEMPOTENCY_KEY} characters.")
    if to is None and caller.is_bot and type in ("stream", "channel"):
        to = await sending.places.default_channel(caller)
    request = SendRequest(address(type, to, topic.read), content, call.client, echo, read_by_sender, key)
    sent = await sending.send(caller, request)
    return Answer(sent.id, msgspec.UNSET if sent.policy is None else sent.policy)
