"""A small HTTP listener for processes that serve no API: /metrics, /health/live and /health/ready.

It reads one request per connection and never its body. For monitoring systems on a trusted network.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

REQUEST_SECONDS: Final = 5.0
TEXT: Final = "text/plain; charset=utf-8"


@asynccontextmanager
async def serve_monitor(host: str, port: int, is_ready: Callable[[], bool]) -> AsyncIterator[None]:
    """Answer on that port while the context lasts."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), REQUEST_SECONDS)
            writer.write(_answer(head.split(b" ", 2)[1].decode("ascii", "replace"), is_ready))
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, host, port)
    async with server:
        yield


def _answer(path: str, is_ready: Callable[[], bool]) -> bytes:
    match path.partition("?")[0]:
        case "/metrics":
            return _reply(200, CONTENT_TYPE_LATEST, generate_latest())
        case "/health/live":
            return _reply(200, TEXT, b"alive\n")
        case "/health/ready":
            return _reply(200, TEXT, b"ready\n") if is_ready() else _reply(503, TEXT, b"not ready\n")
    return _reply(404, TEXT, b"not found\n")


def _reply(status: int, content_type: str, body: bytes) -> bytes:
    reason = {200: "OK", 404: "Not Found", 503: "Service Unavailable"}[status]
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body
