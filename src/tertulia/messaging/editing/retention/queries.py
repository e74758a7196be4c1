"""SQL of retention: one statement per function."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tertulia.kernel.bounds import LONGEST_RETENTION
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.freezing import NOTE
from tertulia.messaging.reading.access import Reached

# However long somebody has asked for: a time that PostgreSQL cannot write would end the statement for all organizations.
_KEPT_DAYS = f"""
least(coalesce(channel.message_retention_days, (realm.settings->>'message_retention_days')::int, -1), {LONGEST_RETENTION})
"""
_DUE = f"""
with ruled as (
    select id from channel where message_retention_days > 0 and id > $1
    union all
    select conversation.id from realm join conversation on conversation.realm_id = realm.id
    left join channel on channel.id = conversation.id
    where (realm.settings->>'message_retention_days')::int > 0 and conversation.id > $1
        and channel.message_retention_days is null
)
select ruled.id from ruled join conversation on conversation.id = ruled.id
join realm on realm.id = conversation.realm_id left join channel on channel.id = conversation.id
join lateral (
    select sent_at from message where conversation_id = ruled.id order by id limit 1
) as oldest on oldest.sent_at < now() - make_interval(days => {_KEPT_DAYS})
where not realm.settings ? '{NOTE}'
order by ruled.id limit $2
"""
# The oldest are taken first and judged then: otherwise, with fewer old ones than asked for, all others would be read.
_FOUND = """
select oldest.*, topic.name as topic, conversation.realm_id, conversation.participants, channel.name as channel,
    coalesce(channel.is_archived, false) as is_archived, bot.id as bot_id
from (
    select id, seq, conversation_id, topic_id, sender_id, sent_at from message
    where {} order by id limit $2
) as oldest
join conversation on conversation.id = oldest.conversation_id join realm on realm.id = conversation.realm_id
join account as bot on bot.realm_id = realm.id and bot.system_bot = 'notification'
left join channel on channel.id = conversation.id left join topic on topic.id = oldest.topic_id
"""
_EXPIRED = f"""
{_FOUND.format("conversation_id = $1")}
where {_KEPT_DAYS} > 0 and not realm.settings ? '{NOTE}' and oldest.sent_at < now() - make_interval(days => {_KEPT_DAYS})
order by oldest.topic_id, oldest.id
"""
_WRITTEN = f"""
{_FOUND.format("conversation_id = $1 and sender_id = any($3::bigint[]) and id = any($4::bigint[])")}
order by oldest.topic_id, oldest.id
"""


class Expired(msgspec.Struct, frozen=True, kw_only=True):
    """A message whose time is over, and where it is."""

    id: int
    seq: int
    conversation_id: int
    topic_id: int | None
    sender_id: int
    sent_at: datetime
    topic: str | None
    realm_id: int
    participants: list[int] | None
    channel: str | None
    is_archived: bool
    bot_id: int

    def reached(self) -> Reached:
        """As those see it who are told that it is gone."""
        return Reached(
            id=self.id,
            realm_id=self.realm_id,
            conversation_id=self.conversation_id,
            seq=self.seq,
            sender_id=self.sender_id,
            sent_at=self.sent_at,
            content="",
            rendered="",
            topic_id=self.topic_id,
            topic=self.topic,
            channel=self.channel,
            is_archived=self.is_archived,
            participants=self.participants,
            is_received=False,
            is_subscribed=False,
        )


async def due_conversations(reader: Reader, after: int, limit: int) -> list[int]:
    """Conversations with messages that are kept no longer, by id, after the one with this id."""
    return [row["id"] for row in await reader.fetch(_DUE, after, limit)]


async def oldest_expired(tx: Transaction, conversation_id: int, limit: int) -> list[Expired]:
    """Of the oldest messages of a conversation those that are kept no longer, topic by topic."""
    return [Expired(**row) for row in await tx.fetch(_EXPIRED, conversation_id, limit)]


async def written_by(
    tx: Transaction, conversation_id: int, limit: int, user_ids: Sequence[int], message_ids: Sequence[int]
) -> list[Expired]:
    """Of these messages those that are in the conversation and of these people, topic by topic."""
    rows = await tx.fetch(_WRITTEN, conversation_id, limit, user_ids, message_ids)
    return [Expired(**row) for row in rows]
