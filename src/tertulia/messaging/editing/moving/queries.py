"""SQL of moves: one statement per function, all under the locks of the conversations."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tertulia.conversations.channels.rights import IS_SUBSCRIBED, MAY_READ
from tertulia.conversations.read_state.marks import TopicPolicy
from tertulia.events.log.ranges import Bounds
from tertulia.kernel.db import Reader, Transaction
from tertulia.messaging.editing.bounds import KEPT_MOVES, KEPT_NAMES
from tertulia.messaging.editing.model import Moving, Propagation

_KEEPS = f"({MAY_READ} and (channel.history_public_to_subscribers or {IS_SUBSCRIBED}))"
"""Whether an account can read what has just been moved to a channel."""

_SELECTED = """
($2 = 'change_all' or ($2 = 'change_one' and id = $3) or ($2 = 'change_later' and id >= $3))
    and ($4::int8multirange is null or seq <@ $4)
"""


class Selection(msgspec.Struct, frozen=True):
    """Messages of a topic: how many of them, seen from one, and only those with these numbers if any are given."""

    topic_id: int
    mode: Propagation
    message_id: int
    history: Sequence[Bounds] | None = None

    @property
    def arguments(self) -> tuple[object, ...]:
        """For the statements here."""
        return self.topic_id, self.mode, self.message_id, self.history


class Ages(msgspec.Struct, frozen=True):
    """How many messages of a topic a user sees, and how many of them are young enough."""

    total: int
    young: int
    first_young: int | None


class TopicRow(msgspec.Struct, frozen=True):
    """A topic that is held until the commit."""

    id: int
    name: str
    last_seq: int

    @property
    def has_messages(self) -> bool:
        """A topic without any is known through a policy only."""
        return self.last_seq > 0


class PolicyPair(msgspec.Struct, frozen=True):
    """What somebody decided about a topic and about another; 0: nothing."""

    user_id: int
    policy: int
    other: int
    keeps: bool
    """Whether they can read what is moved there."""


class Acquainted(msgspec.Struct, frozen=True):
    """Somebody who may have heard of messages that went to another channel."""

    user_id: int
    keeps: bool
    """Whether they can read them there."""
    knows_source: bool
    """Whether they may read the channel that the messages left."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a move writes into the history of messages."""

    user_id: int
    now: datetime
    prev_topic: str | None = None
    topic: str | None = None
    prev_channel_id: int | None = None
    channel_id: int | None = None

    @property
    def arguments(self) -> tuple[object, ...]:
        """For the statements here."""
        return self.user_id, self.now, self.prev_topic, self.topic, self.prev_channel_id, self.channel_id


async def is_whole_topic(reader: Reader, selection: Selection) -> bool:
    """Whether the selection leaves no message behind."""
    sql = f"select not exists (select from message where topic_id = $1 and not ({_SELECTED}))"
    return bool(await reader.fetchval(sql, *selection.arguments))


async def selected(reader: Reader, selection: Selection) -> list[Moving]:
    """The messages of a selection, by id."""
    sql = f"select id, seq from message where topic_id = $1 and {_SELECTED} order by id"
    return [Moving(**row) for row in await reader.fetch(sql, *selection.arguments)]


async def is_older(reader: Reader, selection: Selection, oldest: datetime) -> bool:
    """Whether a message of the selection was sent before that time. Times follow ids closely enough to look at the first."""
    sql = f"""
    select sent_at < $5 from message where topic_id = $1 and {_SELECTED} order by id limit 1
    """
    return bool(await reader.fetchval(sql, *selection.arguments, oldest))


async def ages(reader: Reader, selection: Selection, oldest: datetime) -> Ages:
    """How many messages of the selection there are, and how many were sent at that time or later."""
    sql = f"""
    select count(*) as total, count(*) filter (where sent_at >= $5) as young,
        min(id) filter (where sent_at >= $5) as first_young
    from message where topic_id = $1 and {_SELECTED}
    """
    row = await reader.fetchrow(sql, *selection.arguments, oldest)
    assert row is not None
    return Ages(**row)


async def find_topic(reader: Reader, channel_id: int, name_key: str) -> TopicRow | None:
    """A topic by its name."""
    sql = "select id, name, last_seq from topic where conversation_id = $1 and name_key = $2"
    row = await reader.fetchrow(sql, channel_id, name_key)
    return None if row is None else TopicRow(**row)


async def hold_topic(tx: Transaction, channel_id: int, name: str, name_key: str) -> TopicRow:
    """A topic by its name, made if there is none, held against those who set policies."""
    sql = """
    insert into topic (conversation_id, name, name_key) values ($1, $2, $3)
    on conflict (conversation_id, name_key)
        do update set name = case when topic.last_seq = 0 then excluded.name else topic.name end
    returning id, name, last_seq
    """
    row = await tx.fetchrow(sql, channel_id, name, name_key)
    assert row is not None
    return TopicRow(**row)


async def hold_topics(tx: Transaction, topic_ids: Sequence[int]) -> None:
    """Hold topics, in the order of their ids: nobody sets a policy there before the commit."""
    await tx.fetch("select id from topic where id = any($1::bigint[]) order by id for update", topic_ids)


async def rename_topic(tx: Transaction, topic_id: int, name: str, name_key: str, change: Change) -> None:
    """Give a topic another name: one row, and one revision for all its messages so far."""
    sql = """
    with renamed as (
        update topic set name = $2, name_key = $3 where id = $1 returning conversation_id
    ), forgotten as (
        delete from message_revision where id in (
            select id from message_revision where topic_id = $1 order by id desc offset $10
        )
    )
    insert into message_revision (topic_id, last_seq, user_id, changed_at, prev_topic, topic, prev_channel_id, channel_id)
    select $1, conversation.last_seq, $4, $5, $6, $7, $8, $9
    from renamed join conversation on conversation.id = renamed.conversation_id
    """
    await tx.execute(sql, topic_id, name, name_key, *change.arguments, KEPT_NAMES - 1)


async def delete_topics(tx: Transaction, topic_ids: Sequence[int]) -> None:
    """Remove topics that have neither messages nor policies."""
    await tx.execute("delete from topic where id = any($1::bigint[])", topic_ids)


async def write_revisions(tx: Transaction, message_ids: Sequence[int], change: Change) -> None:
    """Before messages leave their topic: what happened to the whole topic becomes their own, and then this move."""
    sql = """
    with forgotten as (
        delete from message_revision using (
            select id, row_number() over (partition by message_id order by id desc) as place
            from message_revision where message_id = any($1::bigint[]) and prev_content is null
        ) as placed
        where message_revision.id = placed.id and place >= $8
    ), inherited as (
        insert into message_revision (message_id, user_id, changed_at, prev_topic, topic, prev_channel_id, channel_id)
        select message.id, renamed.user_id, renamed.changed_at, renamed.prev_topic, renamed.topic,
               renamed.prev_channel_id, renamed.channel_id
        from message, lateral (
            select * from message_revision as named
            where named.topic_id = message.topic_id and named.last_seq >= message.seq and named.id > message.topic_since
            order by named.id desc limit $8 - 1
        ) as renamed
        where message.id = any($1::bigint[]) order by message.id, renamed.id
    )
    insert into message_revision (message_id, user_id, changed_at, prev_topic, topic, prev_channel_id, channel_id)
    select id, $2, $3, $4, $5, $6, $7 from unnest($1::bigint[]) as moved(id)
    """
    await tx.execute(sql, message_ids, *change.arguments, KEPT_MOVES)


async def move_to_topic(tx: Transaction, message_ids: Sequence[int], topic_id: int) -> None:
    """Put messages into another topic of their channel. What happened to that topic before did not happen to them."""
    sql = """
    update message set topic_id = $2,
        topic_since = coalesce((select max(id) from message_revision where topic_id = $2), 0)
    where id = any($1::bigint[])
    """
    await tx.execute(sql, message_ids, topic_id)


async def move_to_channel(
    tx: Transaction, message_ids: Sequence[int], channel_id: int, topic_id: int
) -> dict[int, int]:
    """Put messages at the end of another channel, in the order of their ids; returns the number each has there."""
    sql = """
    with target as (
        update conversation set last_seq = last_seq + cardinality($1::bigint[]) where id = $2
        returning last_seq - cardinality($1::bigint[]) as last_seq
    ), numbered as (
        select id, target.last_seq + row_number() over (order by id) as seq from target, unnest($1::bigint[]) as moved(id)
    )
    update message set conversation_id = $2, seq = numbered.seq, topic_id = $3, arrived = true,
        topic_since = coalesce((select max(id) from message_revision where topic_id = $3), 0)
    from numbered where message.id = numbered.id returning message.id, message.seq
    """
    return {row["id"]: row["seq"] for row in await tx.fetch(sql, message_ids, channel_id, topic_id)}


async def carry_read_state(
    tx: Transaction, source_id: int, target_id: int, old_seqs: Sequence[int], new_seqs: Sequence[int]
) -> None:
    """In the target, moved messages are read for its subscribers, except what was unread for them in the source.

    Unread there: received, not read, and they are still subscribed. Gaps are carried as ranges, by the places of their ends among
    the old numbers, so the cost is never people times messages: `old_seqs` and `new_seqs` belong together, in any order.
    """
    sql = """
    with held as materialized (
        select user_id from read_state where conversation_id = $2 and upper_inf(history) order by user_id for update
    ), gap as materialized (
        select user_id, width_bucket(lower(gap) - 1, $3::bigint[]) as low, width_bucket(upper(gap) - 1, $3::bigint[]) as high
        from read_state join held using (user_id)
        cross join lateral unnest(history * int8multirange(int8range($6, $7, '[]')) - read) as gap
        where conversation_id = $1 and upper_inf(history)
    ), unread as materialized (
        select user_id, range_agg(int8range(
            ($5::bigint[])[run] + greatest(low - ($4::bigint[])[run], 0),
            ($5::bigint[])[run] + least(high, coalesce(($4::bigint[])[run + 1], high)) - ($4::bigint[])[run]
        )) as seqs
        from gap cross join lateral generate_series(
            width_bucket(low, $4::bigint[]), width_bucket(high - 1, $4::bigint[])
        ) as run
        where low < high group by user_id
    )
    update read_state set read = read + (int8multirange(int8range($8, $9, '[]')) - coalesce(unread.seqs, '{}'))
    from held left join unread using (user_id)
    where read_state.conversation_id = $2 and read_state.user_id = held.user_id
    """
    pairs = sorted(zip(old_seqs, new_seqs, strict=True))
    runs = runs_of([new for _, new in pairs])
    ends = pairs[0][0], pairs[-1][0], min(new_seqs), max(new_seqs)
    starts, numbers = [place for place, _ in runs], [number for _, number in runs]
    await tx.execute(sql, source_id, target_id, [old for old, _ in pairs], starts, numbers, *ends)


def runs_of(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Where stretches of consecutive numbers begin, and with which number (pure)."""
    return [(place, one) for place, one in enumerate(numbers) if place == 0 or one != numbers[place - 1] + 1]


async def acquainted(reader: Reader, source_id: int, target_id: int, message_ids: Sequence[int]) -> list[Acquainted]:
    """Those who are in either of two channels or have marks on messages that went from the first to the second."""
    sql = f"""
    select account.id as user_id, {_KEEPS} as keeps,
        (select {MAY_READ} from channel where channel.id = $1) as knows_source
    from (
        select user_id from subscription where channel_id in ($1, $2) and is_active
        union select user_id from message_mark where message_id = any($3::bigint[])
    ) as known join account on account.id = known.user_id join channel on channel.id = $2
    order by account.id
    """
    return [Acquainted(**row) for row in await reader.fetch(sql, source_id, target_id, message_ids)]


async def subscribers_not_in(reader: Reader, channel_id: int, other_id: int) -> list[int]:
    """Those subscribed to a channel and not to another."""
    sql = """
    select user_id from subscription where channel_id = $1 and is_active and not exists (
        select from subscription as other where other.channel_id = $2 and other.user_id = subscription.user_id
            and other.is_active
    ) order by user_id
    """
    return [row["user_id"] for row in await reader.fetch(sql, channel_id, other_id)]


async def forget_marks(tx: Transaction, message_ids: Sequence[int], channel_id: int) -> None:
    """Marks on messages go with the access of those who made them."""
    sql = f"""
    delete from message_mark using account, channel
    where message_id = any($1::bigint[]) and account.id = message_mark.user_id and channel.id = $2 and not {_KEEPS}
    """
    await tx.execute(sql, message_ids, channel_id)


async def policies_of(reader: Reader, topic_id: int, other_id: int | None, channel_id: int) -> list[PolicyPair]:
    """What people decided about a topic, and about the one it goes into, if it does; and whether they read that channel."""
    sql = f"""
    select account.id as user_id, coalesce(own.policy, {TopicPolicy.NONE}) as policy,
        coalesce(other.policy, {TopicPolicy.NONE}) as other, {_KEEPS} as keeps
    from (select user_id, policy from topic_policy where topic_id = $1) as own
    full join (select user_id, policy from topic_policy where topic_id = $2) as other using (user_id)
    join account on account.id = user_id join channel on channel.id = $3
    order by account.id
    """
    return [PolicyPair(**row) for row in await reader.fetch(sql, topic_id, other_id, channel_id)]
