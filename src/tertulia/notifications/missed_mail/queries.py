"""SQL of mails about missed messages: one statement per function."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import asyncpg

from tertulia.conversations.read_state.statements import muting
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.mail_failures import IS_STOPPED
from tertulia.kernel.settings import Settings
from tertulia.notifications.concerns.places import Spot
from tertulia.notifications.concerns.queries import BESIDE_PAIRS, FACTS, FACTS_FROM, read_facts
from tertulia.notifications.concerns.rules import read_settings
from tertulia.notifications.missed_mail.model import Candidate, MailFailure, Missed, Recipient, Shown, Talk
from tertulia.organization.realms.settings import decode_realm
from tertulia.people.users.statements import is_hidden
from tertulia.people.users.visibility.actions import UNKNOWN_NAME

_CLAIM = "pg_try_advisory_xact_lock(hashtextextended('missed mails', user_id))"
_SENDER = f"case when {is_hidden('account', 'sender')} then '{UNKNOWN_NAME}' else sender.full_name end"


async def insert_missed(tx: Transaction, missed: Sequence[tuple[Missed, int]]) -> None:
    """Messages that people are to be told of by mail, each with the seconds that they let mails be collected for.

    The first message sets the time; later ones join it. Whoever ends a batch is waited for, so none goes astray.
    """
    sql = """
    with told as (
        select * from unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::timestamptz[], $5::int[])
            as told(user_id, message_id, was_active, edited_at, seconds)
    ), batch as (
        insert into mail_batch (user_id, due)
        select user_id, now() + make_interval(secs => min(seconds)) from told group by user_id order by user_id
        on conflict (user_id) do update set due = mail_batch.due
    )
    insert into missed_message (user_id, message_id, was_active, edited_at)
    select user_id, message_id, was_active, edited_at from told on conflict do nothing
    """
    rows = [(one.user_id, one.message_id, one.was_active, one.edited_at, seconds) for one, seconds in missed]
    await tx.execute(sql, *(list(column) for column in zip(*rows, strict=True)))


async def claim_batches(tx: Transaction, limit: int, but: Collection[int]) -> dict[int, int]:
    """People whose mails are due, each with their realm, but of these realms nobody; nobody else makes them until the commit.

    No row is held: while mails are written, whoever deletes a message, or adds one to a batch, does not wait.
    """
    sql = f"""
    select user_id, realm_id from (
        select user_id, realm_id from mail_batch join account on account.id = user_id
        where due <= now() and realm_id <> all($2::bigint[]) order by due, user_id offset 0
    ) as waiting where {_CLAIM} limit $1
    """
    return {row["user_id"]: row["realm_id"] for row in await tx.fetch(sql, limit, list(but))}


async def claim_batch(tx: Transaction, user_id: int) -> list[int]:
    """As `claim_batches`, of one person; nobody if it is not due any more."""
    sql = f"select user_id from mail_batch where user_id = $1 and due <= now() and {_CLAIM}"
    return [row["user_id"] for row in await tx.fetch(sql, user_id)]


async def find_missed(reader: Reader, user_ids: Sequence[int], limit: int) -> list[Missed]:
    """What these people missed, so much at most."""
    sql = """
    select user_id, message_id, was_active, edited_at from missed_message where user_id = any($1::bigint[])
    order by user_id, message_id limit $2
    """
    return [Missed(**row) for row in await reader.fetch(sql, user_ids, limit)]


async def hold_batches(tx: Transaction, user_ids: Sequence[int]) -> None:
    """Whoever adds to one of these batches waits until the commit, and does not add to one that ends."""
    sql = "select from mail_batch where user_id = any($1::bigint[]) order by user_id for update"
    await tx.execute(sql, user_ids)


async def hold_missed(tx: Transaction, missed: Sequence[Missed]) -> set[tuple[int, int]]:
    """Those of these (user, message) that are still there; not what is being deleted, for which nobody waits."""
    sql = """
    select user_id, message_id from missed_message
    where (user_id, message_id) in (select * from unnest($1::bigint[], $2::bigint[]))
    order by user_id, message_id for update skip locked
    """
    rows = await tx.fetch(sql, [one.user_id for one in missed], [one.message_id for one in missed])
    return {(row["user_id"], row["message_id"]) for row in rows}


async def candidates(reader: Reader, pairs: Sequence[tuple[int, int]]) -> list[Candidate]:
    """What is known of these (user, message) now. People who are gone and organizations that are closed drop out."""
    sql = f"""
    with pair as (select * from unnest($1::bigint[], $2::bigint[]) as pair(user_id, message_id)), {BESIDE_PAIRS}
    select {FACTS}, message.conversation_id, message.topic_id, message.sent_at, presence.active_at
    from pair {FACTS_FROM}
    join realm on realm.id = account.realm_id and realm.is_active
    """
    rows = await reader.fetch(sql, [user_id for user_id, _ in pairs], [message_id for _, message_id in pairs])
    own = ("conversation_id", "topic_id", "sent_at", "active_at")
    return [Candidate(facts=read_facts(row), **{name: row[name] for name in own}) for row in rows]


async def recipients(tx: Transaction, user_ids: Sequence[int], settings: Settings) -> dict[int, Recipient]:
    """Those of these people who are written to, by their number: not at an address that always fails."""
    sql = f"""
    select account.id as user_id, account.email, account.timezone, account.settings::text as chosen,
        realm.id as realm_id, realm.name as realm_name, realm.subdomain, realm.settings::text as facts,
        exists (select from account as twin where twin.email_key = account.email_key and twin.realm_id <> account.realm_id
            and twin.is_active and twin.bot_type is null) as is_elsewhere
    from account join realm on realm.id = account.realm_id
    left join mail_failure on mail_failure.email_key = account.email_key
    where account.id = any($1::bigint[]) and {IS_STOPPED} is not true
    """
    return {row["user_id"]: _recipient(row, settings) for row in await tx.fetch(sql, user_ids)}


def _recipient(row: asyncpg.Record, settings: Settings) -> Recipient:
    return Recipient(
        user_id=row["user_id"],
        email=row["email"],
        timezone=row["timezone"],
        settings=read_settings(row["chosen"]),
        realm_id=row["realm_id"],
        realm_name=row["realm_name"],
        realm_url=settings.url_of(row["subdomain"]),
        realm=decode_realm(row["facts"]),
        is_elsewhere=row["is_elsewhere"],
    )


async def shown(reader: Reader, user_id: int, message_ids: Sequence[int]) -> list[Shown]:
    """Messages as this person sees them, the oldest first."""
    sql = f"""
    select message.id as message_id, {_SENDER} as sender, message.rendered, message.sent_at
    from message join account as sender on sender.id = message.sender_id join account on account.id = $1
    where message.id = any($2::bigint[]) order by message.id
    """
    return [Shown(**row) for row in await reader.fetch(sql, user_id, message_ids)]


async def before(reader: Reader, user_id: int, message_id: int, limit: int, seconds: int) -> list[Shown]:
    """What was said in the topic shortly before a message, as far as this person received it; the oldest first."""
    sql = f"""
    select * from (
        select earlier.id as message_id, {_SENDER} as sender, earlier.rendered, earlier.sent_at
        from message join account on account.id = $1
        join read_state on read_state.conversation_id = message.conversation_id and read_state.user_id = account.id
        join message as earlier on earlier.conversation_id = message.conversation_id and earlier.topic_id = message.topic_id
            and earlier.id < message.id and earlier.seq <@ read_state.history
            and earlier.sent_at > message.sent_at - make_interval(secs => $4)
        join account as sender on sender.id = earlier.sender_id
        where message.id = $2 and not exists ({muting("account.id", "earlier")})
        order by earlier.id desc limit $3
    ) as found order by message_id
    """
    return [Shown(**row) for row in await reader.fetch(sql, user_id, message_id, limit, seconds)]


async def find_talk(reader: Reader, user_id: int, message_id: int) -> Talk | None:
    """Where a message is; None: it was deleted."""
    sql = f"""
    select channel.id as channel_id, channel.name as channel, topic.name as topic, conversation.participants,
        conversation.id as conversation_id, topic.id as topic_id, array(
            select case when {is_hidden("account", "other")} then '{UNKNOWN_NAME}' else other.full_name end
            from account as other where other.id = any(conversation.participants) and other.id <> account.id
            order by other.full_name, other.id
        ) as names
    from message join conversation on conversation.id = message.conversation_id join account on account.id = $1
    left join channel on channel.id = conversation.id left join topic on topic.id = message.topic_id
    where message.id = $2
    """
    row = await reader.fetchrow(sql, user_id, message_id)
    if row is None:
        return None
    spot = Spot(row["channel_id"], row["channel"], row["topic"], row["participants"])
    # A topic is a thing with a number here: renamed, it is the same thread.
    thread = f"conversation.{row['conversation_id']}.{row['topic_id'] or 0}"
    return Talk(spot, thread, row["names"])


async def delete_missed(tx: Transaction, pairs: Collection[tuple[int, int]]) -> None:
    """These (user, message) are told, or need not be."""
    sql = """
    delete from missed_message using unnest($1::bigint[], $2::bigint[]) as done(user_id, message_id)
    where missed_message.user_id = done.user_id and missed_message.message_id = done.message_id
    """
    await tx.execute(sql, [user_id for user_id, _ in pairs], [message_id for _, message_id in pairs])


async def finish_batches(tx: Transaction, user_ids: Sequence[int]) -> None:
    """Batches of which nothing is left end."""
    sql = """
    delete from mail_batch where user_id = any($1::bigint[])
        and not exists (select from missed_message where missed_message.user_id = mail_batch.user_id)
    """
    await tx.execute(sql, user_ids)


async def put_off(tx: Transaction, until: Mapping[int, datetime]) -> None:
    """Look again later, for each person at a time of their own."""
    sql = """
    update mail_batch set due = later.due from unnest($1::bigint[], $2::timestamptz[]) as later(user_id, due)
    where mail_batch.user_id = later.user_id
    """
    await tx.execute(sql, list(until), list(until.values()))


async def now(tx: Transaction) -> datetime:
    """The time of the database, which all the other times here are of."""
    found: datetime = await tx.fetchval("select now()")
    return found


async def mail_failures(reader: Reader, realm_id: int) -> list[MailFailure]:
    """Addresses in an organization that refuse mail."""
    sql = f"""
    select account.id as user_id, failures, extract(epoch from failing_since)::bigint as failing_since, reason,
        {IS_STOPPED} as is_stopped
    from mail_failure join account on account.email_key = mail_failure.email_key
    where account.realm_id = $1 and account.is_active order by account.id
    """
    return [MailFailure(**row) for row in await reader.fetch(sql, realm_id)]


async def is_person_of(reader: Reader, realm_id: int, user_id: int) -> bool:
    """Whether this is an account of the organization."""
    sql = "select exists (select from account where realm_id = $1 and id = $2 and bot_type is null)"
    return bool(await reader.fetchval(sql, realm_id, user_id))
