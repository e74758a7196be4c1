"""The events of policies: `user_topic`, and `muted_topics` for clients that do not ask for it."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import msgspec

from tertulia.events.logged import Listener, Logged
from tertulia.events.record import Audience, Record, record
from tertulia.reads.events import EMPTY_TOPIC
from tertulia.realms.settings import RealmSettings
from tertulia.topics.model import Decided, MutedTopic, Topic, UserTopic

_MARK = f'"{EMPTY_TOPIC}":'.encode()  # quotes inside a text are escaped: this is a key and nothing else
_decoder = msgspec.json.Decoder(dict[str, Any])
_encode = msgspec.json.Encoder().encode


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
        found.append(record(Audience(users=(user_id,), instead="user_topic"), "muted_topics", event))
    return found


class TopicPresenter:
    """Shows both: the empty topic has a name for those who cannot show it."""

    def variant(self, _logged: Logged, listener: Listener) -> Hashable:
        """What makes the texts of two listeners differ."""
        return listener.options.capabilities.empty_topic_name

    def present(self, logged: Logged, listener: Listener) -> bytes:
        """The event's keys."""
        stored = bytes(logged.record.event)
        if _MARK not in stored:
            return stored[1:-1]
        event = _decoder.decode(stored)
        shown = event.pop(EMPTY_TOPIC)
        if not listener.options.capabilities.empty_topic_name:
            if event.get("topic_name") == "":
                event["topic_name"] = shown
            for muted in event.get("muted_topics", ()):
                muted[1] = muted[1] or shown
        return _encode(event)[1:-1]
