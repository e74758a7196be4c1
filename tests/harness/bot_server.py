"""A bot's own server: keeps what is posted to it, and answers what the test says."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread
from typing import NamedTuple

from tests.harness.talk import Json


class Posted(NamedTuple):
    """What was posted."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        found: Json = json.loads(self.body)
        return found


Answer = tuple[int, str, bytes]
OK: Answer = (200, "application/json", b"{}")


class BotServer:
    """Listens on a free port of this machine."""

    def __init__(self) -> None:
        self.posted: Queue[Posted] = Queue()
        self.answer: Callable[[Posted], Answer] = lambda _posted: OK
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                posted = Posted(self.path, headers, body)
                status, kind, answer = outer.answer(posted)
                outer.posted.put(posted)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def says(self, value: object, kind: str = "application/json", status: int = 200) -> None:
        """Answer with this from now on."""
        self.answer = lambda _posted: (status, kind, json.dumps(value).encode())

    def next(self, seconds: float = 20) -> Posted:
        """What was posted next."""
        return self.posted.get(timeout=seconds)

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def bot_server() -> Iterator[BotServer]:
    server = BotServer()
    try:
        yield server
    finally:
        server.stop()
