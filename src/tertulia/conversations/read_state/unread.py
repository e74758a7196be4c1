"""`unread_msgs`: the unread messages of a user, grouped as clients want them (pure)."""

from collections.abc import Sequence

import msgspec

from tertulia.conversations.read_state.model import Unread
from tertulia.kernel.compat import old_direct_keys
from tertulia.organization.realms.limits import MAX_UNREAD_LISTED


class UnreadDirect(msgspec.Struct):
    """Unread messages of a conversation with one other person, or with oneself."""

    other_user_id: int
    unread_message_ids: list[int]
    sender_id: int | msgspec.UnsetType = msgspec.UNSET


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
    found = UnreadMessages(count=0, pms=[], huddles=[], streams=[], mentions=[], old_unreads_missing=False)
    total = 0
    for place in unread:
        place.ids.sort()
        total += len(place.ids)
        found.count += 0 if place.is_muted else len(place.ids)
        found.mentions += place.mentions
        if place.participants is None:
            found.streams.append(UnreadTopic(place.conversation_id, place.topic or empty_topic, place.ids))
        elif len(place.participants) <= 2:
            other = next((other for other in place.participants if other != user_id), user_id)
            found.pms.append(UnreadDirect(other, place.ids, **old_direct_keys(other)))
        else:
            found.huddles.append(UnreadGroup(",".join(map(str, place.participants)), place.ids))
    found.pms.sort(key=lambda one: one.other_user_id)
    found.huddles.sort(key=lambda one: one.user_ids_string)
    found.mentions.sort()
    found.old_unreads_missing = total >= MAX_UNREAD_LISTED or any(place.places > len(unread) for place in unread[:1])
    return found
