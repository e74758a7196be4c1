"""SQL of deciding: one statement per function."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg
import msgspec

from tertulia.conversations.read_state.marks import Mark, TopicPolicy, Wildcard
from tertulia.conversations.read_state.statements import calls, participant
from tertulia.kernel.db import Transaction
from tertulia.messaging.editing.model import FormerMentions
from tertulia.notifications.concerns.model import Facts
from tertulia.notifications.concerns.queries import BESIDE_PAIRS, FACTS, FACTS_FROM, read_facts
from tertulia.organization.groups.webs.statements import inside, is_within, reached_from


def _some(source: str) -> str:
    """At most a step of the people of a source, those with the lowest numbers that were not dealt with yet."""
    return f"(select user_id from {source} and user_id > due.after_user order by user_id limit $2)"


class Asked(msgspec.Struct, frozen=True):
    """A person whom a message may concern."""

    facts: Facts
    before: Facts | None
    """As it was with the text before an edit, if they were dealt with then."""
    edited_at: datetime | None
    """When there was one: whoever was there before may have left, and seen nothing that concerns them."""


_EVER = 2**63 - 1
_IS_NEW = f"due.told_until < {_EVER}"
"""There are people for whom the message itself is new, not only what an edit added to it."""


def _calls_anew(wildcard: Wildcard) -> str:
    return f"{calls(wildcard, 'message')} and ({_IS_NEW} or due.former_wildcard & {wildcard} = 0)"


# The groups that a message mentions, and those inside of them.
_NAMED = f"""
select group_id from message_group_mention where message_group_mention.message_id = message.id
    and ({_IS_NEW} or group_id <> all(due.former_groups))
"""
_GROUPS = f"with recursive {inside(_NAMED)}"
# Who is in a system group follows from roles: everybody has to be asked.
_EVERYBODY = f"""
read_state where read_state.conversation_id = message.conversation_id and message.topic_id is not null
    and ({_calls_anew(Wildcard.CHANNEL)} or exists (
        {_GROUPS} select from user_group where is_system and id in (select id from reached)))
"""
_MEMBERS = f"""
({_GROUPS} select distinct group_member.user_id from group_member join read_state on read_state.user_id = group_member.user_id
    and read_state.conversation_id = message.conversation_id where group_id in (select id from reached)) as grouped
where message.topic_id is not null
"""
_SOURCES = (
    f"unnest(conversation.participants) as participant(user_id) where {_IS_NEW}",
    f"""
    message_mark where message_mark.message_id = message.id and flag = {Mark.MENTIONED}
        and ({_IS_NEW} or user_id <> all(due.former_names))
    """,
    _EVERYBODY,
    _MEMBERS,
    f"topic_participant where topic_participant.topic_id = message.topic_id and {_calls_anew(Wildcard.TOPIC)}",
    f"topic_policy where topic_policy.topic_id = message.topic_id and policy = {TopicPolicy.FOLLOWED} and {_IS_NEW}",
    f"""
    subscription where channel_id = message.conversation_id and is_active and (push_notifications or email_notifications)
        and {_IS_NEW}
    """,
    f"""
    (select account.id as user_id from account join subscription on subscription.user_id = account.id
        and subscription.channel_id = message.conversation_id and subscription.is_active
    where message.topic_id is not null and account.realm_id = message.realm_id and account.settings
        ?| array['enable_stream_push_notifications', 'enable_stream_email_notifications']) as eager where {_IS_NEW}
    """,
)

OF_ONE = 5
"""Messages of one person, with their bots, in a step: whoever mentions very many very often makes no step long for others."""

# Everybody's first comes before anybody's second. Of one person what is new comes first: one that concerns very many goes on when
# there is room, and holds up nobody.
# No row is held: whoever deletes or edits one of these messages meanwhile does not wait. `_HOLD` finds out whether somebody did.
_STEP = f"""
with turn as materialized (
    select message_id, place from (
        select push_due.message_id, row_number() over (
            partition by person_id order by push_due.after_user > 0, push_due.message_id) as place
        from push_due cross join lateral (
            select coalesce(bot_owner_id, sender_id) as person_id from message join account on account.id = sender_id
            where message.id = push_due.message_id offset 0
        ) as author
    ) as own where place <= {OF_ONE}
), due as materialized (
    select * from (
        select push_due.* from turn join push_due using (message_id) order by place, after_user > 0, message_id offset 0
    ) as waiting where pg_try_advisory_xact_lock(hashtextextended('concerns', message_id)) limit $1
), pair as materialized (
    select due.*, candidate.user_id
    from due join message on message.id = due.message_id join conversation on conversation.id = message.conversation_id
    cross join lateral (
        select distinct user_id from ({" union all ".join(map(_some, _SOURCES))}) as found order by user_id limit $2
    ) as candidate
), {BESIDE_PAIRS}, former as materialized (
    {reached_from("select message_id, unnest(former_groups) as group_id from due")}
), progress as (
    select message_id, max(user_id) as last from pair group by message_id having count(*) = $2
)
select due.message_id as due_id, due.after_user, due.edited_at, progress.last, facts.*
from due left join progress using (message_id) left join (
    select {FACTS}, pair.user_id <= pair.told_until as was_asked, pair.former_wildcard,
        pair.user_id = any(pair.former_names) as was_named,
        pair.former_wildcard & {Wildcard.TOPIC} > 0 and exists ({participant("account.id", "message")} offset 0) as took_part,
        {is_within("account", "former")} as was_in_group
    from pair {FACTS_FROM} left join former on former.message_id = pair.message_id
) as facts using (message_id)
order by due.message_id, facts.user_id
"""
# The messages are held before anything is written: whoever deletes one holds it first as well, and takes these rows with it.
# What was edited since the step began waits for another one.
_HOLD = """
select push_due.message_id from unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) as seen(message_id, after_user, edited_at)
join push_due using (message_id) join message on message.id = push_due.message_id
where push_due.after_user = seen.after_user and push_due.edited_at is not distinct from seen.edited_at
order by push_due.message_id for key share of message skip locked for update of push_due skip locked
"""


class Step(msgspec.Struct, frozen=True):
    """A few messages, and the next people whom each may concern."""

    seen: dict[int, tuple[int, datetime | None, int | None]]
    """Of each message, as it was: after whom it went on, when it was edited, and the last of these people; None: of all."""
    asked: list[Asked]


async def insert_due(tx: Transaction, message_ids: Sequence[int]) -> None:
    """Messages that may concern somebody."""
    await tx.execute("insert into push_due (message_id) select unnest($1::bigint[])", message_ids)


async def insert_edited(tx: Transaction, former: FormerMentions) -> None:
    """An edit that mentions people besides. Waits for a worker that is deciding about the message, which saw the text before.

    If the message waits still, those who were asked about already have it decided as an edit, and the others as before.
    """
    sql = f"""
    insert into push_due (message_id, told_until, edited_at, former_names, former_groups, former_wildcard)
    values ($1, {_EVER}, clock_timestamp(), $2, $3, $4) on conflict (message_id) do update set
        after_user = 0, edited_at = excluded.edited_at,
        told_until = case when push_due.edited_at is null then push_due.after_user else push_due.told_until end,
        former_names = coalesce(push_due.former_names, excluded.former_names),
        former_groups = coalesce(push_due.former_groups, excluded.former_groups),
        former_wildcard = case when push_due.edited_at is null then excluded.former_wildcard
            else push_due.former_wildcard end
    """
    await tx.execute(sql, former.message_id, former.names, former.groups, former.wildcard)


async def take_step(tx: Transaction, messages: int, people: int) -> Step:
    """The facts about the next people of a few messages that wait; nobody else asks about these until the commit."""
    rows = await tx.fetch(_STEP, messages, people)
    seen = {row["due_id"]: (row["after_user"], row["edited_at"], row["last"]) for row in rows}
    return Step(seen, [_asked(row) for row in rows if row["user_id"] is not None])


async def end_step(tx: Transaction, step: Step) -> set[int]:
    """Those of its messages that are still as they were: they are done, or go on with the people after these."""
    columns = zip(*((id, after, edited_at) for id, (after, edited_at, _) in step.seen.items()), strict=True)
    held = {row["message_id"] for row in await tx.fetch(_HOLD, *map(list, columns))}
    going_on = {id: last for id in held if (last := step.seen[id][2]) is not None}
    sql = """
    update push_due set after_user = last from unnest($1::bigint[], $2::bigint[]) as progress(id, last) where message_id = id
    """
    if going_on:
        await tx.execute(sql, list(going_on), list(going_on.values()))
    await tx.execute("delete from push_due where message_id = any($1::bigint[])", list(held - going_on.keys()))
    return held


def _asked(row: asyncpg.Record) -> Asked:
    facts = read_facts(row)
    if not row["was_asked"]:
        return Asked(facts, None, row["edited_at"])
    before = msgspec.structs.replace(
        facts,
        is_named=row["was_named"],
        in_group=row["was_in_group"],
        wildcard=row["former_wildcard"],
        takes_part=row["took_part"],
    )
    return Asked(facts, before, row["edited_at"])
