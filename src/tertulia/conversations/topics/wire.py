"""What clients see of topic policies: which topics are muted, unmuted and followed."""

from typing import Literal

from tertulia.conversations.read_state.marks import TopicPolicyNumber
from tertulia.conversations.topics.model import MutedTopic, UserTopic
from tertulia.events.wire import Event


class UserTopicEvent(Event, frozen=True, kw_only=True):
    """You muted, unmuted or followed a topic, or reset your choice: it is treated as its channel again."""

    type: Literal["user_topic"]
    stream_id: int
    topic_name: str
    last_updated: int
    visibility_policy: TopicPolicyNumber


class MutedTopicsEvent(Event, frozen=True, kw_only=True):
    """Your muted topics changed: all of them, for clients that do not ask for `user_topic`."""

    type: Literal["muted_topics"]
    muted_topics: list[MutedTopic]


KEYS = {
    "user_topics": list[UserTopic],
    "muted_topics": list[MutedTopic],
}
