"""SQL of the channels feature: one statement per function."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from tertulia.channels.model import Channel, ChannelRecord, Personal, SubscriptionRecord
from tertulia.groups.queries import holds
from tertulia.kernel.db import Reader, Transaction


class ChannelKey(NamedTuple):
    """A channel as one user names it: by id or by name key."""

    realm_id: int
    user_id: int
    channel_id: int | None
    name_key: str | None


class Joined(msgspec.Struct, frozen=True):
    """A subscription that has just become active."""

    user_id: int
    channel_id: int


_CHANNEL_RECORD = """
channel.id as stream_id, channel.name, channel.description, channel.rendered_description,
extract(epoch from channel.date_created)::bigint as date_created, channel.creator_id, channel.invite_only,
channel.is_web_public, channel.history_public_to_subscribers, channel.is_archived, true as is_recently_active,
(select id from message where conversation_id = channel.id order by id limit 1) as first_message_id,
channel.message_retention_days, channel.topics_policy, channel.folder_id, channel.subscriber_count,
null::int as stream_weekly_traffic,
case send_group.name when 'role:administrators' then 2 when 'role:fullmembers' then 3 when 'role:moderators' then 4
    else 1 end as stream_post_policy,
send_group.name = 'role:administrators' as is_announcement_only,
channel.can_add_subscribers_group, channel.can_administer_channel_group, channel.can_create_topic_group,
channel.can_delete_any_message_group, channel.can_delete_own_message_group,
channel.can_move_messages_out_of_channel_group, channel.can_move_messages_within_channel_group,
channel.can_remove_subscribers_group, channel.can_resolve_topics_group, channel.can_send_message_group,
channel.can_subscribe_group
"""

_PERSONAL = """
subscription.color, subscription.is_muted, not subscription.is_muted as in_home_view, subscription.pin_to_top,
subscription.desktop_notifications, subscription.audible_notifications, subscription.push_notifications,
subscription.email_notifications, subscription.wildcard_mentions_notify
"""

_CHANNELS_BY_KEY = f"""
select key.realm_id as key_realm, key.user_id as key_user, key.channel_id as key_channel, key.name_key as key_name,
       channel.id, channel.name, invite_only, is_web_public, is_archived, history_public_to_subscribers, topics_policy,
       coalesce(subscription.is_active, false) as is_subscribed, {holds("sending", "account")} as may_post
from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) as key(realm_id, user_id, channel_id, name_key)
join channel on channel.realm_id = key.realm_id and channel.id = coalesce(
    key.channel_id, (select id from channel as named where named.realm_id = key.realm_id and named.name_key = key.name_key)
)
join user_group as sending on sending.id = channel.can_send_message_group
join account on account.id = key.user_id
left join subscription on subscription.user_id = key.user_id and subscription.channel_id = channel.id
"""

_SUBSCRIPTIONS = f"""
select {_CHANNEL_RECORD}, {_PERSONAL}, subscription.is_active
from subscription join channel on channel.id = subscription.channel_id
join user_group as send_group on send_group.id = channel.can_send_message_group
where subscription.user_id = $1 and ($2::bigint[] is null or channel.id = any($2))
order by channel.name_key
"""

_NEVER_SUBSCRIBED = f"""
select {_CHANNEL_RECORD}
from channel join user_group as send_group on send_group.id = channel.can_send_message_group
where channel.realm_id = $1 and (channel.is_web_public or (not channel.invite_only and not $3)) and not channel.is_archived
  and not exists (select from subscription where user_id = $2 and channel_id = channel.id)
order by channel.name_key
"""

_CHANNEL_RECORDS = f"""
select {_CHANNEL_RECORD}
from channel join user_group as send_group on send_group.id = channel.can_send_message_group
where channel.id = any($1::bigint[]) order by channel.id
"""


async def channels_by_key(reader: Reader, keys: Sequence[ChannelKey]) -> dict[ChannelKey, Channel]:
    """Many channels, each with what it is to the user who names it."""
    columns = list(zip(*keys, strict=True))
    rows = await reader.fetch(_CHANNELS_BY_KEY, *columns)
    return {
        ChannelKey(row["key_realm"], row["key_user"], row["key_channel"], row["key_name"]): Channel(
            id=row["id"],
            name=row["name"],
            invite_only=row["invite_only"],
            is_web_public=row["is_web_public"],
            is_archived=row["is_archived"],
            history_public_to_subscribers=row["history_public_to_subscribers"],
            topics_policy=row["topics_policy"],
            is_subscribed=row["is_subscribed"],
            may_post=row["may_post"],
        )
        for row in rows
    }


async def subscriptions_of(
    reader: Reader, user_id: int, channel_ids: Sequence[int] | None = None
) -> list[tuple[SubscriptionRecord, bool]]:
    """The user's channels by name, each with whether the subscription is active."""
    found = []
    for row in await reader.fetch(_SUBSCRIPTIONS, user_id, channel_ids):
        values = dict(row)
        is_active = values.pop("is_active")
        found.append((SubscriptionRecord(**values), is_active))
    return found


async def never_subscribed(reader: Reader, realm_id: int, user_id: int, *, is_guest: bool) -> list[ChannelRecord]:
    """Channels the user can see but never was in."""
    rows = await reader.fetch(_NEVER_SUBSCRIBED, realm_id, user_id, is_guest)
    return [ChannelRecord(**row) for row in rows]


async def channel_records(reader: Reader, channel_ids: Sequence[int]) -> list[ChannelRecord]:
    """The records of channels, by id, with nothing personal in them."""
    return [ChannelRecord(**row) for row in await reader.fetch(_CHANNEL_RECORDS, channel_ids)]


async def subscribers_of(reader: Reader, channel_ids: Sequence[int]) -> dict[int, list[int]]:
    """The active subscribers of channels, ascending."""
    sql = """
    select channel_id, array_agg(user_id order by user_id) as user_ids
    from subscription join account on account.id = subscription.user_id
    where channel_id = any($1::bigint[]) and subscription.is_active and account.is_active group by channel_id
    """
    return {row["channel_id"]: row["user_ids"] for row in await reader.fetch(sql, channel_ids)}


async def insert_channel(
    tx: Transaction,
    realm_id: int,
    name: tuple[str, str],
    creator_id: int | None,
    description: str,
    *,
    invite_only: bool,
) -> int | None:
    """A new channel with the default permissions; None if the name is taken."""
    sql = """
    with spoken as (
        insert into conversation (realm_id)
        select $1 where not exists (select from channel where realm_id = $1 and name_key = $3) returning id
    ), system as (
        select name, id from user_group where realm_id = $1 and is_system
    ), nobody as (select id from system where name = 'role:nobody'),
    everyone as (select id from system where name = 'role:everyone'),
    administrators as (select id from system where name = 'role:administrators')
    insert into channel (
        id, realm_id, name, name_key, creator_id, description, rendered_description, invite_only,
        history_public_to_subscribers,
        can_add_subscribers_group, can_administer_channel_group, can_create_topic_group, can_delete_any_message_group,
        can_delete_own_message_group, can_move_messages_out_of_channel_group, can_move_messages_within_channel_group,
        can_remove_subscribers_group, can_resolve_topics_group, can_send_message_group, can_subscribe_group
    )
    select spoken.id, $1, $2, $3, $4, $5, $6, $7, not $7,
        nobody.id, nobody.id, everyone.id, nobody.id, nobody.id, nobody.id, nobody.id, administrators.id, nobody.id,
        everyone.id, nobody.id
    from spoken, nobody, everyone, administrators
    on conflict (realm_id, name_key) do nothing
    returning id
    """
    rendered = f"<p>{description}</p>" if description else ""
    found = await tx.fetchval(sql, realm_id, *name, creator_id, description, rendered, invite_only)
    return None if found is None else int(found)


async def lock_conversations(tx: Transaction, conversation_ids: Sequence[int]) -> dict[int, int]:
    """Hold senders back until the commit; the number of the last message of each conversation."""
    sql = "select id, last_seq from conversation where id = any($1::bigint[]) order by id for share"
    return {row["id"]: row["last_seq"] for row in await tx.fetch(sql, conversation_ids)}


# Held, so that none of them is deactivated or comes back before the commit: the numbers of subscribers count active ones.
_HELD_USERS = """
(select id as user_id from account where id = any($2::bigint[]) and is_active order by id for share) as held
"""


async def activate_subscriptions(
    tx: Transaction, channel_ids: Sequence[int], user_ids: Sequence[int], colors: Sequence[str]
) -> list[Joined]:
    """Subscribe each active user to each channel; those that were not subscribed."""
    sql = f"""
    insert into subscription (user_id, channel_id, color)
    select user_id, channel_id, color
    from unnest($1::bigint[], $3::text[]) as wanted(channel_id, color), {_HELD_USERS}
    order by channel_id, user_id
    on conflict (user_id, channel_id) do update set is_active = true where not subscription.is_active
    returning user_id, channel_id
    """
    return [Joined(**row) for row in await tx.fetch(sql, channel_ids, user_ids, colors)]


async def alike_subscriptions(
    tx: Transaction, users_of: dict[int, tuple[int, ...]]
) -> list[tuple[Personal, tuple[int, ...]]]:
    """The users' personal settings in the channels, users with the same ones together."""
    sql = """
    select channel_id, color, is_muted, pin_to_top, desktop_notifications, audible_notifications, push_notifications,
           email_notifications, wildcard_mentions_notify, array_agg(user_id order by user_id) as user_ids
    from subscription join unnest($1::bigint[], $2::bigint[]) as wanted(channel_id, user_id) using (channel_id, user_id)
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9 order by channel_id, min(user_id)
    """
    pairs = [(channel, user) for channel, users in users_of.items() for user in users]
    found = []
    for row in await tx.fetch(sql, *zip(*pairs, strict=True)):
        values = dict(row)
        users = tuple(values.pop("user_ids"))
        found.append((Personal(**values), users))
    return found


async def open_histories(tx: Transaction, joined: Sequence[Joined], last_seqs: dict[int, int]) -> None:
    """Everything from here on is theirs, and everything before counts as read: clients forgot it when they left."""
    sql = """
    insert into read_state (conversation_id, user_id, read, history)
    select conversation_id, user_id, int8multirange(int8range(1, last_seq + 1)),
           int8multirange(int8range(last_seq + 1, null))
    from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as joined(conversation_id, user_id, last_seq)
    order by conversation_id, user_id
    on conflict (conversation_id, user_id) do update
    set read = read_state.read + excluded.read, history = read_state.history + excluded.history
    """
    channels = [row.channel_id for row in joined]
    await tx.execute(sql, channels, [row.user_id for row in joined], [last_seqs[channel] for channel in channels])


async def deactivate_subscriptions(
    tx: Transaction, channel_ids: Sequence[int], user_ids: Sequence[int]
) -> list[Joined]:
    """Unsubscribe active users; those that were subscribed."""
    sql = f"""
    update subscription set is_active = false from {_HELD_USERS}
    where channel_id = any($1::bigint[]) and subscription.user_id = held.user_id and subscription.is_active
    returning subscription.user_id, channel_id
    """
    return [Joined(**row) for row in await tx.fetch(sql, channel_ids, user_ids)]


async def close_histories(tx: Transaction, left: Sequence[Joined], last_seqs: dict[int, int]) -> None:
    """What is sent from here on is not theirs."""
    sql = """
    update read_state set history = history - int8multirange(int8range(gone.last_seq + 1, null))
    from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as gone(conversation_id, user_id, last_seq)
    where read_state.conversation_id = gone.conversation_id and read_state.user_id = gone.user_id
    """
    channels = [row.channel_id for row in left]
    await tx.execute(sql, channels, [row.user_id for row in left], [last_seqs[channel] for channel in channels])


async def add_to_subscriber_counts(tx: Transaction, changes: dict[int, int]) -> None:
    """Change the stored numbers of subscribers."""
    sql = """
    update channel set subscriber_count = subscriber_count + change
    from unnest($1::bigint[], $2::int[]) as changed(id, change) where channel.id = changed.id
    """
    await tx.execute(sql, list(changes), list(changes.values()))
