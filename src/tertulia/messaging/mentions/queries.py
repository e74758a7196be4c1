"""SQL of mentions: one statement per function."""

from collections.abc import Iterable, Sequence

import asyncpg
import msgspec

from tertulia.conversations.channels.rights import granted_by_realm
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Reader
from tertulia.messaging.mentions.rules import MANY, MAX_LISTED, Crowd
from tertulia.organization.groups.webs.statements import climbing, holds_by_climbing, inside

PERSON, GROUP, SENDER = 1, 2, 3

MAY_MENTION_MANY = granted_by_realm("can_mention_many_users_group")

_NAMED = f"""
with request as (
    select * from unnest($1::bigint[], $2::bigint[]) with ordinality as request(realm_id, user_id, ord)
), by_name as (
    select ord, account.id, full_name, is_active, bot_type from unnest($3::bigint[], $4::text[]) as asked(ord, name)
    join request using (ord) join account on account.realm_id = request.realm_id and lower(full_name) = asked.name
    union
    select ord, account.id, full_name, is_active, bot_type from unnest($5::bigint[], $6::bigint[]) as asked(ord, id)
    join request using (ord) join account on account.realm_id = request.realm_id and account.id = asked.id
)
select ord, {PERSON} as kind, id, full_name as name, is_active, true as is_allowed, bot_type from by_name
union all
select ord, {GROUP}, found.id, found.name, not found.is_deactivated, found.is_allowed, null
from (select ord, array_agg(name) as names from unnest($7::bigint[], $8::text[]) as asked(ord, name) group by ord) as asked
join request using (ord) join account on account.id = request.user_id
cross join lateral (
    with recursive {climbing("account.id")}
    select user_group.id, user_group.name, user_group.is_deactivated, {holds_by_climbing("holder", "account")} as is_allowed
    from user_group join user_group as holder on holder.id = user_group.can_mention_group
    where user_group.realm_id = request.realm_id and user_group.name = any(asked.names)
) as found
union all
select ord, {SENDER}, account.id, '', is_active, coalesce((account.settings->>'translate_emoticons')::boolean, false),
    null
from unnest($9::bigint[]) as asked(ord) join request using (ord) join account on account.id = request.user_id
"""

_MEMBERS = f"""
with recursive {inside("select unnest($1::bigint[])")}, systems as materialized (
    select lowest_role, is_for_full_members from user_group where lowest_role is not null and id in (select id from reached)
), listed as (
    select user_id from group_member where group_id in (select id from reached)
    union
    select account.id from (
        select user_id from subscription where channel_id = $2 and is_active
        union all
        select unnest($3::bigint[])
    ) as hearing join account on account.id = hearing.user_id join realm on realm.id = account.realm_id
    where exists (select from systems) and exists (
        select from systems where systems.lowest_role >= account.role and not (systems.is_for_full_members
            and account.role = {Role.MEMBER} and is_waiting(account.date_joined, realm.settings, realm.judged_at))
    )
)
select user_id from listed order by user_id limit {MAX_LISTED}
"""

_CROWD = f"""
select channel.subscriber_count as subscribers, (
    select count(*) from (
        select from topic join topic_participant on topic_participant.topic_id = topic.id
        where topic.conversation_id = channel.id and topic.name_key = $3 limit {MANY + 1}
    ) as counted) as participants, {MAY_MENTION_MANY} as may_mention_many
from channel join account on account.id = $1 where channel.id = $2
"""

_NEWEST = """
select asked.channel_id, asked.topic_key, newest.id
from unnest($2::bigint[], $3::text[]) as asked(channel_id, topic_key)
join channel on channel.id = asked.channel_id
join topic on topic.conversation_id = asked.channel_id and topic.name_key = asked.topic_key
left join read_state on read_state.conversation_id = channel.id and read_state.user_id = $1
cross join lateral (
    select message.id from message where message.topic_id = topic.id
      and (channel.history_public_to_subscribers or (message.seq <@ read_state.history and upper_inf(read_state.history)))
    order by message.id desc limit 1
) as newest
"""


class NameRequest(msgspec.Struct, frozen=True):
    """The names one sender used in one message."""

    realm_id: int
    user_id: int
    person_names: frozenset[str]
    person_ids: frozenset[int]
    group_names: frozenset[str]
    asks_sender: bool


async def named(reader: Reader, requests: Sequence[NameRequest]) -> list[asyncpg.Record]:
    """What the names stand for: rows (ord, kind, id, name, is_active, is_allowed, bot_type), `ord` counted from 1."""
    numbered = list(enumerate(requests, start=1))
    columns = [
        *_pairs((ord, name) for ord, one in numbered for name in one.person_names),
        *_pairs((ord, user_id) for ord, one in numbered for user_id in one.person_ids),
        *_pairs((ord, name) for ord, one in numbered for name in one.group_names),
    ]
    asking = [ord for ord, one in numbered if one.asks_sender]
    realms, users = [one.realm_id for one in requests], [one.user_id for one in requests]
    return await reader.fetch(_NAMED, realms, users, *columns, asking)


async def members_hearing(
    reader: Reader, group_ids: Sequence[int], channel_id: int | None, participants: Sequence[int]
) -> tuple[int, ...]:
    """Who is in one of the groups, at any depth; those who are so by their role only if they can hear it."""
    return tuple(row["user_id"] for row in await reader.fetch(_MEMBERS, group_ids, channel_id, participants))


async def crowd_of(reader: Reader, sender_id: int, channel_id: int, topic_key: str) -> Crowd:
    """Whom wildcards would mention in a topic of a channel that exists."""
    row = await reader.fetchrow(_CROWD, sender_id, channel_id, topic_key)
    assert row is not None
    return Crowd(**row)


async def newest_in_topics(
    reader: Reader, user_id: int, topics: Sequence[tuple[int, str]]
) -> dict[tuple[int, str], int]:
    """The newest message in each topic (channel, key) that a user who reads these channels may see."""
    rows = await reader.fetch(_NEWEST, user_id, *_pairs(topics))
    return {(row["channel_id"], row["topic_key"]): row["id"] for row in rows}


def _pairs(pairs: Iterable[tuple[object, object]]) -> list[list[object]]:
    found = list(pairs)
    return [[pair[0] for pair in found], [pair[1] for pair in found]]
