"""The very statements a request makes: the application runs in this process once, and a logger notes what it asks."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import msgspec

from bench.pgbench import Statement
from tertulia.kernel.settings import Settings
from tertulia.server.web import open_app

READY_SECONDS = 10.0
_FRAME = ("begin", "commit", "rollback", "start")


async def statements_of(settings: Settings, raw: bytes) -> list[Statement]:
    """What the pool's connections are asked during the request, from the authentication to the end."""
    noted: list[Statement] = []
    noting = False

    def note(query: Any) -> None:
        if noting:
            noted.append(Statement(query.query, query.args or ()))

    # One connection serves the whole request, so one logger hears all of it.
    async with open_app(msgspec.structs.replace(settings, pool_size=1)) as (api, gateway):
        pool = gateway._database.pool
        async with pool.acquire() as connection:
            connection.add_query_logger(note)
        async with asyncio.timeout(READY_SECONDS):
            while not gateway.is_ready:
                await asyncio.sleep(0.02)
        await _call(api, raw)  # what is asked only once is not counted
        noting = True
        await _call(api, raw)
        noting = False
        # The frame of a transaction is left out: pgbench writes its own.
        asked = [each for each in noted if each.sql.split()[0].lower().strip(";") not in _FRAME]
        async with pool.acquire() as connection:
            return [await _with_types(connection, each) for each in asked]


async def _with_types(connection: Any, statement: Statement) -> Statement:
    prepared = await connection.prepare(statement.sql)
    return statement._replace(types=[each.name for each in prepared.get_parameters()])


async def _call(api: Any, raw: bytes) -> None:
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    method, target, _ = first.decode().split(" ")
    parts = urlsplit(target)
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    scope = {
        "type": "http",
        "method": method,
        "path": parts.path,
        "query_string": parts.query.encode(),
        "headers": headers,
    }
    status = 0

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    await api(scope, receive, send)
    if status != 200:
        raise RuntimeError(f"{method} {target} was answered with {status}")
