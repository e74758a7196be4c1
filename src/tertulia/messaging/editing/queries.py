"""SQL of changing texts and deleting: one statement per function. Moves have theirs in moving/queries.py."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tertulia.conversations.channels.rights import IS_SUBSCRIBED, MAY_READ
from tertulia.conversations.read_state.marks import WILDCARDS, Facts, Mark
from tertulia.events.log.ranges import Bounds
from tertulia.kernel.db import Reader, Transaction
from tertulia.messaging.editing.bounds import EDITS
from tertulia.messaging.editing.model import Moving
from tertulia.messaging.reading.access import Reached
from tertulia.messaging.sending.model import Composed

MAX_PIECES = 100
"""Of how many pieces of somebody's history they hear."""


class Hearers(msgspec.Struct, frozen=True):
    """Subscribers who have received the same of some numbers."""

    users: Sequence[int]
    received: Sequence[Bounds]


class Replaced(msgspec.Struct, frozen=True):
    """What a text mentioned before its edit."""

    former: Sequence[int]
    has_more: bool
    """The new one mentions something that the old one did not."""


async def lock_conversations(tx: Transaction, message_id: int, channel_id: int | None) -> int | None:
    """Hold the conversation a message is in, and a second one, against everybody who writes there; returns the first one's id."""
    sql = """
    select id, id = (select conversation_id from message where id = $1) as is_own
    from conversation where id = (select conversation_id from message where id = $1) or id = $2
    order by id for no key update
    """
    return next((row["id"] for row in await tx.fetch(sql, message_id, channel_id) if row["is_own"]), None)


async def lock_conversation(tx: Transaction, conversation_id: int) -> None:
    """Hold a conversation against everybody who writes there."""
    await tx.fetch("select id from conversation where id = $1 for no key update", conversation_id)


async def write_text(tx: Transaction, message: Reached, text: Composed, user_id: int, now: datetime) -> int | None:
    """Give a message another text; the old one becomes a revision. Returns its wildcards before; None: there was no room.

    Under the lock of the conversation, so nobody else counts: the newest revision knows how many there are.
    """
    sql = f"""
    with newest as (
        select number from message_revision where message_id = $1 and number is not null order by id desc limit 1
    ), before as (
        insert into message_revision (message_id, user_id, changed_at, prev_content, prev_rendered, number)
        select $1, $2, $3, $4, $5, counted.number + 1
        from (select coalesce((select number from newest), 0) as number) as counted where counted.number < $9
        returning message_id
    )
    update message set content = $6, rendered = $7, wildcard = $8 & {WILDCARDS},
        has_link = $8 & {Facts.LINK} > 0, has_image = $8 & {Facts.IMAGE} > 0, has_attachment = $8 & {Facts.ATTACHMENT} > 0
    from before join message as former on former.id = before.message_id
    where message.id = before.message_id returning former.wildcard
    """
    old = (message.id, user_id, now, message.content, message.rendered)
    limit = tx.bounds.limit(EDITS)
    former: int | None = await tx.fetchval(sql, *old, text.content, text.html, text.facts, limit)
    return former


async def write_concerned(tx: Transaction, message: Reached, text: Composed) -> Replaced:
    """Whom the new text concerns, of those who received the message: mentioned by name, or by a word they watch for.

    Returns whom the old one mentioned by name.
    """
    sql = f"""
    with concerned as (
        select user_id, {Mark.MENTIONED} as flag from unnest($4::bigint[]) as named(user_id)
        union
        select user_id, {Mark.HAS_ALERT_WORD} from alert_word where realm_id = $5 and word_key = any($6::text[])
    ), wanted as materialized (
        select concerned.user_id, flag from concerned join read_state
            on read_state.conversation_id = $2 and read_state.user_id = concerned.user_id and $3::bigint <@ history
    ), gone as (
        delete from message_mark where message_id = $1 and flag in ({Mark.MENTIONED}, {Mark.HAS_ALERT_WORD})
            and not exists (select from wanted where (user_id, flag) = (message_mark.user_id, message_mark.flag))
    ), come as (
        insert into message_mark (user_id, flag, message_id) select user_id, flag, $1 from wanted order by user_id, flag
        on conflict do nothing returning flag
    )
    select array(select user_id from message_mark where message_id = $1 and flag = {Mark.MENTIONED}) as former,
        exists (select from come where flag = {Mark.MENTIONED}) as has_more
    """
    where = (message.id, message.conversation_id, message.seq)
    row = await tx.fetchrow(sql, *where, text.mentioned, message.realm_id, text.alerting)
    assert row is not None
    return Replaced(**row)


async def write_groups(tx: Transaction, message_id: int, group_ids: Sequence[int]) -> Replaced:
    """The groups that a message mentions now. Returns those that it mentioned before."""
    sql = """
    with gone as (
        delete from message_group_mention where message_id = $1 and group_id <> all($2::bigint[])
    ), come as (
        insert into message_group_mention (message_id, group_id) select $1, id from unnest($2::bigint[]) as named(id)
        on conflict do nothing returning group_id
    )
    select array(select group_id from message_group_mention where message_id = $1) as former,
        exists (select from come) as has_more
    """
    row = await tx.fetchrow(sql, message_id, group_ids)
    assert row is not None
    return Replaced(**row)


async def first_message_ids(reader: Reader, channel_ids: Sequence[int]) -> dict[int, int | None]:
    """The oldest message of each channel."""
    sql = """
    select channel.id, (select id from message where conversation_id = channel.id order by id limit 1) as first
    from channel where id = any($1::bigint[])
    """
    return {row["id"]: row["first"] for row in await reader.fetch(sql, channel_ids)}


async def delete_messages(tx: Transaction, message_ids: Sequence[int]) -> None:
    """Remove messages and all that belongs to them."""
    await tx.execute("delete from message where id = any($1::bigint[])", message_ids)


async def refresh_topics(tx: Transaction, topic_ids: Sequence[int]) -> None:
    """Look up the newest message of topics again, after messages came or went."""
    sql = """
    update topic set last_seq = newest.seq from (
        select wanted.id, coalesce((select seq from message where topic_id = wanted.id order by id desc limit 1), 0) as seq
        from unnest($1::bigint[]) as wanted(id)
    ) as newest
    where topic.id = newest.id and topic.last_seq <> newest.seq
    """
    await tx.execute(sql, topic_ids)


async def hearers_of(reader: Reader, channel_id: int, first: int, last: int) -> list[Hearers]:
    """In a channel with protected history: the subscribers who have received any of the numbers from the first to the last.

    Ranges as they are: which messages are in them is not asked for each of the subscribers. Whoever came and went thousands of
    times has as many pieces, of which the newest count.
    """
    sql = """
    select array_agg(user_id order by user_id) as users, received
    from read_state cross join lateral (
        select range_agg(piece) as received from (
            select piece from unnest(history * int8multirange(int8range($2, $3, '[]'))) as piece order by piece desc limit $4
        ) as newest
    ) as known
    where conversation_id = $1 and upper_inf(history) and received is not null group by received order by min(user_id)
    """
    rows = await reader.fetch(sql, channel_id, first, last, MAX_PIECES)
    return [Hearers(row["users"], row["received"]) for row in rows]


async def markers_outside(reader: Reader, channel_id: int, message_ids: Sequence[int]) -> dict[bool, list[int]]:
    """Who has marks on these messages without being subscribed to their channel; by whether they may read it."""
    sql = f"""
    select account.id, {MAY_READ} as may_read
    from (select distinct user_id from message_mark where message_id = any($2::bigint[])) as marking
    join account on account.id = marking.user_id join channel on channel.id = $1
    where not {IS_SUBSCRIBED} order by account.id
    """
    found: dict[bool, list[int]] = {}
    for row in await reader.fetch(sql, channel_id, message_ids):
        found.setdefault(row["may_read"], []).append(row["id"])
    return found


async def history_of(reader: Reader, channel_id: int, user_id: int) -> Sequence[Bounds]:
    """The numbers of the messages that a user has received in a channel; none unless they are subscribed to it."""
    sql = "select history from read_state where conversation_id = $1 and user_id = $2 and upper_inf(history)"
    return await reader.fetchval(sql, channel_id, user_id) or []


async def newest_of_topic(reader: Reader, topic_id: int, history: Sequence[Bounds] | None, limit: int) -> list[Moving]:
    """The newest messages of a topic, of those with these numbers if any are given; newest first."""
    sql = """
    select id, seq from message where topic_id = $1 and ($2::int8multirange is null or seq <@ $2)
    order by id desc limit $3
    """
    return [Moving(**row) for row in await reader.fetch(sql, topic_id, history, limit)]


async def find_last_notice(reader: Reader, topic_id: int, before: str, after: str, seconds: int) -> Moving | None:
    """The newest message of a topic, if the notification bot said this of somebody in it so many seconds ago at most."""
    sql = """
    select newest.id, newest.seq from (
        select id, seq, sender_id, content, sent_at from message where topic_id = $1 order by id desc limit 1
    ) as newest join account on account.id = newest.sender_id
    where account.system_bot = 'notification' and starts_with(content, $2) and right(content, length($3)) = $3
      and sent_at > clock_timestamp() - make_interval(secs => $4)
    """
    row = await reader.fetchrow(sql, topic_id, before, after, seconds)
    return None if row is None else Moving(**row)
