"""Which messages a fetch shows: SQL for windows of ids around an anchor.

Each source is a query of message ids in one direction; the planner walks an index from the anchor and stops at the limit.
Everything received goes conversation by conversation, so its cost grows with the reader's channels, never with the past.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.events.ranges import Bounds
from tertulia.kernel.db import Reader

NEWEST = 10_000_000_000_000_000
"""The anchor past every message; clients know this number."""


class Source(msgspec.Struct, frozen=True):
    """A set of messages: all the reader received, a channel, or a topic of a channel."""

    user_id: int
    conversation_id: int | None = None
    topic_key: str | None = None
    history: Sequence[Bounds] | None = None
    """In a channel with protected history: the numbers the reader may see."""


# A few of each conversation tell how far the window can reach at most; then only what lies within is read. Reading a whole
# window of each conversation instead is 100 times 100 rows for somebody in 100 channels.
_MINE = """
with mine as materialized (
    select conversation_id, history from read_state where user_id = $1 and upper_inf(history)
), sample as (
    select found.id from mine, lateral (
        select id from message
        where message.conversation_id = mine.conversation_id and id {compare} $2 and seq <@ mine.history
        order by id {direction} limit 2 + 2 * $3 / (select count(*) from mine)
    ) as found
    order by id {direction} limit $3
), reach as materialized (
    select case when count(*) = $3 then {furthest}(id) else {end} end as id from sample
)
select found.id from reach, mine, lateral (
    select id from message
    where message.conversation_id = mine.conversation_id and id {compare} $2 and id {within} reach.id
      and seq <@ mine.history
    order by id {direction} limit $3
) as found
order by id {direction} limit $3
"""

_CHANNEL = """
select id from message
where conversation_id = $4 and id {compare} $2 and ($5::int8multirange is null or seq <@ $5) and $1::bigint is not null
order by id {direction} limit $3
"""

_TOPIC = """
select message.id from topic join message on message.topic_id = topic.id
where topic.conversation_id = $4 and topic.name_key = $6 and message.id {compare} $2
  and ($5::int8multirange is null or seq <@ $5) and $1::bigint is not null
order by message.id {direction} limit $3
"""


def _both(template: str) -> tuple[str, str]:
    before = template.format(compare="<=", direction="desc", within=">=", furthest="min", end=0)
    after = template.format(compare=">=", direction="asc", within="<=", furthest="max", end=2**63 - 1)
    return before, after


_BEFORE_MINE, _AFTER_MINE = _both(_MINE)
_BEFORE_CHANNEL, _AFTER_CHANNEL = _both(_CHANNEL)
_BEFORE_TOPIC, _AFTER_TOPIC = _both(_TOPIC)

_FIRST_UNREAD = """
with mine as materialized (
    select conversation_id, history * int8multirange(int8range(1, last_seq + 1)) - read as gaps
    from read_state join conversation on conversation.id = read_state.conversation_id
    where user_id = $1 and upper_inf(history) and ($2::bigint is null or conversation_id = $2)
)
select min(first.id) from mine, lateral (
    select found.id from unnest(gaps) as gap, lateral (
        select message.id from message left join topic on topic.id = message.topic_id
        where message.conversation_id = mine.conversation_id and seq >= lower(gap) and seq < upper(gap)
          and ($3::text is null or topic.name_key = $3)
        order by seq limit 1 offset 0
    ) as found
    limit 1
) as first
"""


async def ids_before(reader: Reader, source: Source, anchor: int, limit: int) -> list[int]:
    """At most `limit` ids up to and including the anchor, ascending."""
    rows = await reader.fetch(*_statement(source, (_BEFORE_MINE, _BEFORE_CHANNEL, _BEFORE_TOPIC), anchor, limit))
    return [row["id"] for row in reversed(rows)]


async def ids_after(reader: Reader, source: Source, anchor: int, limit: int) -> list[int]:
    """At most `limit` ids from the anchor on, ascending."""
    rows = await reader.fetch(*_statement(source, (_AFTER_MINE, _AFTER_CHANNEL, _AFTER_TOPIC), anchor, limit))
    return [row["id"] for row in rows]


async def first_unread(reader: Reader, source: Source) -> int:
    """The id of the first unread message, or the number past every message."""
    found = await reader.fetchval(_FIRST_UNREAD, source.user_id, source.conversation_id, source.topic_key)
    return NEWEST if found is None else int(found)


def _statement(source: Source, statements: tuple[str, str, str], anchor: int, limit: int) -> tuple[Any, ...]:
    mine, channel, topic = statements
    if source.conversation_id is None:
        return mine, source.user_id, anchor, limit
    if source.topic_key is None:
        return channel, source.user_id, anchor, limit, source.conversation_id, source.history
    return topic, source.user_id, anchor, limit, source.conversation_id, source.history, source.topic_key
