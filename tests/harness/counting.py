"""Counts the statements of a request: the real endpoints on the real database, in the test's own process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import httpx

from tertulia.kernel.admission import Admission
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import collect
from tertulia.kernel.http import Api
from tertulia.kernel.settings import Settings
from tertulia.people.users.authentication.actions import KeyAuthenticator
from tests.harness.server import User


class CountingDatabase(Database):
    """Remembers every statement but begin and commit."""

    statements: list[str]

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[Reader]:
        async with super().reader() as reader:
            yield self._counted(reader)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        async with super().transaction() as tx:
            yield self._counted(tx)

    def _counted(self, reader: Any) -> Any:
        reader.connection = _Counted(reader.connection, self.statements)
        return reader


class _Counted:
    def __init__(self, connection: Any, statements: list[str]) -> None:
        self._connection = connection
        self._statements = statements

    def __getattr__(self, name: str) -> Any:
        run = getattr(self._connection, name)

        async def counted(sql: str, *arguments: object, **options: object) -> Any:
            self._statements.append(sql)
            return await run(sql, *arguments, **options)

        return counted


class Counter:
    """An API of a few modules' endpoints."""

    def __init__(self, database: CountingDatabase, client: httpx.AsyncClient) -> None:
        self._database = database
        self._client = client

    @property
    def statements(self) -> list[str]:
        """Those of the last request."""
        return self._database.statements

    async def cost(self, user: User, method: str, path: str, host: str = "localhost", **fields: str) -> int:
        """How many statements a successful request takes, that of its key included."""
        self._database.statements.clear()
        place = {"params": fields} if method == "GET" else {"data": fields}
        auth = httpx.BasicAuth(user.email, user.api_key)
        reply = await self._client.request(method, path, auth=auth, headers={"Host": host}, **place)  # type: ignore[arg-type]
        assert reply.status_code == 200, reply.text
        return len(self._database.statements)


@asynccontextmanager
async def counting(postgres_url: str, *modules: ModuleType, **services: Any) -> AsyncIterator[Counter]:
    """`services`: makers of further services, called with the database."""
    settings = Settings()
    async with await CountingDatabase.connect(postgres_url, shards=settings.shards, size=2) as database:
        database.statements = []
        made = [make(database) for make in services.values()]
        api = Api(
            collect(*modules),
            services={Settings: settings, Database: database, **{type(one): one for one in made}},
            scopes={Transaction: database.transaction, Reader: database.reader},
            admission=Admission(KeyAuthenticator(database, settings)),
        )
        transport = httpx.ASGITransport(app=api)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost/api/v1/") as client:
            yield Counter(database, client)
