"""A server of somebody else's with pictures: counts who asks for what."""

import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from PIL import Image


class Served(NamedTuple):
    """What is answered for a path."""

    status: int
    headers: dict[str, str]
    body: bytes


class Asked(NamedTuple):
    """A request that came."""

    path: str
    headers: dict[str, str]


class PictureServer:
    """Listens on a free port of this machine. What it does not know is not found."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._served: dict[str, Callable[[], Served]] = {}
        self._lock = Lock()
        self._held: dict[str, Event] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                with outer._lock:
                    outer.asked.append(Asked(self.path, headers))
                serve = outer._served.get(self.path)
                served = serve() if serve else Served(404, {"Content-Type": "text/plain"}, b"nothing here")
                self.send_response(served.status)
                for name, value in {"Content-Length": str(len(served.body)), **served.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(served.body)
                except OSError:
                    pass  # whoever asked has had enough

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def show(self, path: str, body: bytes | None = None, kind: str = "image/png", status: int = 200) -> str:
        """Answer so at a path from now on; the whole address."""
        served = Served(status, {"Content-Type": kind}, picture() if body is None else body)
        self._served[path] = lambda: served
        return self.url + path

    def redirect(self, path: str, location: str) -> str:
        """Send whoever asks for a path elsewhere."""
        self._served[path] = lambda: Served(302, {"Location": location}, b"")
        return self.url + path

    def hold(self, path: str, body: bytes | None = None, kind: str = "image/png") -> str:
        """Let whoever asks for a path wait, until they are let go."""
        free = self._held.setdefault(path, Event())

        def serve() -> Served:
            free.wait(60)
            return Served(200, {"Content-Type": kind}, picture() if body is None else body)

        self._served[path] = serve
        return self.url + path

    def let_go(self, *paths: str) -> None:
        """Answer those who wait for these paths, or for any."""
        for path in paths or tuple(self._held):
            self._held[path].set()

    @property
    def counted(self) -> Counter[str]:
        """How often each path was asked for."""
        with self._lock:
            return Counter(one.path for one in self.asked)

    def stop(self) -> None:
        self.let_go()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def picture_server() -> Iterator[PictureServer]:
    server = PictureServer()
    try:
        yield server
    finally:
        server.stop()


def picture(width: int = 1600, height: int = 900, kind: str = "PNG", frames: int = 1) -> bytes:
    """A picture of one colour, or of one for each frame."""
    pages = [Image.new("RGB", (width, height), (40 * number % 255, 90, 120)) for number in range(frames)]
    written = io.BytesIO()
    more: dict[str, Any] = {"save_all": True, "append_images": pages[1:], "duration": 80} if frames > 1 else {}
    pages[0].save(written, kind, **more)
    return written.getvalue()
