"""The flags that a message has for each of its readers: `update_message` carries them.

Readers with the same flags are one group; whoever is in no group has not received the message.
"""

from collections import defaultdict

import msgspec

from tertulia.conversations.read_state.marks import Concern, Wildcard, flags_for
from tertulia.conversations.read_state.statements import calls, muting, takes_part
from tertulia.kernel.db import Reader
from tertulia.organization.groups.webs.statements import is_within, reached_from

HISTORICAL = tuple(flags_for(Concern(is_received=False, is_read=None)))
"""The flags of whoever can read a message without having received it."""

# In a channel somebody has left nothing is unread; they are asked about only if they have marks on the message.
_FLAGS = f"""
with changed as (
    select id, conversation_id, seq, topic_id, wildcard, sender_id from message where id = $1
), reader as (
    select user_id, changed.seq <@ read or not upper_inf(history) as is_read, changed.seq <@ history as is_received,
        upper_inf(history) as belongs
    from changed join read_state using (conversation_id)
), named_groups as materialized (
    {reached_from("select message_id, group_id from message_group_mention where message_id = $1", in_use=False)}
), marked as (
    select user_id, array_agg(flag order by flag) as marks from message_mark where message_id = $1 group by user_id
)
select array_agg(user_id order by user_id) as user_ids, is_received, is_read, marks, in_group, wildcard, takes_part
from (
    select user_id, coalesce(is_received, false) as is_received,
        is_read or exists ({muting("known.user_id", "changed")}) as is_read, coalesce(marks, '{{}}') as marks,
        is_received and account.is_active and ({is_within("account", "named_groups")}) as in_group, wildcard,
        is_received and {calls(Wildcard.TOPIC, "changed")} and {takes_part("known.user_id", "changed")} as takes_part
    from changed cross join (reader full join marked using (user_id)) as known
    join account on account.id = known.user_id left join named_groups on true
    where (belongs and is_received) or marks is not null
) as found
group by is_received, is_read, marks, in_group, wildcard, takes_part
"""


class Flagged(msgspec.Struct, frozen=True):
    """Users for whom a message has the same flags."""

    flags: tuple[str, ...]
    users: tuple[int, ...]


async def flags_by_reader(reader: Reader, message_id: int) -> list[Flagged]:
    """The flags of everybody who has received or marked the message."""
    found: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for user_ids, *concern in await reader.fetch(_FLAGS, message_id):
        found[tuple(flags_for(Concern(*concern)))] += user_ids
    return [Flagged(flags, tuple(sorted(users))) for flags, users in found.items()]
