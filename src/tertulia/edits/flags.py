"""The flags that a message has for each of its readers: `update_message` carries them.

Readers with the same flags are one group; whoever is in no group has not received the message.
"""

from collections import defaultdict

import msgspec

from tertulia.kernel.db import Reader
from tertulia.messages.load import FLAG_NAMES

HISTORICAL = ("read", "historical")
"""The flags of whoever can read a message without having received it."""

_FLAGS = """
with changed as (
    select id, conversation_id, seq, topic_id, wildcard, sender_id from message where id = $1
), reader as (
    select user_id, changed.seq <@ read as is_read, changed.seq <@ history as is_received
    from changed join read_state using (conversation_id) where upper_inf(history)
), marked as (
    select user_id, array_agg(flag order by flag) as flags from message_mark where message_id = $1 group by user_id
)
select array_agg(user_id order by user_id) as user_ids, is_read, is_received, flags, of_channel, of_topic, of_group
from (
    select user_id, coalesce(is_read, true) or exists (
            select from muted_user where muted_user.user_id = known.user_id and muted_id = sender_id
        ) as is_read, coalesce(is_received, false) as is_received,
        coalesce(flags, '{}') as flags, is_received and wildcard & 1 > 0 as of_channel,
        is_received and wildcard & 2 > 0
            and (changed.topic_id is null or exists (select from topic_participant as part
                where part.topic_id = changed.topic_id and part.user_id = known.user_id)) as of_topic,
        is_received and exists (select from message_group_mention where message_id = $1
                                and is_group_member(known.user_id, group_id)) as of_group
    from changed, (reader full join marked using (user_id)) as known
    where is_received or flags is not null
) as found
group by is_read, is_received, flags, of_channel, of_topic, of_group
"""


class Flagged(msgspec.Struct, frozen=True):
    """Users for whom a message has the same flags."""

    flags: tuple[str, ...]
    users: tuple[int, ...]


async def flags_by_reader(reader: Reader, message_id: int) -> list[Flagged]:
    """The flags of everybody who has received or marked the message."""
    found: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in await reader.fetch(_FLAGS, message_id):
        names = ["read"] if row["is_read"] or not row["is_received"] else []
        names += [] if row["is_received"] else ["historical"]
        names += [FLAG_NAMES[flag] for flag in row["flags"]]
        names += ["stream_wildcard_mentioned"] if row["of_channel"] else []
        names += ["topic_wildcard_mentioned"] if row["of_topic"] else []
        names += ["wildcard_mentioned"] if row["of_channel"] or row["of_topic"] else []
        if row["of_group"]:
            names += ["mentioned"] if "mentioned" not in names else []
            names += ["group_mentioned"]
        found[tuple(names)] += row["user_ids"]
    return [Flagged(flags, tuple(sorted(users))) for flags, users in found.items()]
