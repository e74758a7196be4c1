"""How the messages of a narrow are found: which index is walked from the anchor until there are enough.

Each driver makes a statement of ids. They differ in cost only: each has the reader's scope and all conditions in it.
- in one conversation or topic, or sent by somebody: the index of those messages, in the order of ids;
- everything received: conversation by conversation, so that the cost grows with the reader's channels, never with the past;
- flags: the few rows of the reader; unread: the gaps of what was read; a search for rare words: the full-text index;
- what is muted: the topics and channels that the reader muted.
"""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from tertulia.conversations.read_state.marks import TopicPolicy
from tertulia.messaging.narrows.conditions import (
    Condition,
    Has,
    HasMark,
    InTopicId,
    IsHidden,
    IsMentioned,
    IsUnread,
    OfConversation,
    OfMessage,
    OfTopic,
    SentBy,
    is_muted,
    own_policy,
)
from tertulia.messaging.narrows.model import Narrowed
from tertulia.messaging.narrows.scopes import (
    ConversationTest,
    Scope,
    Test,
    contains,
    conversations,
    is_visible,
    visible_in_one,
)
from tertulia.messaging.narrows.search import Matches
from tertulia.messaging.narrows.tables import (
    channel,
    constant,
    conversation,
    group_mention,
    message,
    message_mark,
    number,
    reaction,
    read_state,
    topic,
    topic_policy,
)

Ids = sa.Select[Any]
_ANCHOR, _LIMIT = number("anchor"), number("limit")
_ZERO, _ONE, _TWO = constant(0), constant(1), constant(2)


class Builder:
    """One statement in the making: the ids of a narrow, from the anchor downwards or upwards."""

    def __init__(self, narrow: Narrowed, *, downwards: bool) -> None:
        self.narrow = narrow
        self.downwards = downwards
        self.named = [(condition, f"c{place}_") for place, condition in enumerate(narrow.conditions)]

    # What every statement holds

    def tests(self, *known: Condition) -> list[Test]:
        """The conditions on a message, without those that the driver knows to hold, or that are left to the scope."""
        return [
            condition.signed(condition.test(at))
            for condition, at in self.named
            if isinstance(condition, OfMessage | OfTopic) and condition not in known
        ]

    def conversation_tests(self) -> list[ConversationTest]:
        """The conditions on conversations."""

        def bound(condition: OfConversation, at: str) -> ConversationTest:
            return lambda conversation_id: condition.signed(condition.test(at, conversation_id))

        return [bound(condition, at) for condition, at in self.named if isinstance(condition, OfConversation)]

    def scope_tests(self) -> list[Test]:
        """The scope as conditions on a message."""
        tests = self.conversation_tests()
        if self.narrow.conversation_id is None:
            return [is_visible(self.narrow.scope, tests)]
        here = visible_in_one(is_all=self.narrow.sees_all)
        if not tests:
            return here
        spoken = conversation.outerjoin(channel, channel.c.id == conversation.c.id)
        passes = sa.and_(*(test(conversation.c.id) for test in tests))
        asked = sa.select(passes).select_from(spoken).where(conversation.c.id == number("conversation"))
        return [*here, asked.scalar_subquery()]

    def from_anchor(self, column: sa.ColumnElement[int]) -> Test:
        """On this side of the anchor."""
        return column <= _ANCHOR if self.downwards else column >= _ANCHOR

    def cut(self, found: Ids, column: sa.ColumnElement[int]) -> Ids:
        """As many as wanted, the nearest to the anchor first."""
        return found.order_by(column.desc() if self.downwards else column.asc()).limit(_LIMIT)

    def union(self, *parts: Ids) -> Ids:
        """What is in one of several statements, each cut already."""
        both = sa.union(*(sa.select(part.subquery().c.id) for part in parts)).subquery("found")
        return self.cut(sa.select(both.c.id), both.c.id)


def walk(build: Builder, *more: Test) -> Ids:
    """Along the messages in the order of ids: of a conversation, a topic, a sender."""
    tests = [build.from_anchor(message.c.id), *build.scope_tests(), *build.tests(), *more]
    return build.cut(sa.select(message.c.id).where(*tests), message.c.id)


def among(build: Builder) -> Ids:
    """Those of given messages that are in the narrow."""
    given = message.c.id == sa.any_(sa.bindparam("ids", type_=sa.ARRAY(sa.BigInteger())))
    return sa.select(message.c.id).where(given, *build.scope_tests(), *build.tests()).order_by(message.c.id)


def through_conversations(build: Builder, *more: Test) -> Ids:
    """Conversation by conversation, or topic by topic where the narrow names topics.

    A few of each tell how far the window can reach at most; then only what lies within is read. Reading a whole window of
    each conversation instead is 100 times 100 rows for somebody in 100 channels.
    """
    return _through(build, _places(build), [*build.tests(*(condition for condition, _ in _topical(build))), *more])


def hidden(build: Builder) -> Ids:
    """From what the reader muted: along the muted topics, and through the muted channels where not every topic was chosen.

    Whoever muted little, or nothing, has nothing else read for them.
    """
    senders = [(condition, at) for condition, at in build.named if isinstance(condition, SentBy)]
    tests = build.tests(*(condition for condition, _ in (*senders, *_topical(build))))
    # Not by their index: it would be walked once for each place.
    tests += [condition.signed(message.c.sender_id + _ZERO == number(f"{at}sender")) for condition, at in senders]
    if build.narrow.conversation_id is not None:
        tests += build.scope_tests()
    in_topics = _through(build, _muted_topics(build), tests, "_of_topics")
    return build.union(in_topics, _through(build, _muted_channels(build), tests, "_of_channels"))


def _through(build: Builder, places: sa.CTE, tests: Sequence[Test], name: str = "") -> Ids:
    count = sa.select(sa.func.greatest(sa.func.count(), _ONE)).select_from(places).scalar_subquery()
    sample_size = _TWO + (_TWO * _LIMIT).op("/")(count)
    sampled = _of_place(build, places, tests, sample_size)
    nearest = build.cut(sa.select(sampled.c.id).select_from(places.join(sampled, sa.true())), sampled.c.id)
    reached = _reach(build, nearest.cte(f"sample{name}"), f"reach{name}")
    found = _of_place(build, places, [*tests, _within(build, reached)], _LIMIT)
    return build.cut(
        sa.select(found.c.id).select_from(reached.join(places, sa.true()).join(found, sa.true())), found.c.id
    )


def marked(build: Builder, condition: HasMark, at: str) -> Ids:
    """Along the rows of a flag."""
    return _along(build, message_mark, [condition.on_mark(at)], condition)


def mentioned(build: Builder, condition: IsMentioned, at: str) -> Ids:
    """Along the reader's own mentions, the wildcards of each conversation, and the mentions of their groups."""
    by_wildcard = condition.by_wildcard()
    one = build.narrow.conversation_id is not None
    wild = walk(build, by_wildcard) if one else through_conversations(build, by_wildcard)
    return build.union(
        _along(build, message_mark, [condition.named()], condition),
        wild,
        _along(build, group_mention, [condition.by_group(at)], condition),
    )


def unread(build: Builder) -> Ids:
    """Through the gaps of what was read: each is one range of the index."""
    here = build.narrow.conversation_id is not None
    tests = [*build.conversation_tests(), lambda _: IsUnread().belongs()]
    if here:
        tests.append(lambda conversation_id: conversation_id == number("conversation"))
    all_seqs = sa.func.int8multirange(sa.func.int8range(_ONE, _last_seq() + _ONE))
    gaps = read_state.c.history.op("*")(all_seqs).op("-")(read_state.c.read)
    mine = conversations(Scope.RECEIVED, [*tests, *_worth_reading(build)], gaps.label("gaps"))
    mine_cte = mine.cte("mine").prefix_with("materialized")
    each = sa.select(mine_cte.c.conversation_id, sa.func.unnest(mine_cte.c.gaps).label("gap"))
    gap = each.cte("gap").prefix_with("materialized")
    own = message.c.conversation_id == gap.c.conversation_id
    inside = [message.c.seq >= sa.func.lower(gap.c.gap), message.c.seq < sa.func.upper(gap.c.gap)]
    rest = [IsUnread().is_heard(), *build.tests(IsUnread())]
    found = sa.select(message.c.id).where(own, *inside, build.from_anchor(message.c.id), *rest).offset(_ZERO)
    lateral = found.correlate(gap).lateral("found")
    return build.cut(sa.select(lateral.c.id).select_from(gap.join(lateral, sa.true())), lateral.c.id)


def searched(build: Builder, condition: Matches, at: str) -> Ids:
    """By the full-text index, or for a few letters of a script without spaces along the messages that have any; and along
    the messages of topics that hold one of the words.

    What the index found tells how far the window can reach at most; the topics are read only so far.
    """
    tests = [build.from_anchor(message.c.id), *build.scope_tests(), *build.tests()]
    if condition.is_rare:
        hits = sa.select(message.c.id).where(condition.in_text(at)).cte("hit").prefix_with("materialized")
        source = hits.join(message, message.c.id == hits.c.id)
        in_text = build.cut(sa.select(message.c.id).select_from(source).where(*tests), message.c.id)
    elif build.narrow.conversation_id is not None:
        in_text = walk(build, condition.in_text(at))
    else:
        in_text = through_conversations(build, condition.in_text(at))
    near = in_text.cte("near").prefix_with("materialized")
    reached = _reach(build, near, "reach_of_hits")
    topics = _named_topics(build, condition, at)
    inner = sa.select(message.c.id).where(message.c.topic_id == topics.c.id, _within(build, reached), *tests)
    found = build.cut(inner, message.c.id).correlate(topics, reached).lateral("found")
    in_topics = sa.select(found.c.id).select_from(reached.join(topics, sa.true()).join(found, sa.true()))
    return build.union(sa.select(near.c.id), build.cut(in_topics, found.c.id))


def _named_topics(build: Builder, condition: Matches, at: str) -> sa.CTE:
    named = sa.select(topic.c.id).where(condition.in_topic(at))
    if build.narrow.conversation_id is not None:
        named = named.where(topic.c.conversation_id == number("conversation"))
    else:
        named = named.where(topic.c.conversation_id.in_(_channels_of(build)))
    return named.cte("named").prefix_with("materialized")


def _reach(build: Builder, near: sa.CTE, name: str) -> sa.CTE:
    """The furthest of enough ids that were found; the end, if they are not enough."""
    furthest, end = (sa.func.min, _ZERO) if build.downwards else (sa.func.max, constant(2**63 - 1))
    is_full = sa.func.count() == _LIMIT
    found = sa.select(sa.case((is_full, furthest(near.c.id)), else_=end).label("id")).select_from(near)
    return found.cte(name).prefix_with("materialized")


def _within(build: Builder, reached: sa.CTE) -> Test:
    return message.c.id >= reached.c.id if build.downwards else message.c.id <= reached.c.id


def reacted(build: Builder) -> Ids:
    """Along the reactions, which are fewer than the messages."""
    tests = [build.from_anchor(reaction.c.message_id)]
    known = sa.select(reaction.c.message_id.label("message_id")).where(*tests).distinct().subquery("reacted")
    return _along(build, known, [], Has(what="reaction"))


def _along(build: Builder, rows: sa.FromClause, of_rows: Sequence[Test], known: Condition) -> Ids:
    tests = [build.from_anchor(rows.c.message_id), *of_rows, *build.scope_tests(), *build.tests(known)]
    source = rows.join(message, message.c.id == rows.c.message_id)
    return build.cut(sa.select(rows.c.message_id.label("id")).select_from(source).where(*tests), rows.c.message_id)


def _places(build: Builder) -> sa.CTE:
    mine = conversations(build.narrow.scope, [*build.conversation_tests(), *_worth_reading(build)])
    named = [condition.topic_test(at) for condition, at in _topical(build)]
    if not named:
        return mine.cte("place").prefix_with("materialized")
    scope = mine.cte("mine").prefix_with("materialized")
    source = scope.join(topic, topic.c.conversation_id == scope.c.conversation_id)
    found = sa.select(*scope.c, topic.c.id.label("topic_id")).select_from(source).where(*named)
    return found.cte("place").prefix_with("materialized")


def _muted_topics(build: Builder) -> sa.CTE:
    own = [topic_policy.c.user_id == number("me"), topic_policy.c.policy == constant(TopicPolicy.MUTED)]
    source = topic_policy.join(topic, topic.c.id == topic_policy.c.topic_id)
    found = sa.select(topic.c.id, topic.c.conversation_id).select_from(source).where(*own, *_topic_tests(build))
    muted = found.cte("muted_topic").prefix_with("materialized")
    mine = _considered(build, lambda at: at.in_(sa.select(muted.c.conversation_id))).cte("mine_of_topics")
    both = mine.join(muted, muted.c.conversation_id == mine.c.conversation_id)
    return (
        sa.select(*mine.c, muted.c.id.label("topic_id"))
        .select_from(both)
        .cte("muted_topic_place")
        .prefix_with("materialized")
    )


def _muted_channels(build: Builder) -> sa.CTE:
    mine = _considered(build, is_muted).cte("mine_of_channels").prefix_with("materialized")
    here = topic.c.conversation_id == mine.c.conversation_id
    undecided = sa.func.coalesce(own_policy(topic.c.id), constant(TopicPolicy.NONE)) == constant(TopicPolicy.NONE)
    named = _topic_tests(build)
    if not named:
        left = sa.exists().select_from(topic).where(here, undecided)
        return sa.select(*mine.c).where(left).cte("muted_channel_place").prefix_with("materialized")
    found = sa.select(*mine.c, topic.c.id.label("topic_id")).select_from(mine.join(topic, here))
    return found.where(undecided, *named).cte("muted_channel_place").prefix_with("materialized")


def _considered(build: Builder, test: ConversationTest) -> "sa.Select[Any]":
    """The conversations of the narrow that pass one more test."""
    if build.narrow.conversation_id is None:
        return conversations(build.narrow.scope, [*build.conversation_tests(), test])
    here = conversation.c.id == number("conversation")
    return sa.select(conversation.c.id.label("conversation_id")).where(here, test(conversation.c.id))


def _topic_tests(build: Builder) -> list[Test]:
    """On the row of a topic: those that the narrow names."""
    known = [topic.c.id == number(f"{at}id") for condition, at in build.named if _is_one_topic(condition)]
    return [*known, *(condition.topic_test(at) for condition, at in _topical(build))]


def _is_one_topic(condition: Condition) -> bool:
    return isinstance(condition, InTopicId) and not condition.negated


def _topical(build: Builder) -> list[tuple[OfTopic, str]]:
    return [
        (condition, at) for condition, at in build.named if isinstance(condition, OfTopic) and not condition.negated
    ]


def _of_place(build: Builder, places: sa.CTE, tests: Sequence[Test], limit: sa.ColumnElement[int]) -> sa.FromClause:
    if "topic_id" in places.c:
        own = message.c.topic_id == places.c.topic_id
    else:
        own = message.c.conversation_id == places.c.conversation_id
    seen = [contains(places.c.visible, message.c.seq)] if "visible" in places.c else []
    found = sa.select(message.c.id).where(own, build.from_anchor(message.c.id), *seen, *tests)
    order = message.c.id.desc() if build.downwards else message.c.id.asc()
    return found.order_by(order).limit(limit).correlate(places).correlate_except(message).lateral()


def _worth_reading(build: Builder) -> list[ConversationTest]:
    hidden = [condition for condition, _ in build.named if isinstance(condition, IsHidden) and condition.negated]
    if build.narrow.scope is not Scope.RECEIVED or not hidden or hidden[0].in_channel:
        return []
    return [hidden[0].may_be_shown]


def _channels_of(build: Builder) -> "sa.Select[Any]":
    if build.narrow.scope is Scope.REACHED:
        return sa.select(channel.c.id).where(channel.c.realm_id == number("realm"))
    return conversations(build.narrow.scope, build.conversation_tests()).with_only_columns(
        read_state.c.conversation_id if build.narrow.scope is Scope.RECEIVED else channel.c.id
    )


def _last_seq() -> "sa.ScalarSelect[int]":
    asked = sa.select(conversation.c.last_seq).where(conversation.c.id == read_state.c.conversation_id)
    return asked.correlate(read_state).scalar_subquery()
