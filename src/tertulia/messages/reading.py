"""Endpoints that read messages."""

from typing import Annotated, Any

import msgspec

from tertulia.kernel.auth import Person
from tertulia.kernel.db import Reader
from tertulia.kernel.endpoint import Wire, decode_json, get
from tertulia.kernel.errors import Refusal
from tertulia.messages.access import access_message
from tertulia.messages.fetch import Fetched, Look, Term, Window, fetch, load
from tertulia.messages.model import MessageRecord


def terms(value: Any) -> list[Term]:
    """A narrow: a list of `{operator, operand, negated?}`, or of pairs."""
    if isinstance(value, str):
        value = decode_json(value) if value != "null" else []
    if not isinstance(value, list):
        raise ValueError("is not a list")
    return [_term(item) for item in value]


def _term(item: Any) -> Term:
    if isinstance(item, list) and len(item) == 2 and all(isinstance(part, str) for part in item):
        return Term(item[0], item[1])
    return msgspec.convert(item, Term)


Narrow = Annotated[
    list[Term],
    Wire(terms, {"type": "array", "items": {"type": "object"}, "description": "Terms, all of which hold."}),
]
Count = Annotated[int, msgspec.Meta(ge=0)]


class OneMessage(msgspec.Struct):
    """The answer of GET /messages/{message_id}."""

    message: MessageRecord
    raw_content: str


@get("/messages")
async def get_messages(
    caller: Person,
    reader: Reader,
    *,
    anchor: str | None = None,
    include_anchor: bool = True,
    num_before: Count = 0,
    num_after: Count = 0,
    narrow: Narrow | None = None,
    client_gravatar: bool = True,  # noqa: ARG001 (avatars are ours: there is none to leave out)
    apply_markdown: bool = True,
    use_first_unread_anchor: bool = False,
    allow_empty_topic_name: bool = False,
) -> Fetched:
    """Fetch messages around an anchor: a message ID, `newest`, `oldest` or `first_unread`."""
    if use_first_unread_anchor:
        anchor = "first_unread"
    if anchor is None:
        raise Refusal("Missing 'anchor' argument.")
    window = Window(anchor, num_before, num_after, include_anchor)
    return await fetch(reader, caller, narrow or [], window, Look(apply_markdown, allow_empty_topic_name))


@get("/messages/{message_id}")
async def get_message(
    caller: Person,
    reader: Reader,
    *,
    message_id: int,
    apply_markdown: bool = True,
    allow_empty_topic_name: bool = False,
) -> OneMessage:
    """One message. `raw_content` is its text as it was written."""
    reached = await access_message(reader, caller, message_id)
    [message] = await load(reader, caller, [message_id], Look(apply_markdown, allow_empty_topic_name))
    return OneMessage(message, reached.content)
