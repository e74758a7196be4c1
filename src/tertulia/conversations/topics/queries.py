"""SQL of topics and policies: one statement per function."""

from collections.abc import Collection, Mapping, Sequence

from tertulia.conversations.channels.rights import MAY_SEE
from tertulia.conversations.read_state.marks import TopicPolicy
from tertulia.conversations.topics.model import Decided, MutedList, MutedTopic, Topic, UserTopic
from tertulia.kernel.db import Reader, Transaction

_TOPIC = "topic.id, topic.conversation_id as channel_id, topic.name"

# Accounts are locked before, in a statement of its own: what `had` sees is what nobody else changes now.
_DECIDE = f"""
with wished as (
    select * from unnest($2::bigint[], $3::smallint[]) as wished(user_id, policy)
), had as (
    select user_id, policy from topic_policy where topic_id = $1 and user_id = any($2::bigint[])
), changing as (
    select wished.user_id, coalesce(had.policy, {TopicPolicy.NONE}) as old, wished.policy as new
    from wished left join had using (user_id)
    where coalesce(had.policy, {TopicPolicy.NONE}) <> wished.policy
        and coalesce(had.policy, {TopicPolicy.NONE}) <> all($4::smallint[])
), cleared as (
    delete from topic_policy using changing
    where topic_id = $1 and topic_policy.user_id = changing.user_id and changing.new = {TopicPolicy.NONE}
), stored as (
    insert into topic_policy (user_id, topic_id, policy)
    select user_id, $1, new from changing where new <> {TopicPolicy.NONE} order by user_id
    on conflict (user_id, topic_id) do update set policy = excluded.policy, updated_at = excluded.updated_at
)
select user_id, old, new, extract(epoch from now())::bigint as updated_at from changing order by user_id
"""

# Names are shown only to those who see the channel: what they decided in one that they left waits until they are back.
_DECIDED = f"""
from topic_policy join topic on topic.id = topic_policy.topic_id join channel on channel.id = topic.conversation_id
join account on account.id = topic_policy.user_id
where not channel.is_archived and {MAY_SEE}
"""

_USER_TOPICS = f"""
select topic.conversation_id as stream_id, topic.name as topic_name,
       extract(epoch from updated_at)::bigint as last_updated, policy as visibility_policy
{_DECIDED} and topic_policy.user_id = $1
order by stream_id, topic.name_key
"""

_MUTED = f"""
select channel.name as channel, topic.name as topic, extract(epoch from updated_at)::bigint as since
{_DECIDED} and topic_policy.user_id = $1 and policy = {TopicPolicy.MUTED}
order by channel.name_key, topic.name_key
"""


async def find_topic(reader: Reader, channel_id: int, name_key: str) -> Topic | None:
    """A topic by its name, with messages or without."""
    sql = f"select {_TOPIC} from topic where conversation_id = $1 and name_key = $2"
    row = await reader.fetchrow(sql, channel_id, name_key)
    return None if row is None else Topic(**row)


async def hold_topic(tx: Transaction, channel_id: int, name_key: str) -> Topic | None:
    """As `find_topic`; the topic keeps its name and stays until the commit."""
    sql = f"select {_TOPIC} from topic where conversation_id = $1 and name_key = $2 for key share"
    row = await tx.fetchrow(sql, channel_id, name_key)
    return None if row is None else Topic(**row)


async def insert_topic(tx: Transaction, channel_id: int, name: str, name_key: str) -> Topic | None:
    """Insert a topic without messages; None if somebody else has just made it."""
    # It waits for a writer of the same name, and never touches a row that is there: senders are not held up.
    sql = f"""
    insert into topic (conversation_id, name, name_key) values ($1, $2, $3)
    on conflict (conversation_id, name_key) do nothing returning {_TOPIC}
    """
    row = await tx.fetchrow(sql, channel_id, name, name_key)
    return None if row is None else Topic(**row)


async def find_decided_topic(
    tx: Transaction, user_id: int, realm_id: int, channel: tuple[int | None, str | None], name_key: str
) -> Topic | None:
    """A topic the user has a policy for, in a channel named by id or by name key, which they need not see any more."""
    sql = f"""
    select {_TOPIC} from topic_policy join topic on topic.id = topic_policy.topic_id
    join channel on channel.id = topic.conversation_id
    where topic_policy.user_id = $1 and channel.realm_id = $2 and (channel.id = $3 or channel.name_key = $4)
      and topic.name_key = $5
    for key share of topic
    """
    row = await tx.fetchrow(sql, user_id, realm_id, *channel, name_key)
    return None if row is None else Topic(**row)


async def has_known(tx: Transaction, user_id: int, realm_id: int, channel: tuple[int | None, str | None]) -> bool:
    """Whether the user is or was subscribed to the channel, or has a policy in it: its existence is no news to them."""
    sql = """
    select exists (
        select from channel where realm_id = $2 and (id = $3 or name_key = $4) and (
            exists (select from subscription where user_id = $1 and channel_id = channel.id)
            or exists (
                select from topic join topic_policy on topic_policy.topic_id = topic.id
                where topic.conversation_id = channel.id and topic_policy.user_id = $1
            )
        )
    )
    """
    return bool(await tx.fetchval(sql, user_id, realm_id, *channel))


async def decide(
    tx: Transaction, topic_id: int, chosen: Mapping[int, TopicPolicy], keep: Collection[TopicPolicy]
) -> list[Decided]:
    """Set the policies of users on one topic, except of those whose policy is among `keep`; returns what changed."""
    users, policies = list(chosen), list(chosen.values())
    return [Decided(**row) for row in await tx.fetch(_DECIDE, topic_id, users, policies, list(keep))]


async def lock_deciders(tx: Transaction, user_ids: Sequence[int]) -> None:
    """Hold accounts, in the order of their ids."""
    await tx.fetch("select id from account where id = any($1::bigint[]) order by id for no key update", user_ids)


async def renew_policies(tx: Transaction, topic_id: int) -> int:
    """All policies of a topic are as of now: it has another name; the time."""
    sql = "update topic_policy set updated_at = now() where topic_id = $1"
    await tx.execute(sql, topic_id)
    return int(await tx.fetchval("select extract(epoch from now())::bigint"))


async def user_topics(reader: Reader, user_id: int) -> list[UserTopic]:
    """The policies of a user in channels they see, archived ones left out."""
    return [UserTopic(**row) for row in await reader.fetch(_USER_TOPICS, user_id)]


async def muted_topics(reader: Reader, user_id: int) -> list[MutedTopic]:
    """The muted topics of a user in channels they see."""
    return [tuple(row) for row in await reader.fetch(_MUTED, user_id)]


async def count_muted(reader: Reader, user_ids: Sequence[int], most: int) -> int:
    """How many topics users mute together; one more than `most` if there are more."""
    sql = f"""
    select count(*) from (
        select from topic_policy where user_id = any($1::bigint[]) and policy = {TopicPolicy.MUTED} limit $2 + 1
    ) as muted
    """
    return int(await reader.fetchval(sql, user_ids, most))


async def muted_lists(reader: Reader, user_ids: Sequence[int]) -> list[MutedList]:
    """The same of each of them. PostgreSQL writes the JSON: of a topic that thousands mute these are very many."""
    sql = f"""
    select wanted.user_id, coalesce(listed.topics, '[]') as topics, coalesce(has_empty, false) as has_empty
    from unnest($1::bigint[]) as wanted(user_id) left join (
        select user_id, json_agg(json_build_array(channel, topic, since) order by channel_key, topic_key)::text as topics,
            bool_or(topic = '') as has_empty
        from (
            select topic_policy.user_id, channel.name as channel, topic.name as topic, channel.name_key as channel_key,
                topic.name_key as topic_key, extract(epoch from updated_at)::bigint as since
            {_DECIDED} and topic_policy.user_id = any($1::bigint[]) and policy = {TopicPolicy.MUTED}
        ) as muted group by user_id
    ) as listed using (user_id) order by wanted.user_id
    """
    return [MutedList(*row) for row in await reader.fetch(sql, user_ids)]


_LISTED = """
select coalesce(json_agg(json_build_object('name', case name when '' then $2 else name end, 'max_id', id) order by id desc),
    '[]')::text
from ({}) as listed
"""
"""PostgreSQL writes the JSON: a channel may have a million topics, and to make objects of them keeps everybody waiting."""


async def list_topics(reader: Reader, channel_id: int, empty: str) -> bytes:
    """The topics of a channel that have messages, each with its newest one, newest first, as JSON. `empty`: what the topic
    without a name is called."""
    listed = """
    select topic.name, message.id from topic
    join message on message.conversation_id = topic.conversation_id and message.seq = topic.last_seq
    where topic.conversation_id = $1 and topic.last_seq > 0
    """
    return str(await reader.fetchval(_LISTED.format(listed), channel_id, empty)).encode()


async def list_received_topics(reader: Reader, channel_id: int, empty: str, user_id: int) -> bytes:
    """As `list_topics`, of the messages that the user received; nothing unless they are subscribed."""
    listed = """
    select topic.name, newest.id from read_state join topic on topic.conversation_id = read_state.conversation_id
    cross join lateral (
        select id from message where message.topic_id = topic.id and message.seq <@ read_state.history
        order by id desc limit 1
    ) as newest
    where read_state.conversation_id = $1 and read_state.user_id = $3 and upper_inf(read_state.history)
    """
    return str(await reader.fetchval(_LISTED.format(listed), channel_id, empty, user_id)).encode()


async def is_web_public(reader: Reader, realm_id: int, channel_id: int) -> bool:
    """Whether a channel of the realm is web-public, and in use."""
    sql = "select exists (select from channel where id = $2 and realm_id = $1 and is_web_public and not is_archived)"
    return bool(await reader.fetchval(sql, realm_id, channel_id))
