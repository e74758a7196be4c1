"""A front of the server, as a proxy is: it passes bytes on, notes what is asked, and speaks TLS if it has a certificate.

What a client asked is known without touching the client: a test can wait until it listens, or see that it said good-bye.
"""

import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

REQUEST = re.compile(rb"(?:^|\r\n\r\n)([A-Z]+) (\S+) HTTP/1\.1\r\n")
SECONDS = 30.0


class Front:
    """Listens on a port of its own. Leaving it closes it."""

    def __init__(self, address: str, tls: ssl.SSLContext | None = None) -> None:
        target = urlsplit(address)
        self._target = (target.hostname or "127.0.0.1", target.port or 80)
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.asked: list[str] = []
        self._news = threading.Condition()
        self._held = ""
        self._is_free = threading.Event()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def __enter__(self) -> "Front":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()

    def until_asked(self, request: str, times: int = 1, seconds: float = SECONDS) -> None:
        """Wait until something like `GET /api/v1/events` was asked so often."""
        deadline = time.monotonic() + seconds
        with self._news:
            while self.count(request) < times:
                left = deadline - time.monotonic()
                assert left > 0, f"no {request} in {self.asked}"
                self._news.wait(left)

    @contextmanager
    def holding(self, request: str) -> Iterator[None]:
        """What is asked like that waits until this is over, as on a slow network."""
        self._held = request
        self._is_free.clear()
        try:
            yield
        finally:
            self._held = ""
            self._is_free.set()

    def count(self, request: str) -> int:
        return sum(asked.startswith(request) for asked in self.asked)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError):
            if self._tls:
                _accept_tunnel(client)
                client = self._tls.wrap_socket(client, server_side=True)
            server = socket.create_connection(self._target)
            back = threading.Thread(target=_pass_on, args=(server, client), daemon=True)
            back.start()
            while data := _received(client):
                found = self._note(data)
                if self._held and any(asked.startswith(self._held) for asked in found):
                    self._is_free.wait(SECONDS)
                server.sendall(data)
            with suppress(OSError):
                server.shutdown(socket.SHUT_WR)
            back.join()
            server.close()
        client.close()

    def _note(self, data: bytes) -> list[str]:
        found = [f"{method} {path}" for method, path in ((m.decode(), p.decode()) for m, p in REQUEST.findall(data))]
        if found:
            with self._news:
                self.asked += found
                self._news.notify_all()
        return found


def _accept_tunnel(client: socket.socket) -> None:
    """Some programs know no other port than 443: they come through us as their proxy, wherever they want to go."""
    if client.recv(7, socket.MSG_PEEK) == b"CONNECT":
        asked = b""
        while not asked.endswith(b"\r\n\r\n"):
            asked += client.recv(1)
        client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := _received(source):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def _received(source: socket.socket) -> bytes:
    try:
        return source.recv(65536)
    except OSError:
        return b""
