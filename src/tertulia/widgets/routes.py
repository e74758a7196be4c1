"""Endpoints of widgets."""

from typing import Annotated, Literal

import msgspec

from tertulia.events.record import record
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import post
from tertulia.kernel.errors import Refusal
from tertulia.messages.access import hold_message, no_such_message
from tertulia.messages.audiences import audience_of
from tertulia.widgets import queries
from tertulia.widgets.rules import check_said

MAX_CONTENT = 10_000


@post("/submessage")
async def tell_widget(
    caller: Person,
    tx: Transaction,
    *,
    message_id: int,
    msg_type: Literal["widget"],
    content: Annotated[str, msgspec.Meta(max_length=MAX_CONTENT)],
) -> None:
    """Do something in a poll or to-do list: vote, add an option or a task, strike one."""
    message = await hold_message(tx, caller, message_id)
    if message.is_archived:
        raise no_such_message()
    opening = await queries.find_opening(tx, message_id)
    if opening is None:
        raise Refusal("This message has no poll or list that could be told anything.")
    check_said(opening, content, is_author=message.sender_id == caller.user_id)
    submessage_id = await queries.insert_submessage(tx, message_id, caller.user_id, msg_type, content)
    event = {
        "message_id": message_id,
        "submessage_id": submessage_id,
        "sender_id": caller.user_id,
        "msg_type": msg_type,
        "content": content,
    }
    tx.emit(caller.realm_id, record(await audience_of(tx, message), "submessage", event))
