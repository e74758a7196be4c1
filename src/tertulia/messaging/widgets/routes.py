"""Endpoints of widgets."""

from typing import Annotated, Literal

import msgspec

from tertulia.events.log.record import record
from tertulia.kernel.auth import Person
from tertulia.kernel.bounds import full
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import post
from tertulia.kernel.errors import Refusal
from tertulia.messaging.reading.access import hold_message, no_such_message
from tertulia.messaging.reading.audiences import audience_of
from tertulia.messaging.widgets import bounds, queries
from tertulia.messaging.widgets.rules import check_said

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
    """Do something in a poll or to-do list: vote, add an option or a task, mark a task as done or not done."""
    message = await hold_message(tx, caller, message_id)
    if message.is_archived:
        raise no_such_message()
    found = await queries.find_opening(tx, message_id, caller.user_id)
    if found is None:
        raise Refusal("This message has no poll or list that could be told anything.")
    opening, totals = found
    check_said(opening, content, is_author=message.sender_id == caller.user_id)
    totals = with_one_more(tx, totals, content)
    submessage_id = await queries.insert_submessage(tx, message_id, caller.user_id, msg_type, content, totals)
    event = {
        "message_id": message_id,
        "submessage_id": submessage_id,
        "sender_id": caller.user_id,
        "msg_type": msg_type,
        "content": content,
    }
    tx.emit(caller.realm_id, record(await audience_of(tx, message), "submessage", event))


def with_one_more(tx: Transaction, totals: queries.Totals, content: str) -> queries.Totals:
    """The totals with this; a Refusal if it is too much. The message is held, so nobody else counts."""
    size = len(content.encode())
    after = queries.Totals(totals.number + 1, totals.size + size, totals.own_number + 1, totals.own_size + size)
    for bound, total in zip(bounds.ALL, after, strict=True):
        if total > tx.bounds.limit(bound):
            raise full(bound, tx.bounds.limit(bound))
    return after
