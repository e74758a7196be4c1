"""SQL that changes channels and who belongs to them: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.channels.model import Personal
from tertulia.kernel.db import Transaction


class Joined(msgspec.Struct, frozen=True):
    """A subscription that has just become active."""

    user_id: int
    channel_id: int


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
