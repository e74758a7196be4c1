"""SQL that reads read state: one statement per function.

Unread messages are found by their gaps: what was received and is not read, as ranges, each of which is one index scan.
The shape of that query is held by a test: other shapes were measured at seconds instead of milliseconds. Whoever has more
unread messages than are listed (a lurker may have millions) is told so by it, and gets the newest: then a sample of each gap
tells how far back these can reach, and only what is newer is read.
"""

from collections.abc import Sequence

from tertulia.conversations.read_state.marks import Mark, Wildcard
from tertulia.conversations.read_state.model import MessageStanding, Unread
from tertulia.conversations.read_state.statements import IS_MUTED, NOT_MUTED_SENDER, calls, mark_of, participant
from tertulia.kernel.db import Reader
from tertulia.kernel.lists import planned_once
from tertulia.organization.groups.webs.statements import climbing

MAX_PEOPLE_LISTED = 50_000
"""In direct conversations, each time they are listed: anybody may write to 250 others, in other company with each message, and
each of them would get all these names whenever they come."""

_MINE = """
mine as materialized (
    select read_state.conversation_id, history * int8multirange(int8range(1, last_seq + 1)) - read as gaps
    from read_state join conversation on conversation.id = read_state.conversation_id
    where read_state.user_id = $1 and upper_inf(history)
), gaps as materialized (
    select conversation_id, gap, upper(gap) - lower(gap) as width from mine, unnest(gaps) as gap
), total as materialized (
    select coalesce(sum(width), 0)::bigint as width from gaps
)
"""

_REACH = f"""
with {_MINE}, sample as (
    select found.id from total, gaps, lateral (
        select id from message
        where message.conversation_id = gaps.conversation_id and seq >= lower(gap) and seq < upper(gap)
        order by seq desc limit (2 + 2 * $2 * gaps.width / total.width)::bigint
    ) as found
    where total.width > $2 order by found.id desc limit $2
)
select case when count(*) = $2 then min(id) end as id from sample
"""

_BY_GAPS = """
select found.* from gaps, lateral (
    select id, conversation_id, topic_id, sender_id, wildcard from message
    where message.conversation_id = gaps.conversation_id and seq >= lower(gap) and seq < upper(gap) offset 0
) as found where $3::bigint is null
"""
_BY_FEW_GAPS = f"{_BY_GAPS} and (select width from total) <= $2"

_BY_IDS = """
select found.* from mine, lateral (
    select id, conversation_id, topic_id, sender_id, wildcard from message
    where message.conversation_id = mine.conversation_id and id >= $3 and seq <@ mine.gaps offset 0
) as found
"""

_UNREAD = """
with recursive {climbed}, {mine}, unread as materialized (
    select id, conversation_id, topic_id, wildcard from ({found}) as found
    where {not_muted_sender} {newest}
), addressed as (
    select distinct message_id as id from unread join message_group_mention on message_id = unread.id
    where group_id in (select id from climbed)
), places as (
    select unread.conversation_id, unread.topic_id, array_agg(unread.id) as ids, max(unread.id) as newest,
           array_agg(unread.id) filter (where personal.message_id is not null or addressed.id is not null)
               as addressed,
           array_agg(unread.id) filter (where {in_channel}) as called,
           array_agg(unread.id) filter (where {in_topic}) as called_in_topic
    from unread left join addressed using (id)
    left join message_mark as personal
        on {is_personal} and personal.message_id = unread.id
    group by unread.conversation_id, unread.topic_id
)
select total.width > $2 as is_over, conversation_id, participants, topic, is_muted, ids, mentions, places from total left join (
select places.conversation_id, conversation.participants, topic.name as topic, topic.name_key, {is_muted} as is_muted, ids,
       sum(coalesce(cardinality(conversation.participants), 0)) over (order by newest desc) as people,
       count(*) over () as places,
       case when coalesce(addressed, called, called_in_topic) is null then '{{}}' else array(
           select distinct id from unnest(
               coalesce(addressed, '{{}}') || case when {is_muted} then '{{}}' else coalesce(called, '{{}}') end
               || case when not {is_muted} and (places.topic_id is null or exists ({participant}))
                   then coalesce(called_in_topic, '{{}}') else '{{}}' end
           ) as id order by id
       ) end as mentions
from places join conversation on conversation.id = places.conversation_id
left join topic on topic.id = places.topic_id
left join topic_policy on topic_policy.user_id = $1 and topic_policy.topic_id = places.topic_id
left join subscription on subscription.user_id = $1 and subscription.channel_id = places.conversation_id
) as listed on participants is null or people <= $4 order by conversation_id, name_key
"""


def _unread(found: str, newest: str) -> str:
    return _UNREAD.format(
        climbed=climbing("$1"),
        mine=_MINE,
        found=found,
        newest=newest,
        not_muted_sender=NOT_MUTED_SENDER,
        is_muted=IS_MUTED,
        is_personal=mark_of(Mark.MENTIONED, "$1", "personal"),
        in_channel=calls(Wildcard.CHANNEL, "unread"),
        in_topic=calls(Wildcard.TOPIC, "unread"),
        participant=participant("$1", "places"),
    )


_LIMITED = "order by id desc limit $2"
UNREAD_BY_GAPS = _unread(_BY_FEW_GAPS, "")
UNREAD_BY_GAPS_LIMITED, UNREAD_BY_IDS = _unread(_BY_GAPS, _LIMITED), _unread(_BY_IDS, _LIMITED)

_STANDING = """
select message.id, message.conversation_id, coalesce(seq <@ history, false) as is_received,
       coalesce(upper_inf(history), false) as belongs
from message left join read_state
    on read_state.conversation_id = message.conversation_id and read_state.user_id = $1
where message.id = any({asked}) and message.realm_id = $3
"""
_STANDING_OF_FEW = _STANDING.format(asked=planned_once("$2::bigint[]"))
_STANDING_OF_MANY = _STANDING.format(asked="$2::bigint[]")
FEW = 50
"""Of more, a plan for their number is worth what it takes."""


async def unread_messages(reader: Reader, user_id: int, limit: int, people: int = MAX_PEOPLE_LISTED) -> list[Unread]:
    """The newest unread messages, by conversation and topic; the ids in no order. Of direct conversations that together have more
    people than that, the newest."""
    rows = await reader.fetch(UNREAD_BY_GAPS, user_id, limit, None, people)
    if rows[0]["is_over"]:
        reach = await reader.fetchval(_REACH, user_id, limit)
        sql = UNREAD_BY_GAPS_LIMITED if reach is None else UNREAD_BY_IDS
        rows = await reader.fetch(sql, user_id, limit, reach, people)
    return [Unread(*found) for _, *found in rows if found[0] is not None]


async def standings(reader: Reader, realm_id: int, user_id: int, message_ids: Sequence[int]) -> list[MessageStanding]:
    """What messages of the realm are to a user; those that do not exist are left out."""
    sql = _STANDING_OF_FEW if len(message_ids) <= FEW else _STANDING_OF_MANY
    return [MessageStanding(**row) for row in await reader.fetch(sql, user_id, message_ids, realm_id)]


async def starred_messages(reader: Reader, user_id: int) -> list[int]:
    """The messages a user starred, oldest first. In one array: they may be a million, and a row of each would keep everybody
    waiting."""
    sql = "select array(select message_id from message_mark where user_id = $1 and flag = $2 order by message_id)"
    found: list[int] = await reader.fetchval(sql, user_id, Mark.STARRED)
    return found


async def recent_conversations(
    reader: Reader, user_id: int, limit: int, people: int = MAX_PEOPLE_LISTED
) -> list[tuple[list[int], int]]:
    """The people of the user's direct conversations and the newest message of each, the newest first."""
    sql = """
    with recent as (
        select conversation.participants, newest.id from read_state
        join conversation on conversation.id = read_state.conversation_id, lateral (
            select id from message where message.conversation_id = conversation.id and seq <@ history
            order by seq desc limit 1
        ) as newest
        where read_state.user_id = $1 and conversation.participants is not null order by newest.id desc limit $2
    )
    select participants, id from (
        select participants, id, sum(cardinality(participants)) over (order by id desc) as people from recent
    ) as listed where people <= $3 order by id desc
    """
    return [(row["participants"], row["id"]) for row in await reader.fetch(sql, user_id, limit, people)]
