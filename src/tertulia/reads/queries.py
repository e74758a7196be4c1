"""SQL of read state: one statement per function.

Unread messages are found by their gaps: what was received and is not read, as ranges, each of which is one index scan.
The shape of that query is held by a test: other shapes were measured at seconds instead of milliseconds.
"""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction


class Seen(msgspec.Struct, frozen=True):
    """A message the user has received, and what it is."""

    id: int
    conversation_id: int
    seq: int
    topic: str | None
    is_muted: bool
    participants: list[int] | None


class Unread(msgspec.Struct, frozen=True):
    """An unread message."""

    id: int
    conversation_id: int
    topic_id: int | None
    topic: str | None
    is_muted: bool
    participants: list[int] | None


_UNREAD = """
with mine as materialized (
    select read_state.conversation_id, conversation.participants, coalesce(subscription.is_muted, false) as is_muted,
           history * int8multirange(int8range(1, last_seq + 1)) - read as gaps
    from read_state join conversation on conversation.id = read_state.conversation_id
    left join subscription
        on subscription.user_id = $1 and subscription.channel_id = read_state.conversation_id
    where read_state.user_id = $1 and upper_inf(history)
), gaps as materialized (
    select conversation_id, participants, is_muted, unnest(gaps) as gap from mine
)
select found.id, gaps.conversation_id, found.topic_id, topic.name as topic, gaps.is_muted, gaps.participants
from gaps, lateral (
    select id, topic_id from message
    where message.conversation_id = gaps.conversation_id and seq >= lower(gap) and seq < upper(gap) offset 0
) as found
left join topic on topic.id = found.topic_id
order by found.id desc limit $2
"""

_LOCK_STATES = """
select conversation_id from read_state
where user_id = $1 and conversation_id = any($2::bigint[]) order by conversation_id, user_id for update
"""

_RECEIVED = """
select message.id, message.conversation_id, message.seq, topic.name as topic, conversation.participants,
       coalesce(subscription.is_muted, false) as is_muted
from message join read_state
    on read_state.conversation_id = message.conversation_id and read_state.user_id = $1 and seq <@ history
    and upper_inf(history) and (seq <@ read) is distinct from $3
join conversation on conversation.id = message.conversation_id left join topic on topic.id = message.topic_id
left join subscription on subscription.user_id = $1 and subscription.channel_id = message.conversation_id
where message.id = any($2::bigint[]) order by message.id
"""

_LEFT = """
select distinct message.conversation_id
from message join channel on channel.id = message.conversation_id
join read_state
    on read_state.conversation_id = message.conversation_id and read_state.user_id = $1 and seq <@ history
    and not upper_inf(history)
where message.id = any($2::bigint[]) order by message.conversation_id
"""


async def unread_messages(reader: Reader, user_id: int, limit: int) -> list[Unread]:
    """The newest unread messages, newest first."""
    return [Unread(**row) for row in await reader.fetch(_UNREAD, user_id, limit)]


async def conversations_of(tx: Transaction, message_ids: Sequence[int]) -> list[int]:
    """The conversations of messages."""
    sql = "select distinct conversation_id from message where id = any($1::bigint[])"
    return [row["conversation_id"] for row in await tx.fetch(sql, message_ids)]


async def lock_read_states(tx: Transaction, user_id: int, conversation_ids: Sequence[int]) -> None:
    """Hold the user's read states, in the order everybody locks them."""
    await tx.fetch(_LOCK_STATES, user_id, conversation_ids)


async def messages_to_change(tx: Transaction, user_id: int, message_ids: Sequence[int], *, read: bool) -> list[Seen]:
    """Of these messages, those the user has received and whose state would change. After the lock."""
    return [Seen(**row) for row in await tx.fetch(_RECEIVED, user_id, message_ids, read)]


async def channels_left(tx: Transaction, user_id: int, message_ids: Sequence[int]) -> list[int]:
    """The channels of messages that the user has received and whose channel they have left since."""
    return [row["conversation_id"] for row in await tx.fetch(_LEFT, user_id, message_ids)]


async def change_read(tx: Transaction, user_id: int, changes: dict[int, list[tuple[int, int]]], *, read: bool) -> None:
    """Add ranges of numbers to the read sets of conversations, or take them out: one statement for all."""
    sql = """
    update read_state
    set read = case when $4 then read + ranges::int8multirange else read - ranges::int8multirange end
    from unnest($2::bigint[], $3::text[]) as changed(conversation_id, ranges)
    where read_state.conversation_id = changed.conversation_id and read_state.user_id = $1
    """
    texts = ["{" + ",".join(f"[{low},{high})" for low, high in ranges) + "}" for ranges in changes.values()]
    await tx.execute(sql, user_id, list(changes), texts, read)


async def newest_message_id(reader: Reader, user_id: int) -> int:
    """The newest message the user has received, wherever that was; -1 if there is none."""
    # In a conversation ids follow numbers; the bound keeps the scan from walking through what came after they left.
    sql = """
    select max(found.id) from read_state, lateral (
        select id from message
        where message.conversation_id = read_state.conversation_id and seq <@ history
            and seq < coalesce(upper(history), 9223372036854775807)
        order by seq desc limit 1
    ) as found
    where user_id = $1 and not isempty(history)
    """
    found = await reader.fetchval(sql, user_id)
    return -1 if found is None else int(found)
