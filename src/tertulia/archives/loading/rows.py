"""Lines that become rows as they are: of each kind its tables, and the rows of a line (pure)."""

from collections.abc import Callable, Iterable
from typing import Any

import asyncpg

from tertulia.archives.form import kinds
from tertulia.archives.loading.rendering import change_row
from tertulia.archives.loading.shifts import Shifts
from tertulia.archives.loading.texts import Rewriter
from tertulia.conversations.channels.model import PALETTE
from tertulia.conversations.read_state.marks import Mark, TopicPolicy
from tertulia.kernel.text import name_key_of

Row = tuple[Any, ...]
Make = Callable[[Any, int, Shifts, Rewriter], Iterable[Row]]
CHOICES = (
    *("is_muted", "pin_to_top", "desktop_notifications", "audible_notifications", "push_notifications"),
    *("email_notifications", "wildcard_mentions_notify"),
)


def _direct(one: kinds.Direct, realm_id: int, shifts: Shifts, _: Rewriter) -> Iterable[Row]:
    people = [person + shifts.person for person in one.participants]
    yield one.id + shifts.conversation, realm_id, one.last_number, people


def _topic(one: kinds.ChannelTopic, _: int, shifts: Shifts, __: Rewriter) -> Iterable[Row]:
    about = (one.name, name_key_of(one.name), one.last_number)
    yield one.id + shifts.topic, one.channel_id + shifts.conversation, *about


def _participants(one: kinds.ChannelTopic, _: int, shifts: Shifts, __: Rewriter) -> Iterable[Row]:
    for person in dict.fromkeys(one.participants):
        yield one.id + shifts.topic, person + shifts.person


def _subscription(one: kinds.Subscription, _: int, shifts: Shifts, __: Rewriter) -> Iterable[Row]:
    """Who did not say how a channel looks gets a colour, as whoever subscribes."""
    color = PALETTE[one.channel_id % len(PALETTE)]
    choices = one.choices or kinds.Choices(color=color)
    chosen = (getattr(choices, name) for name in CHOICES)
    yield one.user_id + shifts.person, one.channel_id + shifts.conversation, one.is_active, choices.color, *chosen


def _topic_change(one: kinds.TopicChange, _: int, shifts: Shifts, __: Rewriter) -> Iterable[Row]:
    yield *change_row(one, shifts), one.topic_id + shifts.topic, one.last_number


def _read_state(one: kinds.ReadState, _: int, shifts: Shifts, __: Rewriter) -> Iterable[Row]:
    numbers = ([asyncpg.Range(first, after) for first, after in ranges] for ranges in (one.read, one.history))
    yield one.conversation_id + shifts.conversation, one.user_id + shifts.person, *numbers


def _mark(one: kinds.MessageMark, _: int, shifts: Shifts, __: Rewriter) -> Iterable[Row]:
    yield one.user_id + shifts.person, int(Mark[one.flag.upper()]), one.message_id + shifts.message


def _topic_policy(one: kinds.TopicPolicyRecord, _: int, shifts: Shifts, __: Rewriter) -> Iterable[Row]:
    yield one.user_id + shifts.person, one.topic_id + shifts.topic, int(TopicPolicy[one.policy.upper()]), one.at


def place_of(one: kinds.Draft | kinds.ScheduledMessage, shifts: Shifts) -> tuple[int | None, list[int] | None]:
    """Where something goes that is not sent yet: a channel, or people."""
    channel = None if one.channel_id is None else one.channel_id + shifts.conversation
    return channel, [person + shifts.person for person in one.user_ids] if one.user_ids else None


def _draft(one: kinds.Draft, _: int, shifts: Shifts, rewriter: Rewriter) -> Iterable[Row]:
    text = rewriter.text(one.content)
    place = place_of(one, shifts)
    yield one.id + shifts.draft, one.user_id + shifts.person, *place, one.topic, text, one.edited


def _snippet(one: kinds.Snippet, _: int, shifts: Shifts, rewriter: Rewriter) -> Iterable[Row]:
    yield one.id + shifts.snippet, one.user_id + shifts.person, one.title, rewriter.text(one.content), one.created


MAKERS: dict[str, tuple[tuple[str, str, Make], ...]] = {
    "directs": (("conversation", "id realm_id last_seq participants", _direct),),
    "topics": (
        ("topic", "id conversation_id name name_key last_seq", _topic),
        ("topic_participant", "topic_id user_id", _participants),
    ),
    "subscriptions": (("subscription", "user_id channel_id is_active color " + " ".join(CHOICES), _subscription),),
    "files": (),
    "messages": (),
    "topic_changes": (
        (
            "message_revision",
            "id user_id changed_at prev_topic topic prev_channel_id channel_id topic_id last_seq",
            _topic_change,
        ),
    ),
    "read_states": (("read_state", "conversation_id user_id read history", _read_state),),
    "marks": (("message_mark", "user_id flag message_id", _mark),),
    "topic_policies": (("topic_policy", "user_id topic_id policy updated_at", _topic_policy),),
    "drafts": (("draft", "id user_id channel_id user_ids topic content edited_at", _draft),),
    "snippets": (("saved_snippet", "id user_id title content date_created", _snippet),),
}
"""Tables with their columns, in the order in which they are written. Files and messages are written otherwise."""
