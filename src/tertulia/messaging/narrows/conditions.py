"""What a narrow's terms mean: conditions on a message, on its topic or on its conversation, ready for SQL.

A condition is a frozen value. Its `shape` is all that the text of a statement depends on; its `values` are parameters, named
with the condition's place in the narrow. A null counts as false before it is negated: what has no topic is in no topic.
"""

from collections.abc import Hashable, Mapping
from datetime import datetime
from typing import Any

import msgspec
import sqlalchemy as sa

from tertulia.conversations.read_state.marks import Mark, TopicPolicy
from tertulia.conversations.read_state.statements import called, mark_of, muting
from tertulia.messaging.narrows.scopes import Test, contains
from tertulia.messaging.narrows.tables import (
    channel,
    constant,
    group_mention,
    message,
    message_mark,
    number,
    numbers,
    reaction,
    read_state,
    subscription,
    text,
    topic,
    topic_policy,
)

RESOLVED_PREFIX = "✔ "
_ME = number("me")
_READER = ":me"
"""The same parameter, in a part of a statement that is a text."""
_MARK = sa.SmallInteger()


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """Holds, or does not hold, for a message."""

    negated: bool = False

    @property
    def shape(self) -> Hashable:
        """What the statement's text depends on."""
        return type(self), self.negated

    def values(self) -> Mapping[str, object]:
        """The parameters, by their name in this condition."""
        return {}

    def signed(self, test: Test) -> Test:
        """The test, or its opposite if the term was negated."""
        return sa.not_(sa.func.coalesce(test, sa.false())) if self.negated else test


class OfConversation(Condition, frozen=True, kw_only=True):
    """A condition that is the same for all messages of a conversation."""

    def test(self, at: str, conversation_id: sa.ColumnElement[int]) -> Test:
        """On the conversation, beside the row of its channel. `at`: what the parameters' names start with."""
        raise NotImplementedError


class OfTopic(Condition, frozen=True, kw_only=True):
    """A condition that is the same for all messages of a topic."""

    def topic_test(self, at: str) -> Test:
        """On the row of the topic."""
        raise NotImplementedError

    def test(self, at: str) -> Test:
        """On the message."""
        return sa.select(self.topic_test(at)).where(topic.c.id == message.c.topic_id).scalar_subquery()


class OfMessage(Condition, frozen=True, kw_only=True):
    """A condition of the single message."""

    def test(self, at: str) -> Test:
        """On the message."""
        raise NotImplementedError


# Conversations


class InConversations(OfConversation, frozen=True, kw_only=True):
    """In one of these conversations."""

    ids: tuple[int, ...]

    def values(self) -> Mapping[str, object]:
        return {"ids": self.ids}

    def test(self, at: str, conversation_id: sa.ColumnElement[int]) -> Test:
        return conversation_id == sa.any_(numbers(f"{at}ids"))


class InChannels(OfConversation, frozen=True, kw_only=True):
    """In a channel of a kind: `public`, `web-public` or `archived`."""

    kind: str

    @property
    def shape(self) -> Hashable:
        return type(self), self.negated, self.kind

    def test(self, at: str, conversation_id: sa.ColumnElement[int]) -> Test:  # noqa: ARG002
        if self.kind == "public":
            return sa.not_(channel.c.invite_only)
        return channel.c.is_web_public if self.kind == "web-public" else channel.c.is_archived


class IsDirect(OfConversation, frozen=True, kw_only=True):
    """A direct message."""

    def test(self, at: str, conversation_id: sa.ColumnElement[int]) -> Test:  # noqa: ARG002
        return channel.c.id.is_(None)


# Topics


class InTopic(OfTopic, frozen=True, kw_only=True):
    """In the topic of this name, in whatever channel."""

    key: str

    def values(self) -> Mapping[str, object]:
        return {"key": self.key}

    def topic_test(self, at: str) -> Test:
        return topic.c.name_key == text(f"{at}key")


class IsResolved(OfTopic, frozen=True, kw_only=True):
    """In a resolved topic."""

    def topic_test(self, at: str) -> Test:  # noqa: ARG002
        return sa.func.starts_with(topic.c.name, sa.literal_column(f"'{RESOLVED_PREFIX}'"))


class IsFollowed(OfTopic, frozen=True, kw_only=True):
    """In a topic the reader follows."""

    def topic_test(self, at: str) -> Test:  # noqa: ARG002
        return own_policy(topic.c.id) == constant(TopicPolicy.FOLLOWED)


# Messages


class InTopicId(OfMessage, frozen=True, kw_only=True):
    """In one topic of a known channel."""

    id: int

    def values(self) -> Mapping[str, object]:
        return {"id": self.id}

    def test(self, at: str) -> Test:
        return message.c.topic_id == number(f"{at}id")


class SentBy(OfMessage, frozen=True, kw_only=True):
    """Sent by one user."""

    user_id: int

    def values(self) -> Mapping[str, object]:
        return {"sender": self.user_id}

    def test(self, at: str) -> Test:
        return message.c.sender_id == number(f"{at}sender")


class SentSince(OfMessage, frozen=True, kw_only=True):
    """Sent at a moment or later."""

    moment: datetime

    def values(self) -> Mapping[str, object]:
        return {"moment": self.moment}

    def test(self, at: str) -> Test:
        return message.c.sent_at >= sa.bindparam(f"{at}moment", type_=sa.DateTime(timezone=True))


class HasId(OfMessage, frozen=True, kw_only=True):
    """One message."""

    id: int

    def values(self) -> Mapping[str, object]:
        return {"id": self.id}

    def test(self, at: str) -> Test:
        return message.c.id == number(f"{at}id")


class HasMark(OfMessage, frozen=True, kw_only=True):
    """A user has this mark on the message."""

    user_id: int
    mark: Mark

    def values(self) -> Mapping[str, object]:
        return {"user": self.user_id, "mark": self.mark}

    def on_mark(self, at: str) -> Test:
        """On the row of the mark."""
        mark = sa.bindparam(f"{at}mark", type_=_MARK)
        return sa.and_(message_mark.c.user_id == number(f"{at}user"), message_mark.c.flag == mark)

    def test(self, at: str) -> Test:
        return exists(message_mark, message_mark.c.message_id == message.c.id, self.on_mark(at))


class IsMentioned(OfMessage, frozen=True, kw_only=True):
    """The reader is mentioned: by name, by a wildcard that reached them, or through a group."""

    group_ids: tuple[int, ...]

    def values(self) -> Mapping[str, object]:
        return {"groups": self.group_ids}

    def named(self) -> Test:
        """On the row of a mark."""
        return _asked(mark_of(Mark.MENTIONED, _READER))

    def by_wildcard(self) -> Test:
        """On the message: everybody who received it, or those of them who take part in its topic."""
        return _asked(called(_READER, "message", " offset 0"))

    def by_group(self, at: str) -> Test:
        """On the row of a group's mention."""
        return group_mention.c.group_id == sa.any_(numbers(f"{at}groups"))

    def test(self, at: str) -> Test:
        named = exists(message_mark, message_mark.c.message_id == message.c.id, self.named())
        through = exists(group_mention, group_mention.c.message_id == message.c.id, self.by_group(at))
        return sa.or_(named, self.by_wildcard(), through)


class IsUnread(OfMessage, frozen=True, kw_only=True):
    """The reader received the message and has not read it."""

    def test(self, at: str) -> Test:  # noqa: ARG002
        seq = message.c.seq
        missing = sa.not_(contains(read_state.c.read, seq))
        unread = sa.and_(self.belongs(), contains(read_state.c.history, seq), missing)
        own = [read_state.c.conversation_id == message.c.conversation_id, read_state.c.user_id == _ME]
        found = sa.select(unread).where(*own).correlate(message).scalar_subquery()
        return sa.and_(found, self.is_heard())

    def belongs(self) -> Test:
        """On the reader's state: in a channel they have left nothing is unread."""
        return sa.func.upper_inf(read_state.c.history)

    def is_heard(self) -> Test:
        """What is sent by somebody the reader muted counts as read."""
        return _asked(f"not exists ({muting(_READER, 'message')} offset 0)")


class IsHidden(OfMessage, frozen=True, kw_only=True):
    """In a topic the reader muted, or in a channel they muted and no topic they unmuted or follow there."""

    in_channel: bool = False
    """Inside one channel, its own muting does not count."""

    @property
    def shape(self) -> Hashable:
        return type(self), self.negated, self.in_channel

    def test(self, at: str) -> Test:  # noqa: ARG002
        policy = sa.func.coalesce(own_policy(message.c.topic_id), constant(TopicPolicy.NONE))
        otherwise = sa.false() if self.in_channel else is_muted(message.c.conversation_id)
        own = constant(TopicPolicy.MUTED)
        return sa.case((policy == own, sa.true()), (policy > own, sa.false()), else_=otherwise)

    def may_be_shown(self, conversation_id: sa.ColumnElement[int]) -> Test:
        """On a conversation: whether messages that are not hidden can be in it, so that the others need not be read."""
        chosen = [
            topic_policy.c.user_id == _ME,
            topic_policy.c.policy > constant(TopicPolicy.MUTED),
            topic.c.conversation_id == conversation_id,
        ]
        source = topic_policy.join(topic, topic.c.id == topic_policy.c.topic_id)
        rescued = sa.exists().select_from(source).where(*chosen)
        return sa.or_(sa.not_(is_muted(conversation_id)), rescued)


class Has(OfMessage, frozen=True, kw_only=True):
    """Holds something: `link`, `image`, `attachment` or `reaction`."""

    what: str

    @property
    def shape(self) -> Hashable:
        return type(self), self.negated, self.what

    def test(self, at: str) -> Test:  # noqa: ARG002
        if self.what == "reaction":
            return exists(reaction, reaction.c.message_id == message.c.id)
        held: Test = message.c[f"has_{self.what}"]
        return held


def _asked(part: str) -> Test:
    """A part of conversations/read_state/statements.py: what a message is to its reader is asked here as everywhere."""
    return sa.and_(sa.text(f"({part})").bindparams(_ME))


def exists(table: sa.TableClause, *tests: Test) -> Test:
    """Whether there is such a row. `offset 0`: it stays a look at one row each, and never becomes a join."""
    found = sa.select(constant(1)).select_from(table).where(*tests).offset(constant(0))
    return sa.exists(found.correlate(message, topic))


def is_muted(conversation_id: sa.ColumnElement[int]) -> Test:
    """Whether the reader muted this channel."""
    own = [subscription.c.user_id == _ME, subscription.c.channel_id == conversation_id]
    found = sa.select(subscription.c.is_muted).where(*own).correlate_except(subscription).scalar_subquery()
    return sa.func.coalesce(found, sa.false())


def own_policy(topic_id: sa.ColumnElement[Any]) -> "sa.ScalarSelect[int]":
    """What the reader decided about a topic; null: nothing."""
    own = [topic_policy.c.user_id == _ME, topic_policy.c.topic_id == topic_id]
    return sa.select(topic_policy.c.policy).where(*own).correlate(message, topic).scalar_subquery()
