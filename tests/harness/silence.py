"""A service that takes every connection and never answers: the worst way to be away."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@contextmanager
def silent_service() -> Iterator[str]:
    """Its host and port. The system takes the connections, and what is sent on them; nobody reads it."""
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def silent_bucket(place: str) -> dict[str, str]:
    """Settings of a server whose files are there."""
    return {
        "s3_bucket": "files",
        "s3_endpoint": f"http://{place}",
        "s3_access_key_id": "tests",
        "s3_secret_access_key": "tests-secret",
    }


@contextmanager
def withholding_service(status: int) -> Iterator[str]:
    """Where there is a service of buckets that takes what is stored and knows its size; who wants to read it gets this status."""

    class Handler(BaseHTTPRequestHandler):
        size = 0

        def do_PUT(self) -> None:
            Handler.size = int(self.headers["content-length"])
            self.rfile.read(Handler.size)
            self._say(200, 0)

        def do_HEAD(self) -> None:
            self._say(200, Handler.size)

        def do_GET(self) -> None:
            self._say(status, 0)

        def _say(self, status: int, size: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(size))
            self.send_header("ETag", '"tests"')
            self.send_header("Last-Modified", "Thu, 19 Nov 2026 12:00:00 GMT")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    service = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.daemon_threads = True
    thread = Thread(target=service.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"127.0.0.1:{service.server_port}"
    finally:
        service.shutdown()
        thread.join()
        service.server_close()
