"""SQL that reaches messages: one statement per function."""

from collections.abc import Sequence

import asyncpg

from tertulia.conversations.channels.rights import MAY_READ_MESSAGE
from tertulia.kernel.db import Reader, Transaction

_REACH = f"""
from message join conversation on conversation.id = message.conversation_id
left join account on account.id = $2 and account.is_active
left join read_state on read_state.conversation_id = message.conversation_id and read_state.user_id = $2
left join channel on channel.id = message.conversation_id
left join topic on topic.id = message.topic_id
where message.id = {{asked}} and message.realm_id = $1
  and {MAY_READ_MESSAGE}
"""
_WITHIN_REACH = _REACH.format(asked="any($3::bigint[])")
# Most are asked for alone: without a list, the plan of so many joins is made once, and not with every call (kernel/lists.py).
_ONE_WITHIN_REACH = _REACH.format(asked="$3")
_REACHED = f"""
select message.id, message.realm_id, message.conversation_id, message.seq, message.sender_id, message.sent_at,
       message.content, message.rendered, message.topic_id, topic.name as topic, channel.name as channel,
       coalesce(channel.is_archived, false) as is_archived, conversation.participants,
       coalesce(message.seq <@ read_state.history, false) as is_received,
       coalesce(upper_inf(read_state.history), false) as is_subscribed
{_WITHIN_REACH} order by message.id
"""
_ONE_REACHED = _REACHED.replace(_WITHIN_REACH, _ONE_WITHIN_REACH)
BEGINNING = 500
"""Characters of a message that is shown by its beginning."""

# The whole answer is weighed before a text is read; `$3` has a message as often as it is shown.
_SHOWN_WHOLE = """
((select whole from size) or octet_length(message.content) + octet_length(message.rendered) <= $4 / cardinality($3))
"""
_BRIEFLY = """
with size as materialized (
    select sum(octet_length(content) + octet_length(rendered)) <= $4::bigint as whole
    from unnest($3::bigint[]) as shown(id) join message using (id)
)
""" + _REACHED.replace(
    "message.content, message.rendered,",
    f"""case when {_SHOWN_WHOLE} then message.content else left(message.content, {BEGINNING}) || '…' end as content,
    case when {_SHOWN_WHOLE} then message.rendered end as rendered,""",
)


async def reached_message(reader: Reader, realm_id: int, user_id: int, message_id: int) -> asyncpg.Record | None:
    """A message, if the user may read it; a user without an account (0) those of web-public channels."""
    if not is_possible_id(message_id):
        return None
    return await reader.fetchrow(_ONE_REACHED, realm_id, user_id, message_id)


async def count_reached(reader: Reader, realm_id: int, user_id: int, message_ids: Sequence[int]) -> int:
    """How many of the messages a user may read. Their texts, which may be long, are not looked at."""
    return int(await reader.fetchval(f"select count(*) {_WITHIN_REACH}", realm_id, user_id, message_ids))


async def reached_ids(reader: Reader, realm_id: int, user_id: int, message_ids: Sequence[int]) -> set[int]:
    """Which of the messages a user may read. Their texts, which may be long, are not looked at."""
    rows = await reader.fetch(f"select message.id {_WITHIN_REACH}", realm_id, user_id, message_ids)
    return {row["id"] for row in rows}


async def reached_briefly(
    reader: Reader, realm_id: int, user_id: int, message_ids: Sequence[int], room: int
) -> list[asyncpg.Record]:
    """Messages that a user may read; if they are longer than `room` bytes together, of the long ones the beginning, without
    HTML."""
    return await reader.fetch(_BRIEFLY, realm_id, user_id, message_ids, room)


async def lock_conversation_of(tx: Transaction, message_id: int) -> int | None:
    """Hold the conversation a message is in against everybody who writes to it; returns its id."""
    sql = """
    select id from conversation where id = (select conversation_id from message where id = $1) for no key update
    """
    found: int | None = await tx.fetchval(sql, message_id) if is_possible_id(message_id) else None
    return found


async def lock_reached(tx: Transaction, realm_id: int, user_id: int, message_id: int) -> bool:
    """Hold a message that a user may read. Of any other nobody learns by waiting for whoever changes it."""
    sql = f"select true {_ONE_WITHIN_REACH} for no key update of message"
    return is_possible_id(message_id) and bool(await tx.fetchval(sql, realm_id, user_id, message_id))


def is_possible_id(message_id: int) -> bool:
    """Whether a message could have this id: the database knows no larger numbers."""
    return 0 < message_id < 2**63
