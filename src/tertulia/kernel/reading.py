"""Reading from the database, and counting what is asked (statements.py)."""

from collections.abc import Awaitable
from contextlib import nullcontext
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

import asyncpg

from tertulia.kernel.errors import server_not_ready
from tertulia.kernel.postgres import Limits
from tertulia.kernel.sealing import NO_KEYS, Sealer
from tertulia.kernel.statements import statements_now

T = TypeVar("T")

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"
"""A connection of one's own, or one lent by the pool."""


class Reader:
    """Reads outside a transaction, each statement for itself."""

    def __init__(self, connection: Connection, sealer: Sealer = NO_KEYS, limits: Limits | None = None) -> None:
        self.connection = connection
        self.sealer = sealer
        """For columns that hold secrets."""
        self._shaped_seconds = None if limits is None else limits.shaped
        self.statements = statements_now()
        """Where those are counted that are asked here."""

    async def fetch(self, sql: str, *arguments: object) -> list[asyncpg.Record]:
        """All rows."""
        began = perf_counter()
        try:
            return await self.connection.fetch(sql, *arguments)
        finally:
            self.statements.answered(began)

    async def fetchrow(self, sql: str, *arguments: object) -> asyncpg.Record | None:
        """The first row, or None."""
        began = perf_counter()
        try:
            return await self.connection.fetchrow(sql, *arguments)
        finally:
            self.statements.answered(began)

    async def fetchval(self, sql: str, *arguments: object) -> Any:
        """The first column of the first row, or None."""
        began = perf_counter()
        try:
            return await self.connection.fetchval(sql, *arguments)
        finally:
            self.statements.answered(began)

    async def fetch_shaped(self, sql: str, *arguments: object, at_most: float | None = None) -> list[asyncpg.Record]:
        """All rows of a statement that its caller has put together: it may be dear, and has less time than others.

        `at_most`: it has no more seconds than these, and then there is a TimeoutError, for who knows another way; what a
        transaction did before stays.
        """
        began = perf_counter()
        has_work_to_keep = at_most is not None and self.connection.is_in_transaction()
        try:
            async with self.connection.transaction() if has_work_to_keep else nullcontext():
                return await self.connection.fetch(sql, *arguments, timeout=at_most or self._shaped_seconds)
        except TimeoutError:
            if at_most is not None:
                raise
            raise server_not_ready("This takes the server too long. Please look for less at a time.") from None
        finally:
            self.statements.answered(began)

    async def counted(self, name: str, asking: Awaitable[T]) -> T:
        """What is asked of the connection itself, such as a commit, as one statement more."""
        began = perf_counter()
        try:
            return await asking
        finally:
            self.statements.answered(began, name)
