"""`unread_msgs`: the unread messages of a user, grouped as clients want them (pure)."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from tertulia.reads.queries import Unread
from tertulia.realms.limits import MAX_UNREAD_LISTED


class UnreadDirect(msgspec.Struct):
    """Unread messages of a conversation with one other person, or with oneself."""

    other_user_id: int
    sender_id: int
    unread_message_ids: list[int]


class UnreadGroup(msgspec.Struct):
    """Unread messages of a conversation of three or more."""

    user_ids_string: str
    unread_message_ids: list[int]


class UnreadTopic(msgspec.Struct):
    """Unread messages of a topic."""

    stream_id: int
    topic: str
    unread_message_ids: list[int]


class UnreadMessages(msgspec.Struct):
    """The whole bundle."""

    count: int
    pms: list[UnreadDirect]
    huddles: list[UnreadGroup]
    streams: list[UnreadTopic]
    mentions: list[int]
    old_unreads_missing: bool


def group_unread(unread: Sequence[Unread], user_id: int, *, empty_topic: str) -> UnreadMessages:
    """Group the newest unread messages; ids ascending everywhere. `empty_topic` is how the client names that one."""
    direct: defaultdict[int, list[int]] = defaultdict(list)
    groups: defaultdict[str, list[int]] = defaultdict(list)
    topics: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    count = 0
    for message in reversed(unread):
        if message.participants is None:
            topics[message.conversation_id, message.topic or empty_topic].append(message.id)
            count += not message.is_muted
            continue
        count += 1
        if len(message.participants) <= 2:
            others = [other for other in message.participants if other != user_id]
            direct[others[0] if others else user_id].append(message.id)
        else:
            groups[",".join(map(str, message.participants))].append(message.id)
    return UnreadMessages(
        count=count,
        pms=[UnreadDirect(other, other, ids) for other, ids in sorted(direct.items())],
        huddles=[UnreadGroup(people, ids) for people, ids in sorted(groups.items())],
        streams=[UnreadTopic(channel, topic, ids) for (channel, topic), ids in sorted(topics.items())],
        mentions=[],
        old_unreads_missing=len(unread) == MAX_UNREAD_LISTED,
    )
