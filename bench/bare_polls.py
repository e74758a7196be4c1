"""The bare engine of long polls: uvicorn with our settings, and an application that does nothing but hold and release.

python -m bench.bare_polls PORT; reads the answer to release, an HTTP response as our server sent it, from standard input.
"""

import asyncio
import sys
from typing import Any

import uvicorn
import uvloop

from tertulia.app import KEEP_ALIVE_SECONDS

_START = {"type": "http.response.start", "status": 200}


class Holder:
    """GET /poll waits; POST /release lets all go; GET /waiting tells how many wait."""

    def __init__(self, answer: bytes) -> None:
        head, _, self._body = answer.partition(b"\r\n\r\n")
        lines = [line.partition(b": ") for line in head.split(b"\r\n")[1:]]
        # What uvicorn writes itself is left to it.
        self._headers = [(name, value) for name, _, value in lines if name not in (b"date", b"server")]
        self._released = asyncio.Event()
        self._waiting = 0

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        body, headers = b"{}", [(b"content-length", b"2")]
        if scope["path"] == "/poll":
            self._waiting += 1
            await self._released.wait()
            self._waiting -= 1
            body, headers = self._body, self._headers
        elif scope["path"] == "/waiting":
            body = b"%2d" % self._waiting
            headers = [(b"content-length", b"%d" % len(body))]
        elif scope["path"] == "/release":
            self._released.set()
            self._released = asyncio.Event()
        await send({**_START, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _serve(port: int, answer: bytes) -> None:
    config = uvicorn.Config(
        Holder(answer),
        host="127.0.0.1",
        port=port,
        http="httptools",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=4096,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=1,
    )
    await uvicorn.Server(config).serve()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(int(sys.argv[1]), sys.stdin.buffer.read()))
