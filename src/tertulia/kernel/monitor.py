"""A small HTTP listener on a port of its own, for every process: /metrics, /health/live, /health/serving and /health/ready; and
what else a process has for whoever runs the server (`pages`).

Live: the process runs. Serving: a balancer should send it requests; engines are not asked, because all processes share them,
and without them an answer of ours says more than none. Ready: it and its engines can do everything.

It reads one request per connection and never its body. For monitoring systems on a trusted network: it says how
busy a server is and what it is made of, which is not for everybody who can reach the API.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest

from tertulia.kernel.settings import Settings, SettingsError

Missing = Callable[[], Awaitable[str | None]]
"""What a process waits for; None: it can work."""
IsServing = Callable[[], Awaitable[bool]]
Page = Callable[[], Awaitable[tuple[str, bytes]]]
"""Type and content of what is answered."""

REQUEST_SECONDS: Final = 5.0
QUESTION_SECONDS: Final = 1.0
"""How long an engine has to answer when a process is asked whether it can work: balancers wait about 2 s."""
HEADERS: Final = (
    b"Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
    b" frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
)
TEXT: Final = "text/plain; charset=utf-8"


@asynccontextmanager
async def serve_monitor(
    settings: Settings,
    missing: Missing,
    registry: CollectorRegistry = REGISTRY,
    is_serving: IsServing | None = None,
    pages: Mapping[str, Page] | None = None,
) -> AsyncIterator[None]:
    """Answer on the port for that while the context lasts, if there is one. `is_serving`: of processes that take requests.
    `pages`: by path, what else is answered."""
    if not settings.metrics_port:
        yield
        return

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), REQUEST_SECONDS)
            path = head.split(b" ", 2)[1].decode("ascii", "replace").partition("?")[0]
            if page := (pages or {}).get(path):
                writer.write(_reply(200, *await page()))
            else:
                writer.write(await _answer(path, missing, registry, is_serving))
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError):
            pass
        finally:
            writer.close()

    try:
        server = await asyncio.start_server(serve, settings.metrics_host, settings.metrics_port)
    except OSError as problem:
        where = f"{settings.metrics_host}:{settings.metrics_port}"
        raise SettingsError(
            f"the port of /metrics and /health, {where}, cannot be opened: {problem.strerror}"
        ) from problem
    async with server:
        yield


async def _answer(path: str, missing: Missing, registry: CollectorRegistry, is_serving: IsServing | None) -> bytes:
    match path:
        case "/metrics":
            return _reply(200, CONTENT_TYPE_LATEST, _told(registry))
        case "/health/live":
            return _reply(200, TEXT, b"alive\n")
        case "/health/serving":
            if is_serving is None or await is_serving():
                return _reply(200, TEXT, b"serving\n")
            return _reply(503, TEXT, b"starting or stopping\n")
        case "/health/ready":
            lacking = await missing()
            if lacking is None:
                return _reply(200, TEXT, b"ready\n")
            return _reply(503, TEXT, f"waiting for {lacking}\n".encode())
    return _reply(404, TEXT, b"not found\n")


def _told(registry: CollectorRegistry) -> bytes:
    """What is counted here, and what the whole process counts."""
    return b"".join(map(generate_latest, {registry: None, REGISTRY: None}))


def _reply(status: int, content_type: str, body: bytes) -> bytes:
    reason = {200: "OK", 404: "Not Found", 503: "Service Unavailable"}[status]
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + HEADERS + body
