"""The bare engine of answers: uvicorn with our settings, and an application that does nothing but answer, or hold and release.

python -m bench.bare_uvicorn PORT; reads the answer to release, an HTTP response as our server sent it, from standard input.
"""

import asyncio
import sys
from typing import Any

import uvicorn
import uvloop

KEEP_ALIVE_SECONDS = 120
_START = {"type": "http.response.start", "status": 200}


class Holder:
    """GET /poll waits; POST /release lets all go; GET /waiting tells how many wait.

    /bytes/N answers with N bytes at once, and /poll/N with as many when it is released.
    """

    def __init__(self, answer: bytes) -> None:
        head, _, self._body = answer.partition(b"\r\n\r\n")
        lines = [line.partition(b": ") for line in head.split(b"\r\n")[1:]]
        # What uvicorn writes itself is left to it.
        self._headers = [(name, value) for name, _, value in lines if name not in (b"date", b"server")]
        self._released = asyncio.Event()
        self._waiting = 0
        self._bytes: dict[str, bytes] = {}

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        path: str = scope["path"]
        body, headers = b"{}", [(b"content-length", b"2")]
        if path.startswith("/poll"):
            self._waiting += 1
            await self._released.wait()
            self._waiting -= 1
            body, headers = (self._body, self._headers) if path == "/poll" else self._so_many(path)
        elif path == "/waiting":
            body = b"%2d" % self._waiting
            headers = [(b"content-length", b"%d" % len(body))]
        elif path.startswith("/bytes/"):
            while (await receive()).get("more_body"):
                pass
            body, headers = self._so_many(path)
        elif path == "/release":
            self._released.set()
            self._released = asyncio.Event()
        await send({**_START, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _so_many(self, path: str) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        """As many bytes as the path ends with."""
        if path not in self._bytes:
            self._bytes[path] = b"x" * int(path.rpartition("/")[2])
        body = self._bytes[path]
        return body, [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]


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
