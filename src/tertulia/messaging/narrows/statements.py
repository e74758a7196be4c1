"""A narrow as SQL: composed with SQLAlchemy Core, compiled once per shape, run by asyncpg.

The shape is everything the text depends on: the kinds of conditions, the scope, the direction. Values are parameters.
"""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

import msgspec
from sqlalchemy.dialects.postgresql.asyncpg import dialect

from tertulia.messaging.narrows import drivers
from tertulia.messaging.narrows.conditions import (
    Has,
    HasId,
    HasMark,
    InTopicId,
    IsHidden,
    IsMentioned,
    IsUnread,
    SentBy,
)
from tertulia.messaging.narrows.drivers import Builder, Ids
from tertulia.messaging.narrows.model import Narrowed
from tertulia.messaging.narrows.scopes import Scope
from tertulia.messaging.narrows.search import Matches

MAX_SHAPES = 2000
_dialect = dialect()  # type: ignore[no-untyped-call]


class Statement(msgspec.Struct, frozen=True):
    """A text and its parameters in order."""

    sql: str
    arguments: tuple[Any, ...]


def ids_from(narrow: Narrowed, anchor: int, limit: int, *, downwards: bool) -> Statement:
    """At most `limit` ids of the narrow, from the anchor on (itself included), the nearest first."""
    return _statement(narrow, "down" if downwards else "up", {"anchor": anchor, "limit": limit})


def ids_among(narrow: Narrowed, ids: list[int]) -> Statement:
    """Those of the given messages that are in the narrow, ascending."""
    return _statement(narrow, "among", {"ids": ids})


def _statement(narrow: Narrowed, kind: str, values: dict[str, Any]) -> Statement:
    one = narrow.conversation_id is not None
    shapes = tuple(condition.shape for condition in narrow.conditions)
    sql, names = _compiled(narrow, kind, (kind, narrow.scope, one, narrow.sees_all, shapes))
    values |= {"me": narrow.user_id, "realm": narrow.realm_id, "conversation": narrow.conversation_id}
    for place, condition in enumerate(narrow.conditions):
        for name, value in condition.values().items():
            values[f"c{place}_{name}"] = value
    return Statement(sql, tuple(values[name] for name in names))


_texts: OrderedDict[Hashable, tuple[str, tuple[str, ...]]] = OrderedDict()


def _compiled(narrow: Narrowed, kind: str, shape: Hashable) -> tuple[str, tuple[str, ...]]:
    known = _texts.get(shape)
    if known is not None:
        _texts.move_to_end(shape)
        return known
    build = Builder(narrow, downwards=kind != "up")
    found = drivers.among(build) if kind == "among" else driven(build)
    compiled = found.compile(dialect=_dialect)
    known = _texts[shape] = (str(compiled), tuple(compiled.positiontup or ()))
    while len(_texts) > MAX_SHAPES:
        _texts.popitem(last=False)
    return known


def driven(build: Builder) -> Ids:
    """The statement of a narrow by the driver that suits its conditions best."""
    positive = [(condition, at) for condition, at in build.named if not condition.negated]
    kinds = {type(condition) for condition, _ in positive}
    if HasId in kinds:
        return drivers.walk(build)
    if IsUnread in kinds:
        return drivers.unread(build)
    for condition, at in positive:
        if isinstance(condition, HasMark):
            return drivers.marked(build, condition, at)
    for condition, at in positive:
        if isinstance(condition, IsMentioned):
            return drivers.mentioned(build, condition, at)
        if isinstance(condition, Matches) and condition.wants_index and InTopicId not in kinds:
            return drivers.searched(build, condition, at)
    if IsHidden in kinds:
        return drivers.hidden(build)
    if build.narrow.conversation_id is not None or SentBy in kinds or build.narrow.scope is Scope.REACHED:
        return drivers.walk(build)
    if any(isinstance(condition, Has) and condition.what == "reaction" for condition, _ in positive):
        return drivers.reacted(build)
    return drivers.through_conversations(build)
