"""SQL of public pages: one statement per function. Each asks anew whether the channel is open to the web."""

from collections.abc import Sequence

import asyncpg

from tertulia.kernel.db import Reader
from tertulia.messaging.public_pages.model import LOOKED_AT, PAGE_BYTES, PublicChannel, PublicMessage, PublicTopic
from tertulia.people.users.statements import is_public
from tertulia.people.users.visibility.actions import UNKNOWN_NAME

_OPEN = "channel.realm_id = $1 and channel.is_web_public and not channel.is_archived"
_CHANNEL = "channel.id, channel.name, channel.description, channel.rendered_description"
_TOPICS = f"""
select topic.id, topic.conversation_id as channel_id, topic.name, topic.last_seq, message.sent_at as active
from channel join topic on topic.conversation_id = channel.id
join message on message.conversation_id = topic.conversation_id and message.seq = topic.last_seq
where {_OPEN} and topic.last_seq > 0
"""
# Of whom visitors do not see there is no name: a page shows them no more than the API does.
_IS_SHOWN = is_public("$1")
_MESSAGES = f"""
select message.id, message.sent_at as sent, message.rendered,
    case when {_IS_SHOWN} then account.full_name else '{UNKNOWN_NAME}' end as author,
    case when account.avatar is not null and {_IS_SHOWN} then avatar_url(account) end as picture, topic.name as topic_name
from channel join message on message.conversation_id = channel.id
join topic on topic.id = message.topic_id join account on account.id = message.sender_id
where {_OPEN}
"""
# How long a page may become is decided here, before a text is sent. The first message is always there; from the first one that
# does not fit, only the ids are.
_FITTING = """
select id, sent, case when coalesce(earlier, 0) < {room} then rendered end as rendered, author, picture, topic_name
from (
    select listed.*,
        sum(octet_length(rendered)) over (order by id {order} rows between unbounded preceding and 1 preceding) as earlier
    from ({listed} order by message.id {order} limit {most}) as listed
) as weighed order by id {order}
"""


async def list_channels(reader: Reader, realm_id: int) -> list[PublicChannel]:
    """The channels that are open to the web, by name."""
    rows = await reader.fetch(f"select {_CHANNEL} from channel where {_OPEN} order by channel.name_key", realm_id)
    return [PublicChannel(**row) for row in rows]


async def find_channel(reader: Reader, realm_id: int, channel_id: int) -> PublicChannel | None:
    """A channel, if it is open to the web."""
    row = await reader.fetchrow(
        f"select {_CHANNEL} from channel where {_OPEN} and channel.id = $2", realm_id, channel_id
    )
    return None if row is None else PublicChannel(**row)


async def list_topics(
    reader: Reader, realm_id: int, channel_id: int, before: int, most: int
) -> tuple[list[PublicTopic], int | None]:
    """The topics of a channel whose newest message has a smaller number than this, newest first; and before which number
    there may be more, None if there are none.

    They are found by the newest messages, so many at most: what it costs does not grow with the topics, of which a channel may
    have a million. A page may have few of them, or none, where much was said in one.
    """
    sql = f"""
    with newest as materialized (
        select message.seq, message.topic_id, message.sent_at from channel
        cross join lateral (
            select seq, topic_id, sent_at from message where conversation_id = channel.id and seq < $3
            order by seq desc limit $5
        ) as message
        where {_OPEN} and channel.id = $2
    ), found as (
        select topic.id, topic.name, topic.last_seq, newest.sent_at as active from newest cross join lateral (
            select id, name, last_seq from topic where topic.id = newest.topic_id and topic.last_seq = newest.seq offset 0
        ) as topic
        order by topic.last_seq desc limit $4
    )
    select id, name, last_seq, active, null as earlier from found
    union all
    select null, null, null, null, case when exists (
        select from message where conversation_id = $2 and seq < looked_at.oldest
    ) then looked_at.oldest end from (select min(seq) as oldest from newest) as looked_at
    """
    *rows, last = await reader.fetch(sql, realm_id, channel_id, before, most + 1, LOOKED_AT)
    topics = [PublicTopic(row["id"], channel_id, row["name"], row["last_seq"], row["active"]) for row in rows[:most]]
    return topics, topics[-1].last_seq if len(rows) > most else last["earlier"]


async def find_topic(reader: Reader, realm_id: int, channel_id: int, topic_id: int) -> PublicTopic | None:
    """A topic of a channel, if it has messages."""
    row = await reader.fetchrow(f"{_TOPICS} and channel.id = $2 and topic.id = $3", realm_id, channel_id, topic_id)
    return None if row is None else PublicTopic(**row)


async def list_all_topics(reader: Reader, realm_id: int, most: int) -> list[PublicTopic]:
    """Topics of all channels, so many at most: whichever come first, if there are more."""
    sql = f"""
    select topic.*, message.sent_at as active from channel
    cross join lateral (
        select id, conversation_id as channel_id, name, last_seq from topic
        where conversation_id = channel.id and last_seq > 0 order by id limit $2
    ) as topic
    join message on message.conversation_id = channel.id and message.seq = topic.last_seq
    where {_OPEN} limit $2
    """
    found = [PublicTopic(**row) for row in await reader.fetch(sql, realm_id, most)]
    return sorted(found, key=lambda topic: topic.id)


async def topics_from(reader: Reader, realm_id: int, channel_id: int, first: int, most: int) -> list[PublicTopic]:
    """The topics of a channel from this id on, oldest first."""
    sql = f"""
    select topic.*, message.sent_at as active from channel
    cross join lateral (
        select id, conversation_id as channel_id, name, last_seq from topic
        where conversation_id = channel.id and id >= $3 and last_seq > 0 order by id limit $4
    ) as topic
    join message on message.conversation_id = channel.id and message.seq = topic.last_seq
    where {_OPEN} and channel.id = $2 order by topic.id
    """
    return [PublicTopic(**row) for row in await reader.fetch(sql, realm_id, channel_id, first, most)]


async def first_of_parts(reader: Reader, realm_id: int, size: int) -> list[tuple[int, int]]:
    """The channel and the first topic of each part, if the topics of each channel are dealt out in parts of this size.

    It reads all topics.
    """
    sql = f"""
    select conversation_id, id from (
        select conversation_id, topic.id, row_number() over (partition by conversation_id order by topic.id) as place
        from channel join topic on topic.conversation_id = channel.id where {_OPEN} and topic.last_seq > 0
    ) as numbered where (place - 1) % $2 = 0 order by id
    """
    return [(row["conversation_id"], row["id"]) for row in await reader.fetch(sql, realm_id, size)]


async def messages_from(
    reader: Reader, realm_id: int, topic_id: int, start: int, most: int
) -> tuple[list[PublicMessage], int | None]:
    """Messages of a topic from this one on, as many as fit on a page, and the id of the one after them."""
    listed = f"{_MESSAGES} and message.topic_id = $2 and message.id >= $3"
    sql = _FITTING.format(listed=listed, order="asc", most="$4", room="$5")
    rows = await reader.fetch(sql, realm_id, topic_id, start, most + 1, PAGE_BYTES)
    found = _messages(rows[:most])
    return found, rows[len(found)]["id"] if len(rows) > len(found) else None


async def ids_before(reader: Reader, topic_id: int, start: int, most: int) -> list[int]:
    """The ids of the messages of a topic right before this one, newest first."""
    sql = "select id from message where topic_id = $1 and id < $2 order by id desc limit $3"
    return [row["id"] for row in await reader.fetch(sql, topic_id, start, most)]


async def newest_of_topic(reader: Reader, realm_id: int, topic_id: int, most: int) -> list[PublicMessage]:
    """The newest messages of a topic, newest first, as many as fit."""
    listed = f"{_MESSAGES} and message.topic_id = $2"
    sql = _FITTING.format(listed=listed, order="desc", most="$3", room="$4")
    return _messages(await reader.fetch(sql, realm_id, topic_id, most, PAGE_BYTES))


async def newest_of_channel(reader: Reader, realm_id: int, channel_id: int, most: int) -> list[PublicMessage]:
    """The newest messages of a channel, newest first, as many as fit."""
    listed = f"{_MESSAGES} and message.conversation_id = $2"
    sql = _FITTING.format(listed=listed, order="desc", most="$3", room="$4")
    return _messages(await reader.fetch(sql, realm_id, channel_id, most, PAGE_BYTES))


async def find_place(reader: Reader, realm_id: int, message_id: int) -> tuple[int, int] | None:
    """The channel and the topic that a message is in now."""
    sql = f"""
    select message.conversation_id, message.topic_id from message join channel on channel.id = message.conversation_id
    where {_OPEN} and message.id = $2
    """
    row = await reader.fetchrow(sql, realm_id, message_id)
    return None if row is None else (row["conversation_id"], row["topic_id"])


def _messages(rows: Sequence[asyncpg.Record]) -> list[PublicMessage]:
    return [PublicMessage(**row) for row in rows if row["rendered"] is not None]
