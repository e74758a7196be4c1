"""The events of policies: `user_topic`, and `muted_topics` for clients that do not ask for it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tertulia.conversations.empty_topic import EMPTY_TOPIC, EmptyTopicPresenter
from tertulia.conversations.topics.model import Decided, MutedTopic, Topic, UserTopic
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


def muted_topics_told(settings: RealmSettings, lists: Mapping[int, list[MutedTopic]]) -> list[Record]:
    """The whole list of each, as older clients want it."""
    found = []
    for user_id, muted in lists.items():
        event: dict[str, Any] = {"muted_topics": muted}
        if any(topic == "" for _, topic, _ in muted):
            event[EMPTY_TOPIC] = settings.empty_topic_display_name
        found.append(record(Audience(users=(user_id,), instead="user_topic", old=True), "muted_topics", event))
    return found


class TopicPresenter(EmptyTopicPresenter):
    """Shows both."""

    def name_topics(self, event: dict[str, Any], shown: str) -> None:
        """The topic of the one, or those of the list."""
        if event.get("topic_name") == "":
            event["topic_name"] = shown
        for muted in event.get("muted_topics", ()):
            muted[1] = muted[1] or shown
