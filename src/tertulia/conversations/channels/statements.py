"""SQL that changes channels and who belongs to them: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.conversations.channels.creation import NewChannel
from tertulia.conversations.channels.model import PALETTE, Personal
from tertulia.conversations.channels.properties.rules import INHERITED
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.locking import lock_all
from tertulia.organization.groups.settings import CHANNEL_SETTINGS
from tertulia.people.preferences.model import UserSettings


class Joined(msgspec.Struct, frozen=True):
    """A subscription that has just become active."""

    user_id: int
    channel_id: int


class ChannelRow(msgspec.Struct, frozen=True):
    """A channel to be stored, with the holder of each of its settings."""

    name: str
    name_key: str
    description: str
    rendered_description: str
    holders: dict[str, int]


_SETTINGS = ", ".join(CHANNEL_SETTINGS)
_HOLDER_ARRAYS = ", ".join(f"${number}::bigint[]" for number in range(14, 14 + len(CHANNEL_SETTINGS)))

_INSERT_CHANNELS = f"""
with wanted as (
    select *, row_number() over (order by name_key) as number
    from unnest($10::text[], $11::text[], $12::text[], $13::text[], {_HOLDER_ARRAYS})
        as row(name, name_key, description, rendered_description, {_SETTINGS})
    where not exists (select from channel where channel.realm_id = $1 and channel.name_key = row.name_key)
), spoken as (
    insert into conversation (realm_id) select $1 from wanted returning id
), numbered as (
    select id, row_number() over (order by id) as number from spoken
), made as (
    insert into channel (
        id, realm_id, creator_id, invite_only, is_web_public, history_public_to_subscribers, message_retention_days,
        topics_policy, folder_id, name, name_key, description, rendered_description, {_SETTINGS}
    )
    select numbered.id, $1, $2, $3, $4, $5, $6, $7, $8, name, name_key, description, rendered_description, {_SETTINGS}
    from wanted join numbered using (number) order by name_key
    on conflict (realm_id, name_key) do nothing
    returning id, name_key
), defaults as (
    insert into default_channel (channel_id, realm_id) select id, $1 from made where $9
)
select spoken.id, made.name_key from spoken left join made using (id)
"""


async def insert_channels(
    tx: Transaction, realm_id: int, creator_id: int | None, new: NewChannel, rows: Sequence[ChannelRow]
) -> dict[str, int]:
    """Insert channels; returns their ids by name key, without names that are taken. Waits for concurrent inserts of a name."""
    texts = [(row.name, row.name_key, row.description, row.rendered_description) for row in rows]
    found = await tx.fetch(
        _INSERT_CHANNELS,
        realm_id,
        creator_id,
        new.invite_only,
        new.is_web_public,
        new.shares_history,
        new.retention_days,
        new.topics_policy,
        new.folder_id,
        new.is_default,
        *zip(*texts, strict=True),
        *([row.holders[setting] for row in rows] for setting in CHANNEL_SETTINGS),
    )
    lost = [row["id"] for row in found if row["name_key"] is None]
    if lost:
        await tx.execute("delete from conversation where id = any($1::bigint[])", lost)
    return {row["name_key"]: row["id"] for row in found if row["name_key"] is not None}


async def default_channels(reader: Reader, realm_id: int) -> list[int]:
    """The channels newcomers are subscribed to, ascending."""
    sql = "select channel_id from default_channel where realm_id = $1 order by channel_id"
    return [row["channel_id"] for row in await reader.fetch(sql, realm_id)]


async def insert_default(tx: Transaction, realm_id: int, channel_id: int) -> bool:
    """Make a channel a default one; returns whether it was none."""
    sql = "insert into default_channel (realm_id, channel_id) values ($1, $2) on conflict do nothing returning true"
    return bool(await tx.fetchval(sql, realm_id, channel_id))


async def delete_default(tx: Transaction, channel_id: int) -> bool:
    """Make a channel no default one any more; returns whether it was one."""
    return bool(await tx.fetchval("delete from default_channel where channel_id = $1 returning true", channel_id))


async def is_administrator(reader: Reader, user_id: int) -> bool:
    """Whether a user administers the organization now."""
    return bool(
        await reader.fetchval(f"select role <= {Role.ADMINISTRATOR} from account where id = $1 and is_active", user_id)
    )


_LOCK_CONVERSATIONS = "select id, last_seq from conversation where id = any($1::bigint[]) order by id for share"


async def lock_conversations(tx: Transaction, conversation_ids: Sequence[int]) -> None:
    """Hold senders back until the commit."""
    if len(conversation_ids) < 2:
        await tx.fetch(_LOCK_CONVERSATIONS, conversation_ids)
    else:
        await lock_all(tx, _LOCK_CONVERSATIONS, conversation_ids)


async def last_seqs(tx: Transaction, conversation_ids: Sequence[int]) -> dict[int, int]:
    """The number of the last message of each conversation, for whoever holds them; one that got the name of another just
    before that was held is held now."""
    return {row["id"]: row["last_seq"] for row in await tx.fetch(_LOCK_CONVERSATIONS, conversation_ids)}


# Held, so that none of them is deactivated, comes back or gets another role before the commit: the numbers of subscribers
# count active ones, and guests hear of a channel when they come into it.
_HELD_USERS = """
(select id as user_id from account where id = any($2::bigint[]) and is_active order by id for key share) as held
"""


# Beyond so many subscriptions of a user the colours in use are not looked at: the palette is long used up.
_COLORS_LOOKED_AT = 64

_ACTIVATE = f"""
with held as materialized (select user_id from {_HELD_USERS}),
free as (
    select held.user_id, array(
        select palette.color from unnest($4::text[]) with ordinality as palette(color, number)
        where palette.color not in (
            select own.color from subscription as own where own.user_id = held.user_id limit {_COLORS_LOOKED_AT}
        ) order by number
    ) as colors
    from held
), wanted as (
    select held.user_id, chosen.channel_id, chosen.color,
        row_number() over (partition by held.user_id order by chosen.channel_id) as number
    from unnest($1::bigint[], $3::text[]) as chosen(channel_id, color) cross join held
    where not exists (
        select from subscription as old where old.user_id = held.user_id and old.channel_id = chosen.channel_id
    )
), made as (
    insert into subscription (user_id, channel_id, color)
    select user_id, channel_id, coalesce(
        wanted.color, free.colors[wanted.number], ($4::text[])[wanted.channel_id % cardinality($4::text[]) + 1]
    )
    from wanted join free using (user_id) order by channel_id, user_id
    on conflict (user_id, channel_id) do nothing
    returning user_id, channel_id
), returned as (
    update subscription set is_active = true from (
        select old.user_id, old.channel_id from subscription as old join held using (user_id)
        where old.channel_id = any($1::bigint[]) and not old.is_active
        order by old.channel_id, old.user_id for no key update of old
    ) as old
    where subscription.user_id = old.user_id and subscription.channel_id = old.channel_id
    returning subscription.user_id, subscription.channel_id
)
select user_id, channel_id from made union all select user_id, channel_id from returned
"""


async def activate_subscriptions(
    tx: Transaction, channel_ids: Sequence[int], user_ids: Sequence[int], colors: Sequence[str | None]
) -> list[Joined]:
    """Subscribe each active user to each channel; returns those that were not subscribed.

    New rows get the chosen colour, or the first of the palette that the user does not have yet; old rows keep theirs.
    """
    rows = await tx.fetch(_ACTIVATE, channel_ids, user_ids, colors, PALETTE)
    return [Joined(row["user_id"], row["channel_id"]) for row in rows]


async def guests_among(tx: Transaction, user_ids: Sequence[int]) -> set[int]:
    """Which of these users are guests."""
    sql = f"select id from account where id = any($1::bigint[]) and role = {Role.GUEST}"
    return {row["id"] for row in await tx.fetch(sql, user_ids)}


class Alike(msgspec.Struct, frozen=True):
    """Users with the same personal settings in a channel, and what those of them inherit that are not set."""

    personal: Personal
    inherited: dict[str, bool]
    user_ids: tuple[int, ...]


_INHERITED = ", ".join(
    f"coalesce((account.settings->>'{source}')::boolean, {str(getattr(UserSettings(), source)).lower()}) as own_{name}"
    for name, source in INHERITED.items()
)
_ALIKE = f"""
select channel_id, color, is_muted, pin_to_top, desktop_notifications, audible_notifications, push_notifications,
       email_notifications, wildcard_mentions_notify, {_INHERITED}, array_agg(user_id order by user_id) as user_ids
from subscription join unnest($1::bigint[], $2::bigint[]) as wanted(channel_id, user_id) using (channel_id, user_id)
join account on account.id = user_id
group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 order by channel_id, min(user_id)
"""


async def alike_subscriptions(tx: Transaction, users_of: dict[int, tuple[int, ...]]) -> list[Alike]:
    """The users' personal settings in the channels, users with the same ones together."""
    pairs = [(channel, user) for channel, users in users_of.items() for user in users]
    found = []
    for row in await tx.fetch(_ALIKE, *zip(*pairs, strict=True)):
        values = dict(row)
        users = tuple(values.pop("user_ids"))
        inherited = {name: values.pop(f"own_{name}") for name in INHERITED}
        found.append(Alike(Personal(**values), inherited, users))
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
    tx: Transaction, channel_ids: Sequence[int], user_ids: Sequence[int], pairs: Sequence[Joined] = ()
) -> list[Joined]:
    """Unsubscribe active users; returns those that were subscribed. `pairs`: users who leave some of the channels only."""
    sql = f"""
    with held as materialized (select user_id from {_HELD_USERS})
    update subscription set is_active = false from (
        select own.user_id, own.channel_id from subscription as own join held using (user_id)
        where own.channel_id = any($1::bigint[]) and own.is_active and (own.user_id = any($3::bigint[])
            or (own.user_id, own.channel_id) in (select * from unnest($4::bigint[], $5::bigint[])))
        order by own.channel_id, own.user_id for no key update of own
    ) as own
    where subscription.user_id = own.user_id and subscription.channel_id = own.channel_id
    returning subscription.user_id, subscription.channel_id
    """
    users, channels = [pair.user_id for pair in pairs], [pair.channel_id for pair in pairs]
    rows = await tx.fetch(sql, channel_ids, [*user_ids, *users], user_ids, users, channels)
    return [Joined(**row) for row in rows]


async def close_histories(tx: Transaction, left: Sequence[Joined], last_seqs: dict[int, int]) -> None:
    """What is sent from here on is not theirs."""
    sql = """
    update read_state set history = history - int8multirange(int8range(gone.last_seq + 1, null))
    from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as gone(conversation_id, user_id, last_seq)
    where read_state.conversation_id = gone.conversation_id and read_state.user_id = gone.user_id
    """
    channels = [row.channel_id for row in left]
    await tx.execute(sql, channels, [row.user_id for row in left], [last_seqs[channel] for channel in channels])


async def lock_private_conversations(tx: Transaction, bot_id: int) -> None:
    """Hold senders back, until the commit, in a bot's direct conversations and private channels."""
    sql = """
    select conversation.id from read_state join account on account.id = read_state.user_id
    join conversation on conversation.id = read_state.conversation_id
    left join channel on channel.id = conversation.id
    where read_state.user_id = $1 and account.bot_type is not null and (channel.id is null or channel.invite_only)
    order by conversation.id for share of conversation
    """
    await tx.fetch(sql, bot_id)


async def forget_private_history(tx: Transaction, bot_id: int) -> None:
    """Of direct conversations, and of channels whose history is protected, only what is sent from here on is the bot's."""
    sql = """
    update read_state set history = history * int8multirange(int8range(held.last_seq + 1, null)) from (
        select conversation.id, conversation.last_seq from read_state as own
        join conversation on conversation.id = own.conversation_id left join channel on channel.id = conversation.id
        where own.user_id = $1 and (channel.id is null or not channel.history_public_to_subscribers)
        order by conversation.id, own.user_id for no key update of own
    ) as held
    where read_state.conversation_id = held.id and read_state.user_id = $1
    """
    await tx.execute(sql, bot_id)


async def add_to_subscriber_counts(tx: Transaction, changes: dict[int, int]) -> None:
    """Change the stored numbers of subscribers."""
    sql = """
    update channel set subscriber_count = subscriber_count + held.change
    from (
        select channel.id, changed.change from channel
        join unnest($1::bigint[], $2::int[]) as changed(id, change) on changed.id = channel.id
        order by channel.id for no key update of channel
    ) as held
    where channel.id = held.id
    """
    await tx.execute(sql, list(changes), list(changes.values()))


async def name_of(reader: Reader, user_id: int) -> str:
    """The name of an account that exists."""
    return str(await reader.fetchval("select full_name from account where id = $1", user_id))
