"""Which missed messages a mail is about (pure)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import get_args

from tertulia.notifications.concerns.model import Trigger
from tertulia.notifications.concerns.retelling import MAX_READ
from tertulia.notifications.concerns.rules import ACTIVE_SECONDS, decide
from tertulia.notifications.missed_mail.model import Candidate, Shown

Conversation = tuple[int, int | None]
"""A conversation, and the topic if it is a channel."""
MAX_TOLD = 100_000
"""Of all messages in the mails of one person at a time, characters of their HTML: what reading them costs the worker. The others
are counted in the mail."""
URGENCY: tuple[Trigger, ...] = get_args(Trigger)


class Presence(Enum):
    """Where somebody was when a message came who had been there shortly before."""

    THERE = "there"
    GONE = "gone"
    UNKNOWN = "unknown"


def presence_of(sent_at: datetime, active_at: datetime | None, now: datetime) -> Presence:
    """Whoever did something after it came was there; whoever did nothing for as long as people count as active was gone."""
    if active_at is not None and active_at > sent_at:
        return Presence.THERE
    if active_at is not None and now - active_at < timedelta(seconds=ACTIVE_SECONDS):
        return Presence.UNKNOWN
    return Presence.GONE


def told(candidates: Iterable[Candidate]) -> dict[Conversation, list[tuple[Trigger, Candidate]]]:
    """What is still to be told of one person's messages, by conversation, the oldest first."""
    found: defaultdict[Conversation, list[tuple[Trigger, Candidate]]] = defaultdict(list)
    for one in sorted(candidates, key=lambda candidate: candidate.facts.message_id):
        trigger = decide(one.facts).mail
        if trigger is not None:
            found[one.conversation_id, one.topic_id].append((trigger, one))
    return dict(found)


def most_urgent(triggers: Iterable[Trigger]) -> Trigger:
    """The reason that a mail names."""
    return min(triggers, key=URGENCY.index)


def has_context(triggers: Sequence[Trigger]) -> bool:
    """Whoever is mentioned in a channel wants to know what it was about."""
    return most_urgent(triggers) in ("mentioned", "topic_wildcard_mentioned", "stream_wildcard_mentioned")


class Room:
    """How much is still told to one person: the first messages that fit, and none after one that does not."""

    def __init__(self) -> None:
        self._left = MAX_TOLD

    def take(self, messages: Sequence[Shown]) -> list[Shown]:
        """Those of the messages that there is room for."""
        taken: list[Shown] = []
        for one in messages:
            self._left -= min(len(one.rendered), MAX_READ)
            if self._left < 0:
                break
            taken.append(one)
        return taken
