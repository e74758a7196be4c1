"""What several coroutines ask at the same time is one statement, and gives each what it would have had alone."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tertulia.kernel import joined
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.joined import Combinations, JoinedReader, Question, together
from tests.harness.server import Server

NUMBERS = "select n, n * $2 as times from generate_series(1, $1::int) as n order by n desc"
KINDS = """
select 1::bigint as a, 'text' as b, null::text as c, array[1, 2]::bigint[] as d, '{[1,3),[5,)}'::int8multirange as e,
    timestamptz '2026-01-02 03:04:05+00' as f, '{"k": 1}'::jsonb as g, array(select row('x', true)) as h, '\\x00ff'::bytea as i,
    gen_random_uuid() is null as j, 1.5::numeric as k, array['p', null] as l
"""


class Asked:
    """A reader that joins, and the statements that its connection had to run."""

    def __init__(self, database: Database, reader: Reader) -> None:
        self.database = database
        self.plain = reader
        self.combinations = Combinations()
        self.statements: list[str] = []

    def reader(self) -> JoinedReader:
        return JoinedReader(self.plain, self.combinations)

    async def count(self) -> int:
        """Of the statements until now."""
        await asyncio.sleep(0)  # asyncpg tells them a moment later
        return len(self.statements)


@pytest.fixture
async def asked(server: Server) -> AsyncIterator[Asked]:
    async with await Database.connect(server.postgres_url, shards=4, size=1) as database, database.snapshot() as reader:
        found = Asked(database, reader)
        connection: Any = reader.connection
        connection.add_query_logger(lambda query: found.statements.append(query.query))
        yield found


async def test_questions_that_meet_are_one_statement_and_each_has_its_own_rows(asked: Asked) -> None:
    reader = asked.reader()

    async def one_after_the_other() -> list[int]:
        first = await reader.fetchval("select 10 + $1::int", 1)
        return [first, await reader.fetchval("select 10 + $1::int", 2)]

    answer = reader.answer(
        together(
            reader.fetch(NUMBERS, 3, 7),
            together(
                reader.fetchrow("select 'x' as name, $1::int as number", 5), reader.fetchrow("select 1 where false")
            ),
            one_after_the_other(),
        )
    )
    rows, (row, nothing), numbers = await answer
    assert [tuple(each) for each in rows] == [(3, 21), (2, 14), (1, 7)]
    assert row is not None
    assert (row["name"], row["number"], row[1]) == ("x", 5, 5)
    assert nothing is None
    assert numbers == [11, 12]
    assert await asked.count() == 2, "the four that met, and the one that came later"


async def test_a_row_is_what_it_would_have_been_alone(asked: Asked) -> None:
    reader = asked.reader()
    alone = await asked.plain.fetchrow(KINDS)
    [row], _ = await reader.answer(together(reader.fetch(KINDS), reader.fetch("select 1")))
    assert alone is not None
    assert dict(row) == dict(alone)
    assert dict(row.items()) == dict(alone.items())
    assert {name: type(value) for name, value in dict(row).items()} == {
        name: type(value) for name, value in dict(alone).items()
    }
    assert tuple(row) == tuple(alone) == tuple(row.values())
    assert (row.get("a"), row.get("nobody", 7)) == (1, 7)
    with pytest.raises(KeyError):
        row["nobody"]


async def test_a_new_connection_knows_the_types_that_rows_have(asked: Asked) -> None:
    reader = asked.reader()
    values = "select array[1]::bigint[], array['a'], '{[1,2)}'::int8multirange, array(select row(1, 'x'))"
    combinations = asked.combinations
    await combinations.find([Question(values, ()), Question("select 1", ())], asked.plain.connection)
    await reader.answer(together(reader.fetch(values), reader.fetch("select 1")))
    assert await asked.count() == 1


async def test_a_type_that_cannot_be_read_inside_a_row_is_read_alone(asked: Asked) -> None:
    reader = asked.reader()
    days = "select daterange('2026-01-01', '2026-01-03') as days"
    (row, _) = await reader.answer(together(reader.fetchrow(days), reader.fetchval("select 1")))
    assert row is not None
    assert row["days"].lower.isoformat() == "2026-01-01"


async def test_what_was_asked_before_is_not_asked_again(asked: Asked) -> None:
    reader = asked.reader()
    question = "select array_length($1::int[], 1) as length"
    first, second = await reader.answer(together(reader.fetchval(question, [1, 2]), reader.fetchval(question, [1, 2])))
    assert (first, second) == (2, 2)
    assert await reader.answer(reader.fetchval(question, [1, 2])) == 2
    assert await asked.count() == 1
    assert await reader.answer(reader.fetchval(question, [1])) == 1
    assert await asked.count() == 2


async def test_with_an_ordinary_reader_they_are_asked_one_after_the_other(asked: Asked) -> None:
    plain = asked.plain
    assert await together(plain.fetchval("select 1"), plain.fetchval("select 2")) == (1, 2)
    assert await asked.count() == 2


async def test_a_part_may_wait_for_something_else(asked: Asked) -> None:
    reader = asked.reader()
    lock = asyncio.Lock()

    async def with_the_lock(number: int) -> int:
        async with lock:
            await asyncio.sleep(0.01)
        found: int = await reader.fetchval("select $1::int", number)
        return found

    assert await reader.answer(together(with_the_lock(1), with_the_lock(2), with_the_lock(3))) == (1, 2, 3)
    assert await asked.count() == 1


async def test_a_failure_of_one_ends_all_and_what_they_hold_is_given_back(asked: Asked) -> None:
    reader = asked.reader()
    lock = asyncio.Lock()

    async def holding() -> None:
        async with lock:
            await reader.fetchval("select 1")

    async def failing() -> None:
        await reader.fetchval("select 1 / $1::int", 0)

    with pytest.raises(asyncpg.DivisionByZeroError):
        await reader.answer(together(holding(), failing()))
    assert not lock.locked()

    async def refusing() -> None:
        raise LookupError

    reader = asked.reader()
    with pytest.raises(LookupError):
        await reader.answer(together(holding(), refusing()))
    assert not lock.locked()


async def test_who_asks_for_ever_new_combinations_is_answered_without_new_statements(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joined, "AT_ONCE", 2)

    async def statements_of(*names: str) -> int:
        await asked.count()
        asked.statements.clear()
        reader = asked.reader()
        found = await reader.answer(together(*(reader.fetchval(f"select '{name}'") for name in names)))
        assert found == names
        return await asked.count()

    assert await statements_of("a", "b") == 1
    assert await statements_of("b", "c") == 1
    assert await statements_of("c", "d", "e") == 3, "too many that are new"
    assert await statements_of("a", "b") == 1
    monkeypatch.setattr(joined, "NEXT_SECONDS", 0.0)
    asked.combinations._next = 0.0
    assert await statements_of("c", "d", "e") == 1, "some time later"
    monkeypatch.setattr(joined, "REMEMBERED", 2)
    assert await statements_of("a", "e") == 1
    monkeypatch.setattr(joined, "NEXT_SECONDS", 30.0)
    asked.combinations._next = float("inf")
    assert await statements_of("c", "d", "e") == 1, "it was used last"
    assert await statements_of("b", "c") == 2, "forgotten"
