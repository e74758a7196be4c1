"""The weekly traffic of channels, and which are active: computed by the worker, so that listing channels never counts messages.

A conversation numbers its messages, so what was sent since a day is the difference of two numbers. `channel_day` has the
last number of each channel at the start of a day, with a row only for days on which it differs. The results are computed
once a day and stored in the channel's row.
"""

from datetime import UTC, date, datetime

import msgspec

from tertulia.conversations.channels.changing.events import KNOWS_ARCHIVED
from tertulia.conversations.channels.events import audience_of
from tertulia.conversations.channels.records import channel_records
from tertulia.conversations.channels.rules import weekly_traffic
from tertulia.events.log.record import record
from tertulia.kernel.db import Database, Transaction
from tertulia.organization.groups.seers import seers_of

COUNTED_DAYS = 28
ACTIVE_DAYS = 180

_INSERT_DAY = """
insert into channel_day (channel_id, day, last_seq)
select channel.id, $1, conversation.last_seq from channel join conversation on conversation.id = channel.id
where not exists (select from channel_day where channel_id = channel.id and channel_day.last_seq = conversation.last_seq)
on conflict do nothing
"""

_COUNTED = """
select channel.id, channel.weekly_traffic, $1::date - (channel.date_created at time zone 'UTC')::date as age_days,
    conversation.last_seq - coalesce((
        select last_seq from channel_day where channel_id = channel.id and day <= $1::date - $2::int
        order by day desc limit 1
    ), 0) as sent
from channel join conversation on conversation.id = channel.id
"""

_SET_TRAFFIC = """
with held as (
    select channel.id, counted.traffic from channel
    join unnest($1::bigint[], $2::int[]) as counted(id, traffic) on counted.id = channel.id
    order by channel.id for no key update of channel
)
update channel set weekly_traffic = held.traffic from held where channel.id = held.id
"""

# Only the newest row before the days that are counted is ever looked at again.
_FORGET = """
delete from channel_day using (
    select channel_id, max(day) as day from channel_day where day <= $1::date - $2::int group by channel_id
) as kept
where channel_day.channel_id = kept.channel_id and channel_day.day < kept.day
"""

_SET_ACTIVITY = """
with judged as (
    select channel.id, (
        channel.date_created > now() - make_interval(days => $1) or coalesce((
            select sent_at from message where conversation_id = channel.id order by message.id desc limit 1
        ) > now() - make_interval(days => $1), false)
    ) as is_active
    from channel where $2 or not channel.is_recently_active
), changed as (
    select channel.id, judged.is_active from channel join judged using (id)
    where channel.is_recently_active <> judged.is_active order by channel.id for no key update of channel
)
update channel set is_recently_active = changed.is_active from changed where channel.id = changed.id
returning channel.id, channel.realm_id
"""


async def count_traffic(database: Database, today: date | None = None) -> int:
    """Once a day: the traffic, and which channels became inactive. In between: which became active again."""
    today = today or datetime.now(UTC).date()
    async with database.transaction() as tx:
        is_new_day = not await tx.fetchval("select exists (select from channel_day where day = $1)", today)
        changed = await _count(tx, today) if is_new_day else 0
        return changed + await _update_activity(tx, everything=is_new_day)


async def _count(tx: Transaction, today: date) -> int:
    await tx.execute(_INSERT_DAY, today)
    rows = await tx.fetch(_COUNTED, today, COUNTED_DAYS)
    counted = {row["id"]: (row["weekly_traffic"], weekly_traffic(row["sent"], row["age_days"])) for row in rows}
    changed = {channel: now for channel, (before, now) in sorted(counted.items()) if before != now}
    if changed:
        await tx.execute(_SET_TRAFFIC, list(changed), list(changed.values()))
    await tx.execute(_FORGET, today, COUNTED_DAYS)
    return len(changed)


async def _update_activity(tx: Transaction, *, everything: bool) -> int:
    rows = await tx.fetch(_SET_ACTIVITY, ACTIVE_DAYS, everything)
    realms = {row["id"]: row["realm_id"] for row in rows}
    channels = await channel_records(tx, list(realms)) if realms else []
    seers = await seers_of(tx, [channel.stream_id for channel in channels if channel.invite_only])
    for channel in channels:
        to = audience_of(channel, seers.get(channel.stream_id, ()))
        if channel.is_archived:
            to = msgspec.structs.replace(to, needs=KNOWS_ARCHIVED)
        event = {
            "op": "update",
            "stream_id": channel.stream_id,
            "name": channel.name,
            "property": "is_recently_active",
            "value": channel.is_recently_active,
        }
        tx.emit(realms[channel.stream_id], record(to, "stream", event))
    return len(rows)
