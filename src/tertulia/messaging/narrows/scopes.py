"""The reader's scope: of all messages, those that a narrow may find at all (contract: narrow.md 8).

RECEIVED: sent while the reader belonged to the conversation, which they may still read. REACHED: all they may read, received
or not. Where the history is protected, both are what they received, as long as they are subscribed. PUBLIC and WEB_PUBLIC:
all of those channels. As a condition on a message it is one correlated subquery, so that the planner cannot turn it into a
join that loses the order of the index being walked.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import sqlalchemy as sa

from tertulia.conversations.channels.rights import MAY_READ
from tertulia.messaging.narrows.tables import account, channel, constant, conversation, message, number, read_state

Test = sa.ColumnElement[bool]


class Scope(Enum):
    """Which messages are considered."""

    RECEIVED = "received"
    REACHED = "reached"
    PUBLIC = "public"
    WEB_PUBLIC = "web-public"


_MAY_READ: Test = sa.literal_column(MAY_READ, sa.Boolean())
_ME, _REALM = number("me"), number("realm")

ConversationTest = Callable[[sa.ColumnElement[int]], Test]
"""A test of a conversation, given the column of its id; the row of its channel, if it is one, is there beside it."""


def conversations(scope: Scope, tests: Sequence[ConversationTest], *columns: sa.ColumnElement[Any]) -> "sa.Select[Any]":
    """The conversations of a scope that pass the tests: `conversation_id`, `visible` (unless all is), more columns."""
    if scope is Scope.RECEIVED:
        own = read_state.c.conversation_id
        source = _with_reader(read_state.outerjoin(channel, channel.c.id == own))
        where = [read_state.c.user_id == _ME, sa.or_(channel.c.id.is_(None), _MAY_READ), _keeps_received()]
        found: list[sa.ColumnElement[Any]] = [own, read_state.c.history.label("visible")]
        return sa.select(*found, *columns).select_from(source).where(*where, *(test(own) for test in tests))
    assert scope is not Scope.REACHED, "what can be reached is asked of each message"
    where = [channel.c.realm_id == _REALM, _is_kind(scope), *(test(channel.c.id) for test in tests)]
    return sa.select(channel.c.id.label("conversation_id"), *columns).where(*where)


def is_visible(scope: Scope, tests: Sequence[ConversationTest]) -> Test:
    """The scope and the tests of conversations, as a condition on a message."""
    at = message.c.conversation_id
    if scope is Scope.RECEIVED:
        found = _received(message.c.seq).where(read_state.c.conversation_id == at)
        own: sa.ColumnElement[int] = read_state.c.conversation_id
    elif scope is Scope.REACHED:
        found, own = _reached().where(conversation.c.id == at), conversation.c.id
    else:
        where = [channel.c.id == at, channel.c.realm_id == _REALM, _is_kind(scope)]
        found, own = sa.select(sa.true()).select_from(channel).where(*where), channel.c.id
    return found.where(*(test(own) for test in tests)).correlate(message).scalar_subquery()


def visible_in_one(*, is_all: bool) -> list[Test]:
    """The scope inside one conversation that the reader is known to read, with all its messages or the received ones."""
    here = message.c.conversation_id == number("conversation")
    if is_all:
        return [here]
    own = read_state.outerjoin(channel, channel.c.id == read_state.c.conversation_id)
    where = [read_state.c.conversation_id == number("conversation"), read_state.c.user_id == _ME, _keeps_received()]
    history = sa.select(read_state.c.history).select_from(own).where(*where)
    return [here, contains(history.scalar_subquery(), message.c.seq)]


def contains(multirange: sa.ColumnElement[Any], number: sa.ColumnElement[int]) -> Test:
    """Whether a set of numbers holds one."""
    return number.op("<@", is_comparison=True)(multirange)


def _received(seq: sa.ColumnElement[int]) -> "sa.Select[Any]":
    source = _with_reader(read_state.outerjoin(channel, channel.c.id == read_state.c.conversation_id))
    where = [read_state.c.user_id == _ME, sa.or_(channel.c.id.is_(None), _MAY_READ), _keeps_received()]
    return sa.select(contains(read_state.c.history, seq)).select_from(source).where(*where)


def _reached() -> "sa.Select[Any]":
    is_received = sa.and_(contains(read_state.c.history, message.c.seq), _belongs())
    is_reached = sa.case(
        (channel.c.id.is_(None), contains(read_state.c.history, message.c.seq)),
        (_MAY_READ, sa.or_(channel.c.history_public_to_subscribers, is_received)),
        else_=sa.false(),
    )
    own_state = sa.and_(read_state.c.conversation_id == conversation.c.id, read_state.c.user_id == _ME)
    spoken = conversation.outerjoin(channel, channel.c.id == conversation.c.id).outerjoin(read_state, own_state)
    return sa.select(is_reached).select_from(_with_reader(spoken)).where(conversation.c.realm_id == _REALM)


def _with_reader(source: sa.Join) -> sa.Join:
    return source.outerjoin(account, account.c.id == _ME)


def _keeps_received() -> Test:
    """Whether what the reader received in a conversation is still theirs: of a protected history only while subscribed."""
    return sa.or_(channel.c.id.is_(None), channel.c.history_public_to_subscribers, _belongs())


def _belongs() -> Test:
    """Whether the reader belongs to the conversation now: what is said next is theirs."""
    return sa.func.upper_inf(read_state.c.history, type_=sa.Boolean())


def _is_kind(scope: Scope) -> Test:
    if scope is Scope.PUBLIC:
        return sa.not_(channel.c.invite_only)
    # Readers without an account (their id is 0) know nothing of archived channels.
    return sa.and_(channel.c.is_web_public, sa.or_(sa.not_(channel.c.is_archived), constant(0) < _ME))
