"""Channels and subscriptions as the API shows them, in a number of statements that does not depend on how many there are.

A list of records takes two: the rows, and the values of those settings that anonymous groups hold.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg
import msgspec

from tertulia.conversations.channels.model import ChannelRecord, Personal, SubscriptionRecord
from tertulia.conversations.channels.rights import MAY_SEE
from tertulia.kernel.compat import old_mute_keys, old_post_keys
from tertulia.kernel.db import Reader
from tertulia.organization.groups.holders import values_of
from tertulia.organization.groups.settings import CHANNEL_SETTINGS

_HOLDERS = ", ".join(f"channel.{setting}" for setting in CHANNEL_SETTINGS)

CHANNEL_COLUMNS = f"""
channel.id as stream_id, channel.name, channel.description, channel.rendered_description,
extract(epoch from channel.date_created)::bigint as date_created, channel.creator_id, channel.invite_only,
channel.is_web_public, channel.history_public_to_subscribers, channel.is_archived, channel.is_recently_active,
(select id from message where conversation_id = channel.id order by id limit 1) as first_message_id,
channel.message_retention_days, channel.topics_policy, channel.folder_id, channel.subscriber_count,
channel.weekly_traffic as stream_weekly_traffic, {_HOLDERS},
(select name from user_group where user_group.id = channel.can_send_message_group) as send_group
"""

PERSONAL_COLUMNS = """
subscription.color, subscription.is_muted, subscription.pin_to_top, subscription.desktop_notifications,
subscription.audible_notifications, subscription.push_notifications, subscription.email_notifications,
subscription.wildcard_mentions_notify
"""


class Own(msgspec.Struct, frozen=True):
    """A subscription of somebody, whether it is active, and whether they may (still) see the channel."""

    record: SubscriptionRecord
    is_active: bool
    may_see: bool


_SUBSCRIBERS = """
select channel_id, array_agg(user_id order by user_id) as user_ids
from subscription join account on account.id = subscription.user_id
where channel_id = any($1::bigint[]) and subscription.is_active and account.is_active group by channel_id
"""


async def subscribers_of(reader: Reader, channel_ids: Sequence[int]) -> dict[int, list[int]]:
    """The active subscribers of channels, ascending."""
    return {row["channel_id"]: row["user_ids"] for row in await reader.fetch(_SUBSCRIBERS, channel_ids)}


async def subscribers_as_json(reader: Reader, channel_ids: Sequence[int]) -> dict[int, Any]:
    """The same, written by PostgreSQL: all channels of an organization may have millions together, and to make numbers of them
    keeps everybody waiting."""
    sql = f"select channel_id, to_json(user_ids)::text as user_ids from ({_SUBSCRIBERS}) as found"
    return {row["channel_id"]: msgspec.Raw(row["user_ids"].encode()) for row in await reader.fetch(sql, channel_ids)}


async def bots_in(reader: Reader, channel_ids: Sequence[int]) -> dict[int, list[int]]:
    """The active bots among the subscribers of channels, ascending."""
    sql = """
    select subscription.channel_id, array_agg(account.id order by account.id) as user_ids
    from account join subscription on subscription.user_id = account.id
    where account.realm_id = (select realm_id from channel where id = ($1::bigint[])[1]) and account.bot_type is not null
        and account.is_active and subscription.is_active and subscription.channel_id = any($1::bigint[])
    group by subscription.channel_id
    """
    return {row["channel_id"]: row["user_ids"] for row in await reader.fetch(sql, channel_ids)}


async def channel_records(reader: Reader, channel_ids: Sequence[int]) -> list[ChannelRecord]:
    """The records of channels, by id, with nothing personal in them."""
    sql = f"select {CHANNEL_COLUMNS} from channel where channel.id = any($1::bigint[]) order by channel.id"
    return await _channels(reader, await reader.fetch(sql, channel_ids))


async def selected_records(reader: Reader, condition: str, *arguments: object) -> list[ChannelRecord]:
    """The records of the channels a condition on `channel` and `account` chooses, by name. $1 is the account's id."""
    sql = f"""
    select {CHANNEL_COLUMNS} from account join channel on channel.realm_id = account.realm_id
    where account.id = $1 and {condition} order by channel.name_key
    """
    return await _channels(reader, await reader.fetch(sql, *arguments))


async def web_public_records(reader: Reader, realm_id: int) -> list[ChannelRecord]:
    """The channels of an organization that are open to the web, by name."""
    sql = f"""
    select {CHANNEL_COLUMNS} from channel
    where channel.realm_id = $1 and channel.is_web_public and not channel.is_archived order by channel.name_key
    """
    return await _channels(reader, await reader.fetch(sql, realm_id))


async def subscriptions_of(reader: Reader, user_id: int) -> list[Own]:
    """The user's subscriptions by the channel's name, active or not."""
    sql = f"""
    select {CHANNEL_COLUMNS}, {PERSONAL_COLUMNS}, subscription.is_active, (subscription.is_active or {MAY_SEE}) as may_see
    from subscription join channel on channel.id = subscription.channel_id join account on account.id = subscription.user_id
    where subscription.user_id = $1 order by channel.name_key
    """
    found = []
    for fields in await _fields(reader, await reader.fetch(sql, user_id)):
        is_active, may_see = fields.pop("is_active"), fields.pop("may_see")
        found.append(
            Own(SubscriptionRecord(**fields, **old_mute_keys(is_muted=fields["is_muted"])), is_active, may_see)
        )
    return found


def subscription_record(channel: ChannelRecord, personal: Personal) -> SubscriptionRecord:
    """The two halves of a subscription record, put together."""
    values = msgspec.structs.asdict(channel) | msgspec.structs.asdict(personal)
    del values["channel_id"]
    return SubscriptionRecord(**values, **old_mute_keys(is_muted=personal.is_muted))


def channel_part(subscription: SubscriptionRecord) -> ChannelRecord:
    """What is not personal in a subscription record."""
    return ChannelRecord(**{name: getattr(subscription, name) for name in ChannelRecord.__struct_fields__})


def with_inherited(subscription: SubscriptionRecord, inherited: Mapping[str, bool]) -> SubscriptionRecord:
    """The record with what is inherited in the place of nothing."""
    missing = {name: value for name, value in inherited.items() if getattr(subscription, name) is None}
    return msgspec.structs.replace(subscription, **missing) if missing else subscription


async def _channels(reader: Reader, rows: Sequence[asyncpg.Record]) -> list[ChannelRecord]:
    return [ChannelRecord(**fields) for fields in await _fields(reader, rows)]


async def _fields(reader: Reader, rows: Sequence[asyncpg.Record]) -> list[dict[str, Any]]:
    """The fields of records. Somebody has hundreds of channels: names of columns are looked up once for all rows."""
    if not rows:
        return []
    names = tuple(rows[0].keys())
    first = names.index(next(iter(CHANNEL_SETTINGS)))
    holders = {holder for row in rows for holder in row[first : first + len(CHANNEL_SETTINGS)]}
    values = await values_of(reader, sorted(holders))
    found = []
    for row in rows:
        fields = dict(zip(names, row, strict=True))
        for setting in CHANNEL_SETTINGS:
            fields[setting] = values[fields[setting]]
        fields.update(old_post_keys(fields.pop("send_group")))
        found.append(fields)
    return found
