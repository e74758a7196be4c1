"""What several coroutines read at the same time, read in one statement.

A registration reads some forty things of one snapshot. Asked one after the other, most of them cost more on the way than in
PostgreSQL. So each part of the state asks as if it were alone (`fetch`) and stops there. When all parts have asked, their
questions become one statement, `select array(...), array(...)`, and all go on with their rows.

Invariants:
- Only for reading in one snapshot: a question that was answered before is not asked again.
- Which questions meet is up to the client (`fetch_event_types`), and a new statement costs PostgreSQL ten times what a known
  one does. So few combinations are known, and new ones are admitted slowly; all others are asked one by one.
- Rows are like asyncpg's: values by name or by place, and of the same types.
"""

import re
import time
import types
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple, TypeVar, cast, overload

import asyncpg
import structlog

from tertulia.kernel.db import Connection, Reader

log = structlog.get_logger()

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

REMEMBERED = 32
"""Combinations. A connection remembers a hundred statements, those of all other requests among them."""
AT_ONCE = 16
"""So many are admitted without waiting: the clients that there are have fewer."""
NEXT_SECONDS = 30.0
"""From one new combination to the next, beyond those."""

_PARAMETER = re.compile(r"\$(\d+)")
_PLAN_ONCE = "set_config('plan_cache_mode', 'force_generic_plan', true)"
"""To plan so long a statement takes as long as to run it. Said by the first of a transaction, it holds for all that follow."""
_MARK = "|"
"""Stands between the columns of two questions; none of ours has that name."""


class Row(tuple[Any, ...]):
    """Like a record of asyncpg. Each question has a subclass, which knows the names of its columns."""

    __slots__ = ()
    names: ClassVar[tuple[str, ...]] = ()
    places: ClassVar[dict[str, int]] = {}

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.places[key] if type(key) is str else key)

    def keys(self) -> Iterable[str]:
        return self.names

    def values(self) -> Iterable[Any]:
        return iter(self)

    def items(self) -> Iterable[tuple[str, Any]]:
        return zip(self.names, self, strict=True)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self.places else default


class Question:
    """A statement with its arguments; awaited inside `JoinedReader.answer`, it gives the rows."""

    __slots__ = ("arguments", "rows", "sql")

    def __init__(self, sql: str, arguments: tuple[object, ...]) -> None:
        self.sql = sql
        self.arguments = arguments
        self.rows: list[Any] = []

    def __await__(self) -> Generator[list["Question"], None, list[Any]]:
        yield [self]
        return self.rows


class Joined(NamedTuple):
    """A combination of questions."""

    sql: str
    rows: Sequence[type[Row]]
    """Of each question."""


class Combinations:
    """The combinations of questions that a process knows, by their statements."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, ...], Joined] = OrderedDict()
        self._next = 0.0

    async def find(self, questions: Sequence[Question], connection: Connection) -> Joined | None:
        """The combination; None if it is not known and may not become so now."""
        key = tuple(question.sql for question in questions)
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
            return found
        now = time.monotonic()
        if len(self._known) >= AT_ONCE and now < self._next:
            return None
        self._next = now + NEXT_SECONDS
        parts = _renumbered(questions)
        asked = [f"array(select joined_row from ({part}) as joined_row)" for part in parts]
        sql = "select " + ",\n".join((*asked, _PLAN_ONCE))
        self._known[key] = Joined(sql, await _row_types(parts, connection))
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return self._known.get(key)


COMBINATIONS = Combinations()
"""Of this process."""


class JoinedReader(Reader):
    """Reads in the snapshot of another reader, but only in `answer`."""

    def __init__(self, reader: Reader, combinations: Combinations = COMBINATIONS) -> None:
        super().__init__(reader.connection, reader.sealer)
        self._combinations = combinations
        self._answered: defaultdict[str, list[Question]] = defaultdict(list)

    async def fetch(self, sql: str, *arguments: object) -> list[asyncpg.Record]:
        return await Question(sql, arguments)

    async def fetchrow(self, sql: str, *arguments: object) -> asyncpg.Record | None:
        rows = await Question(sql, arguments)
        return rows[0] if rows else None

    async def fetchval(self, sql: str, *arguments: object) -> Any:
        rows = await Question(sql, arguments)
        return rows[0][0] if rows else None

    async def answer(self, asking: Awaitable[A]) -> A:
        """What the coroutine returns. Whatever it asks for `together` is one statement."""
        return await _answering(cast("Coroutine[Any, Any, A]", asking), self._answer)

    async def _answer(self, questions: Sequence[Question]) -> None:
        new: list[Question] = []
        for question in questions:
            same = next((one for one in self._answered[question.sql] if one.arguments == question.arguments), None)
            if same is None:
                self._answered[question.sql].append(question)
                new.append(question)
        await self._ask(new)
        for question in questions:
            same = next(one for one in self._answered[question.sql] if one.arguments == question.arguments)
            question.rows = same.rows

    async def _ask(self, questions: Sequence[Question]) -> None:
        joined = await self._combinations.find(questions, self.connection) if len(questions) > 1 else None
        if joined is not None:
            arguments = chain.from_iterable(question.arguments for question in questions)
            try:
                answer = await super().fetchrow(joined.sql, *arguments)
            except asyncpg.InternalClientError as error:
                # A type inside a row that asyncpg has not met on this connection (db.py): it learns it from what follows.
                log.warning("questions are asked one by one", reason=str(error))
            else:
                assert answer is not None
                *found, _ = answer
                for question, kind, rows in zip(questions, joined.rows, found, strict=True):
                    question.rows = [kind(row) for row in rows]
                return
        for question in questions:
            question.rows = await super().fetch(question.sql, *question.arguments)


@overload
def together(first: Awaitable[A], second: Awaitable[B], /) -> Awaitable[tuple[A, B]]: ...
@overload
def together(first: Awaitable[A], second: Awaitable[B], third: Awaitable[C], /) -> Awaitable[tuple[A, B, C]]: ...
@overload
def together(
    first: Awaitable[A], second: Awaitable[B], third: Awaitable[C], fourth: Awaitable[D], /
) -> Awaitable[tuple[A, B, C, D]]: ...
@overload
def together(*parts: Awaitable[A]) -> Awaitable[tuple[A, ...]]: ...
def together(*parts: Awaitable[Any]) -> Awaitable[tuple[Any, ...]]:
    """What coroutines that read return, in their order.

    With a `JoinedReader` their questions are asked at the same time, with any other reader one after the other.
    """
    return _together(cast("Sequence[Coroutine[Any, Any, Any]]", parts))


class _Returned(NamedTuple):
    value: Any


@types.coroutine
def _together(parts: Sequence[Coroutine[Any, Any, Any]]) -> Generator[Any, Any, tuple[Any, ...]]:
    running = dict(enumerate(parts))
    results: list[Any] = [None] * len(parts)
    try:
        while running:
            questions: list[Question] = []
            for place, part in tuple(running.items()):
                asked = yield from _until_it_asks(part)
                if isinstance(asked, _Returned):
                    results[place] = asked.value
                    del running[place]
                else:
                    questions += asked
            if questions:
                yield questions
        return tuple(results)
    finally:
        for part in running.values():
            part.close()


@types.coroutine
def _answering(
    part: Coroutine[Any, Any, A], answer: Callable[[Sequence[Question]], Awaitable[None]]
) -> Generator[Any, Any, A]:
    try:
        while True:
            asked = yield from _until_it_asks(part)
            if isinstance(asked, _Returned):
                return cast("A", asked.value)
            yield from answer(asked).__await__()
    finally:
        part.close()


def _until_it_asks(part: Coroutine[Any, Any, Any]) -> Generator[Any, Any, list[Question] | _Returned]:
    """Run a coroutine up to its next questions, or to its end. What else it waits for is left to the event loop."""
    act: Callable[[Any], Any] = part.send
    given: object = None
    while True:
        try:
            awaited = act(given)
        except StopIteration as end:
            return _Returned(end.value)
        if isinstance(awaited, list):
            return awaited
        try:
            given = yield awaited
            act = part.send
        except BaseException as error:
            act, given = part.throw, error


def _renumbered(questions: Iterable[Question]) -> list[str]:
    """The statements, with the parameters of each after those of the one before."""
    parts, before = [], 0
    for question in questions:
        parts.append(_PARAMETER.sub(lambda found, before=before: f"${int(found[1]) + before}", question.sql))  # type: ignore[misc]
        before += len(question.arguments)
    return parts


async def _row_types(parts: Sequence[str], connection: Connection) -> list[type[Row]]:
    """What PostgreSQL calls the columns of each statement. Nothing is run for that."""
    columns = ", ".join(f'null as "{_MARK}", part_{place}.*' for place in range(len(parts)))
    sources = ",\n".join(f"({part}) as part_{place}" for place, part in enumerate(parts))
    # Without a name: one with a name would have to be closed again, which is one more thing to wait for.
    described = await connection.prepare(f"select {columns} from {sources}", name="")
    names: list[list[str]] = []
    for attribute in described.get_attributes():
        if attribute.name == _MARK:
            names.append([])
        else:
            names[-1].append(attribute.name)
    return [_row_type(tuple(each)) for each in names]


def _row_type(names: tuple[str, ...]) -> type[Row]:
    places = {name: place for place, name in enumerate(names)}
    return type("Row", (Row,), {"__slots__": (), "names": names, "places": places})
