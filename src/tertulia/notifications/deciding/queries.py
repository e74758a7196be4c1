"""SQL of deciding: one statement per function."""

from collections.abc import Sequence

from tertulia.conversations.read_state.marks import Mark, TopicPolicy, Wildcard
from tertulia.conversations.read_state.statements import calls
from tertulia.kernel.db import Transaction
from tertulia.notifications.concerns.model import Facts
from tertulia.notifications.concerns.queries import FACTS, FACTS_FROM, read_facts


def _some(source: str) -> str:
    """At most a step of the people of a source, those with the lowest numbers that were not dealt with yet."""
    return f"(select user_id from {source} and user_id > due.after_user order by user_id limit $2)"


# The groups that a message mentions, and those inside of them.
_GROUPS = """
with recursive reached(id) as (
    select group_id from message_group_mention where message_group_mention.message_id = message.id
    union
    select subgroup_id from group_subgroup join reached on group_subgroup.group_id = reached.id
)
"""
# Who is in a system group follows from roles: everybody has to be asked.
_EVERYBODY = f"""
read_state where read_state.conversation_id = message.conversation_id and message.topic_id is not null
    and ({calls(Wildcard.CHANNEL, "message")} or exists (
        {_GROUPS} select from user_group where is_system and id in (select id from reached)))
"""
_MEMBERS = f"""
({_GROUPS} select distinct group_member.user_id from group_member join read_state on read_state.user_id = group_member.user_id
    and read_state.conversation_id = message.conversation_id where group_id in (select id from reached)) as grouped
where message.topic_id is not null
"""
_SOURCES = (
    "unnest(conversation.participants) as participant(user_id) where true",
    f"message_mark where message_mark.message_id = message.id and flag = {Mark.MENTIONED}",
    _EVERYBODY,
    _MEMBERS,
    f"topic_participant where topic_participant.topic_id = message.topic_id and {calls(Wildcard.TOPIC, 'message')}",
    f"topic_policy where topic_policy.topic_id = message.topic_id and policy = {TopicPolicy.FOLLOWED}",
    """
    subscription where channel_id = message.conversation_id and is_active and (push_notifications or email_notifications)
    """,
    """
    (select account.id as user_id from account join subscription on subscription.user_id = account.id
        and subscription.channel_id = message.conversation_id and subscription.is_active
    where message.topic_id is not null and account.realm_id = message.realm_id and account.settings
        ?| array['enable_stream_push_notifications', 'enable_stream_email_notifications']) as eager where true
    """,
)

# What is new comes first: one that concerns very many goes on when there is room, and holds up nobody.
# The messages are held before anything is written: whoever deletes one holds it first as well, and takes these rows with it.
_STEP = f"""
with due as materialized (
    select message.id as message_id, push_due.after_user
    from push_due join message on message.id = push_due.message_id order by push_due.after_user > 0, message.id limit $1
    for key share of message skip locked for update of push_due skip locked
), pair as materialized (
    select due.message_id, candidate.user_id
    from due join message on message.id = due.message_id join conversation on conversation.id = message.conversation_id
    cross join lateral (
        select distinct user_id from ({" union all ".join(map(_some, _SOURCES))}) as found order by user_id limit $2
    ) as candidate
), progress as (
    select message_id, max(user_id) as last from pair group by message_id having count(*) = $2
), moved as (
    update push_due set after_user = progress.last from progress where push_due.message_id = progress.message_id
), done as (
    delete from push_due using due where push_due.message_id = due.message_id
        and due.message_id not in (select message_id from progress)
)
select (select count(*) from due) as dealt_with, facts.*
from (select) as always left join (select {FACTS} from pair {FACTS_FROM}) as facts on true
"""


async def insert_due(tx: Transaction, message_ids: Sequence[int]) -> None:
    """Messages that may concern somebody."""
    await tx.execute("insert into push_due (message_id) select unnest($1::bigint[])", message_ids)


async def take_step(tx: Transaction, messages: int, people: int) -> tuple[int, list[Facts]]:
    """Go on with a few messages that wait: how many these are, and the facts about the next people whom each may concern.

    A message of which there are more people waits for another step; the others are done.
    """
    rows = await tx.fetch(_STEP, messages, people)
    return rows[0]["dealt_with"], [read_facts(row) for row in rows if row["message_id"] is not None]
