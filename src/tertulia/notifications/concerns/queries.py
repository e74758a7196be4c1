"""The facts that decisions are made of, as SQL: parts that statements are composed of, and how their rows are read."""

from collections.abc import Sequence

import asyncpg

from tertulia.conversations.read_state.marks import Mark, TopicPolicy, Wildcard
from tertulia.conversations.read_state.statements import calls, marked, muting, participant
from tertulia.kernel.db import Reader
from tertulia.notifications.concerns.model import Facts
from tertulia.organization.groups.webs.statements import is_within, reached_from

UNREAD = """
select told.message_id, place.user_id from (
    select message.conversation_id, pair.user_id, array_agg(message.id) as ids, array_agg(message.seq) as seqs
    from pair join message on message.id = pair.message_id group by message.conversation_id, pair.user_id
) as place
join conversation on conversation.id = place.conversation_id
cross join lateral (
    select history + '{}' as history, read + '{}' as read from read_state
    where read_state.conversation_id = place.conversation_id and read_state.user_id = place.user_id
        and (conversation.participants is not null or upper_inf(read_state.history)) offset 0
) as state
cross join lateral (
    select message_id from unnest(place.ids, place.seqs) as asked(message_id, seq)
    where seq <@ state.history and not seq <@ state.read offset 0
) as told
"""
"""Those of the rows `pair` (a message, a person) that are unread, in channels that the person is still in. Each read state is
unpacked once (`+ '{}'`), and not for each message: one of many gaps has megabytes."""

FACTS = f"""
message.id as message_id, account.id as user_id,
(message.id, account.id) in (select message_id, user_id from unread) as is_unread,
exists ({muting("account.id", "message")} offset 0) as is_sender_muted,
conversation.participants is not null as is_direct,
exists ({marked(Mark.MENTIONED, "account.id", "message")} offset 0) as is_named,
{is_within("account", "named_groups")} as in_group,
message.wildcard, {calls(Wildcard.TOPIC, "message")} and exists ({participant("account.id", "message")} offset 0) as takes_part,
coalesce(topic_policy.policy, {TopicPolicy.NONE}) as policy, coalesce(subscription.is_muted, false) as is_channel_muted,
subscription.push_notifications, subscription.email_notifications, subscription.wildcard_mentions_notify,
extract(epoch from now() - presence.active_at)::float8 as active_seconds, account.timezone, now(),
account.settings::text as settings
"""
"""The columns of `Facts`, where FACTS_FROM is joined."""

BESIDE_PAIRS = f"""
named_groups as materialized ({
    reached_from(
        "select message_id, group_id from message_group_mention where message_id in (select message_id from pair)"
    )
}), unread as materialized ({UNREAD})
"""
"""Beside the rows `pair`: what the groups reach that each message mentions, asked once for all its people; and what is unread."""

FACTS_FROM = """
join message on message.id = pair.message_id
join conversation on conversation.id = message.conversation_id
join account on account.id = pair.user_id and account.is_active and account.bot_type is null
    and account.id <> message.sender_id
left join subscription on subscription.user_id = account.id and subscription.channel_id = conversation.id
    and subscription.is_active
left join topic_policy on topic_policy.user_id = account.id and topic_policy.topic_id = message.topic_id
left join presence on presence.user_id = account.id
left join named_groups on named_groups.message_id = pair.message_id
"""
"""What the facts are asked of, joined to rows `pair` with a message and a person, and BESIDE_PAIRS of these. Others than people
drop out."""


async def facts_of(reader: Reader, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Facts]:
    """What is known now of people and messages (user, message), by these. Who is gone drops out."""
    sql = f"""
    with pair as (select * from unnest($1::bigint[], $2::bigint[]) as pair(user_id, message_id)), {BESIDE_PAIRS}
    select {FACTS} from pair {FACTS_FROM}
    """
    rows = await reader.fetch(sql, [user_id for user_id, _ in pairs], [message_id for _, message_id in pairs])
    return {(row["user_id"], row["message_id"]): read_facts(row) for row in rows}


def read_facts(row: asyncpg.Record) -> Facts:
    """A row with the columns FACTS, and perhaps others."""
    return Facts(**{name: row[name] for name in Facts.__struct_fields__})
