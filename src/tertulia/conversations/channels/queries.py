"""SQL that looks for channels: one statement per function. Records are in records.py, changes in statements.py."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import asyncpg

from tertulia.conversations.channels.model import Channel, RuledChannel
from tertulia.conversations.channels.rights import (
    IS_ADMINISTRATOR,
    IS_SUBSCRIBED,
    JOINS_BY_GROUP,
    MAY_CREATE_TOPIC,
    MAY_POST,
    MAY_READ,
    MAY_READ_BY_CLIMBING,
    MAY_SEE,
    MAY_SEND,
    NOT_GUEST,
    granted,
    granted_by_realm,
)
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Reader
from tertulia.kernel.text import name_key_of
from tertulia.organization.groups.settings import CHANNEL_SETTINGS
from tertulia.organization.groups.webs.statements import climbing


class ChannelKey(NamedTuple):
    """A channel as one user names it: by id or by name key."""

    realm_id: int
    user_id: int
    channel_id: int | None
    name_key: str | None


_FACTS = f"""
channel.id, channel.realm_id, channel.name, channel.invite_only, channel.is_web_public, channel.is_archived,
channel.history_public_to_subscribers, channel.topics_policy,
{IS_SUBSCRIBED} as is_subscribed, {MAY_READ} as may_read, {MAY_SEE} as may_see, {MAY_POST} as may_post,
{MAY_SEND} as may_send, {MAY_CREATE_TOPIC} as may_create_topic
"""

# Nothing is anybody's who was turned off while they waited for the locks of what they write.
_BY_KEY = """
join channel on channel.realm_id = key.realm_id and channel.id = coalesce(
    key.channel_id, (select id from channel as named where named.realm_id = key.realm_id and named.name_key = key.name_key)
)
join account on account.id = key.user_id and account.is_active
"""
_KEYED = "key.realm_id as key_realm, key.user_id as key_user, key.channel_id as key_channel, key.name_key as key_name"
_CHANNELS_BY_KEY = f"""
select {_KEYED}, {_FACTS}
from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) as key(realm_id, user_id, channel_id, name_key)
{_BY_KEY}
"""
# Most are asked for alone: without lists it costs a quarter less, and its plan is never worth making anew.
_CHANNEL_BY_KEY = f"""
select {_KEYED}, {_FACTS}
from (select $1::bigint as realm_id, $2::bigint as user_id, $3::bigint as channel_id, $4::text as name_key) as key
{_BY_KEY}
"""

_GRANTED = ", ".join(f"case when {granted(setting)} then '{setting}' end" for setting in CHANNEL_SETTINGS)
_HOLDERS = ", ".join(f"channel.{setting}" for setting in CHANNEL_SETTINGS)

_RULED = f"""
select {_FACTS}, channel.description, channel.creator_id, channel.message_retention_days, channel.folder_id,
       channel.subscriber_count, account.role = {Role.GUEST} as is_guest, {IS_ADMINISTRATOR} as is_administrator,
       array_remove(array[{_GRANTED}], null) as granted, {granted_by_realm("can_add_subscribers_group")} as may_add_by_realm,
       {_HOLDERS}
from channel join account on account.id = $2 and account.is_active
where channel.realm_id = $1 and (channel.id = any($3::bigint[]) or channel.name_key = any($4::text[]))
order by channel.id
"""


async def channels_by_key(reader: Reader, keys: Sequence[ChannelKey]) -> dict[ChannelKey, Channel]:
    """Many channels, each with what it is to the user who names it."""
    if len(keys) == 1:
        rows = await reader.fetch(_CHANNEL_BY_KEY, *keys[0])
    else:
        rows = await reader.fetch(_CHANNELS_BY_KEY, *zip(*keys, strict=True))
    return {
        ChannelKey(row["key_realm"], row["key_user"], row["key_channel"], row["key_name"]): Channel(**_facts(row))
        for row in rows
    }


async def readable_by_name(reader: Reader, realm_id: int, user_id: int, names: Sequence[str]) -> list[tuple[int, str]]:
    """Of the channels with these names those that the user may read: id and name. Many, at the price of one climb."""
    sql = f"""
    with recursive {climbing("$2")}
    select channel.id, channel.name from channel join account on account.id = $2
    where channel.realm_id = $1 and channel.name_key = any($3::text[]) and {MAY_READ_BY_CLIMBING}
    """
    return [
        (row["id"], row["name"])
        for row in await reader.fetch(sql, realm_id, user_id, sorted(set(map(name_key_of, names))))
    ]


async def ruled_channels(
    reader: Reader, realm_id: int, user_id: int, ids: Sequence[int] = (), name_keys: Sequence[str] = ()
) -> list[RuledChannel]:
    """Channels of the realm with everything the user may do in them, by id."""
    found = []
    for row in await reader.fetch(_RULED, realm_id, user_id, ids, name_keys):
        values = dict(row)
        holders = {setting: values.pop(setting) for setting in CHANNEL_SETTINGS}
        values["granted"] = frozenset(values["granted"])
        found.append(RuledChannel(**values, holders=holders))
    return found


async def find_by_name(reader: Reader, realm_id: int, user_id: int, name: str) -> Channel | None:
    """A channel by its name, whatever it is to the user."""
    key = ChannelKey(realm_id, user_id, None, name_key_of(name))
    return (await channels_by_key(reader, [key])).get(key)


async def is_subscribed(reader: Reader, channel_id: int, user_id: int) -> bool:
    """Whether a user is subscribed to a channel."""
    sql = "select exists (select from subscription where user_id = $1 and channel_id = $2 and is_active)"
    return bool(await reader.fetchval(sql, user_id, channel_id))


async def shared_channels(reader: Reader, reader_id: int, user_id: int) -> list[int]:
    """The channels in use that a user is in and whose subscribers the reader knows, ascending."""
    sql = f"""
    select channel.id from subscription as theirs join channel on channel.id = theirs.channel_id
    join account on account.id = $1
    where theirs.user_id = $2 and theirs.is_active and not channel.is_archived
        and {MAY_SEE} and ({NOT_GUEST} or {IS_SUBSCRIBED})
    order by channel.id
    """
    return [row["id"] for row in await reader.fetch(sql, reader_id, user_id)]


async def channels_out_of_reach(reader: Reader, user_id: int, reader_id: int) -> list[int]:
    """The private channels that a user is in and somebody else cannot read, ascending."""
    sql = f"""
    select channel.id from subscription as theirs join channel on channel.id = theirs.channel_id
    join account on account.id = $2
    where theirs.user_id = $1 and theirs.is_active and channel.invite_only and not {MAY_READ}
    order by channel.id
    """
    return [row["id"] for row in await reader.fetch(sql, user_id, reader_id)]


async def bots_without_owner_inside(
    reader: Reader, channel_ids: Sequence[int], owner_ids: Sequence[int]
) -> list[tuple[int, int]]:
    """Bots, and the private channels among these they are in, which their owners could not read without a subscription."""
    sql = f"""
    select theirs.user_id, channel.id from account
    join account as bot on bot.bot_owner_id = account.id
    join subscription as theirs on theirs.user_id = bot.id and theirs.is_active
    join channel on channel.id = theirs.channel_id
    where account.id = any($2::bigint[]) and channel.id = any($1::bigint[]) and channel.invite_only
        and not ({NOT_GUEST} and {JOINS_BY_GROUP})
    order by channel.id, theirs.user_id
    """
    return [(row["user_id"], row["id"]) for row in await reader.fetch(sql, channel_ids, owner_ids)]


async def ids_by_name(reader: Reader, realm_id: int, name_keys: Sequence[str]) -> dict[str, int]:
    """The ids of channels by name key, whoever may reach them."""
    sql = "select name_key, id from channel where realm_id = $1 and name_key = any($2::text[])"
    return {row["name_key"]: row["id"] for row in await reader.fetch(sql, realm_id, name_keys)}


async def open_by_name(reader: Reader, realm_id: int, name_keys: Sequence[str]) -> dict[str, int]:
    """The same of those that are open to all members, and in use."""
    sql = """
    select name_key, id from channel
    where realm_id = $1 and name_key = any($2::text[]) and not invite_only and not is_archived
    """
    return {row["name_key"]: row["id"] for row in await reader.fetch(sql, realm_id, name_keys)}


async def topics_policy_of(reader: Reader, channel_id: int) -> str | None:
    """A channel's own policy of topics; None if it is not there or archived."""
    sql = "select topics_policy from channel where id = $1 and not is_archived"
    found: str | None = await reader.fetchval(sql, channel_id)
    return found


def _facts(row: asyncpg.Record) -> dict[str, Any]:
    return {name: row[name] for name in Channel.__struct_fields__}
