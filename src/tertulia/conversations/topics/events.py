"""The events of policies: `user_topic`, and `muted_topics` for clients that do not ask for it."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.conversations.empty_topic import EMPTY_TOPIC, EmptyTopicPresenter
from tertulia.conversations.topics.model import Decided, MutedList, Topic, UserTopic
from tertulia.events.log.record import Audience, Record, record
from tertulia.organization.realms.settings import RealmSettings


def policies_decided(settings: RealmSettings, topic: Topic, decided: Sequence[Decided]) -> list[Record]:
    """What people are told: those who came to the same policy hear it together."""
    users: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for one in decided:
        users[one.new, one.updated_at].append(one.user_id)
    found = []
    for (policy, updated_at), user_ids in users.items():
        event = msgspec.structs.asdict(UserTopic(topic.channel_id, topic.name, updated_at, policy))
        if topic.name == "":
            event[EMPTY_TOPIC] = settings.empty_topic_display_name
        found.append(record(Audience(users=tuple(user_ids)), "user_topic", event))
    return found


def muted_topics_told(settings: RealmSettings, muted: MutedList) -> Record:
    """The whole list of somebody, as older clients want it."""
    event: dict[str, Any] = {"muted_topics": msgspec.Raw(muted.topics.encode())}
    if muted.has_empty:
        event[EMPTY_TOPIC] = settings.empty_topic_display_name
    return record(Audience(users=(muted.user_id,), instead="user_topic", old=True), "muted_topics", event)


def muted_topics_untold(user_ids: Sequence[int]) -> Record:
    """Older clients of these register again: their lists together are more than can be told."""
    to = Audience(users=tuple(user_ids), instead="user_topic", old=True)
    return msgspec.structs.replace(record(to, "muted_topics", {}), closes=True)


class TopicPresenter(EmptyTopicPresenter):
    """Shows both."""

    def name_topics(self, event: dict[str, Any], shown: str) -> None:
        """The topic of the one, or those of the list."""
        if event.get("topic_name") == "":
            event["topic_name"] = shown
        for muted in event.get("muted_topics", ()):
            muted[1] = muted[1] or shown
