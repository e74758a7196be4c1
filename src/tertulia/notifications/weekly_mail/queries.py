"""SQL of digests: one statement per function."""

from tertulia.conversations.read_state.marks import TopicPolicy
from tertulia.conversations.read_state.statements import muting
from tertulia.kernel.db import Transaction
from tertulia.notifications.weekly_mail.model import Busy, Step

_WANTED = "is_active and settings @> '{\"digest_emails_enabled\": true}'"


async def begin_runs(tx: Transaction) -> None:
    """Today's runs of the organizations that want digests on this day of the week (in UTC, 0 is Monday)."""
    sql = f"""
    insert into digest_run (realm_id, day, after_user)
    select id, today, 0 from realm, (select (now() at time zone 'UTC')::date as today) as day
    where {_WANTED} and coalesce((settings->>'digest_weekday')::int, 1) = extract(isodow from today) - 1
    on conflict (realm_id) do update set day = excluded.day, after_user = 0 where digest_run.day < excluded.day
    """
    await tx.execute(sql)


async def next_run(tx: Transaction) -> int | None:
    """An organization whose digests are being made, by nobody at this moment.

    That whose last turn was longest ago: however large one is, the others do not wait for its end.
    """
    sql = """
    select realm_id from digest_run where after_user is not null
    order by served nulls first, realm_id limit 1 for update skip locked
    """
    found: int | None = await tx.fetchval(sql)
    return found


async def claim_run(tx: Transaction, realm_id: int) -> int | None:
    """Up to which person an organization's digests are made; nobody else goes on until the commit. None: they are all made, or
    somebody else goes on with them."""
    sql = "select after_user from digest_run where realm_id = $1 for update skip locked"
    found: int | None = await tx.fetchval(sql, realm_id)
    return found


async def next_people(tx: Transaction, realm_id: int, after: int, limit: int, days: int) -> Step:
    """The next people of an organization. Nobody, where digests were turned off meanwhile."""
    sql = f"""
    with few as (
        select * from account where realm_id = $1 and id > $2
            and exists (select from realm where realm.id = $1 and {_WANTED.replace("settings", "realm.settings")})
        order by id limit $3
    )
    select coalesce(max(few.id), 0) as last_id, count(*) < $3 as is_last, array_agg(few.id order by few.id) filter (
        where few.is_active and few.bot_type is null and not few.settings @> '{{"enable_digest_emails": false}}'
            and few.date_joined < now() - make_interval(days => $4)
            and (presence.active_at is null or presence.active_at < now() - make_interval(days => $4))
    ) as user_ids
    from few left join presence on presence.user_id = few.id
    """
    row = await tx.fetchrow(sql, realm_id, after, limit, days)
    assert row is not None
    return Step(row["last_id"], row["is_last"], row["user_ids"] or ())


async def advance(tx: Transaction, realm_id: int, after: int | None) -> None:
    """The run has come to this person; None: to its end. The next turn is another's."""
    sql = "update digest_run set after_user = $2, served = clock_timestamp() where realm_id = $1"
    await tx.execute(sql, realm_id, after)


async def busy_topics(
    tx: Transaction, user_id: int, days: int, *, channels: int, messages: int, newest: int
) -> list[Busy]:
    """Topics with something that this person received in the last days and has not read.

    What is looked at is bounded: the last messages of their liveliest channels. Whatever they muted is left out.
    """
    sql = f"""
    with mine as (
        select subscription.user_id, channel_id, is_muted from subscription
        join channel on channel.id = channel_id and not channel.is_archived
        where subscription.user_id = $1 and subscription.is_active
        order by channel.weekly_traffic desc nulls last, channel_id limit $3
    )
    select message.topic_id, count(distinct message.sender_id) as people, count(*) as messages,
        (array_agg(message.id order by message.id desc))[:$5] as newest
    -- Each read state is unpacked once: for each message, one of many gaps would take the time that others' digests need.
    from mine cross join lateral (
        select history + '{{}}' as history, read + '{{}}' as read from read_state
        where read_state.conversation_id = mine.channel_id and read_state.user_id = mine.user_id offset 0
    ) as state
    cross join lateral (
        select * from (
            select * from message where message.conversation_id = mine.channel_id order by message.id desc limit $4
        ) as last where last.seq <@ state.history and not last.seq <@ state.read offset 0
    ) as message
    join account as sender on sender.id = message.sender_id and sender.bot_type is null
    left join topic_policy on topic_policy.topic_id = message.topic_id and topic_policy.user_id = mine.user_id
    where message.sent_at > now() - make_interval(days => $2) and message.sender_id <> mine.user_id
        and policy is distinct from {TopicPolicy.MUTED:d} and not (mine.is_muted and policy is null)
        and not exists ({muting("mine.user_id", "message")})
    group by message.topic_id
    """
    rows = await tx.fetch(sql, user_id, days, channels, messages, newest)
    return [Busy(row["topic_id"], row["people"], row["messages"], row["newest"][::-1]) for row in rows]
