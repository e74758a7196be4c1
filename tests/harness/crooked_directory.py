"""A directory (LDAP) that says what a test tells it, also what no directory says. Its answers are made by hand, byte for byte.

It takes each bind and answers each search with one entry, but where the test has another answer.
"""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

Answer = Callable[[int], bytes]
"""What is said to the request of that number."""
BIND, SEARCH = 0x60, 0x63
BOUND, ENTRY, DONE = 0x61, 0x64, 0x65
SUCCESS, REFERRAL = 0, 10
PAGES = "1.2.840.113556.1.4.319"


class CrookedDirectory:
    def __init__(self, listener: socket.socket) -> None:
        self.url = f"ldap://127.0.0.1:{listener.getsockname()[1]}"
        self._listener = listener
        self.reset()

    def reset(self) -> None:
        """Be right."""
        self.binding: Answer = lambda number: result(number, BOUND)
        self.searching: Answer = lambda number: person(number, "kofi") + result(number, DONE)
        self.pause = 0.0
        """Seconds between two bytes of the answer to a search."""

    def run(self) -> None:
        with suppress(OSError):  # closed
            while True:
                connection, _ = self._listener.accept()
                Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as sent:
            while head := sent.read(2):
                size = head[1] if head[1] < 0x80 else int.from_bytes(sent.read(head[1] & 0x7F))
                request = sent.read(size)
                number, kind = int.from_bytes(request[2 : 2 + request[1]]), request[2 + request[1]]
                if kind not in (BIND, SEARCH):
                    return
                if kind == BIND:
                    connection.sendall(self.binding(number))
                else:
                    self._say(connection, self.searching(number))

    def _say(self, connection: socket.socket, answer: bytes) -> None:
        if not self.pause:
            connection.sendall(answer)
            return
        for byte in answer:
            connection.sendall(bytes([byte]))
            time.sleep(self.pause)


@contextmanager
def crooked_directory() -> Iterator[CrookedDirectory]:
    """Serve it."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        directory = CrookedDirectory(listener)
        thread = Thread(target=directory.run)
        thread.start()
        try:
            yield directory
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def person(number: int, uid: str, **values: bytes) -> bytes:
    """Somebody who is found."""
    email = f"{uid}@example.org".encode()
    known = {"mail": email, "cn": uid.encode(), "entryUUID": uid.encode(), "uid": uid.encode()} | values
    attributes = (piece(0x30, text(name), piece(0x31, piece(4, value))) for name, value in known.items())
    return message(number, piece(ENTRY, text(f"uid={uid}"), piece(0x30, *attributes)))


def result(number: int, kind: int, code: int = SUCCESS, *more: bytes, cookie: bytes | None = None) -> bytes:
    """How a request ended; with a cookie there is another page."""
    said = piece(kind, piece(0x0A, code.to_bytes(2)), text(""), text(""), *more)
    if cookie is None:
        return message(number, said)
    page = piece(0x30, piece(2, b"\0"), piece(4, cookie))
    return message(number, said, piece(0xA0, piece(0x30, text(PAGES), piece(4, page))))


def elsewhere(number: int, kind: int) -> bytes:
    """Another directory is to be asked, as some say to whoever logs in."""
    return result(number, kind, REFERRAL, piece(0xA3, text("ldap://127.0.0.1:9/dc=example")))


def message(number: int, *parts: bytes) -> bytes:
    return piece(0x30, piece(2, number.to_bytes(4)), *parts)


def text(value: str) -> bytes:
    return piece(4, value.encode())


def piece(tag: int, *parts: bytes) -> bytes:
    """One value of the encoding (BER), with what it is and how long."""
    content = b"".join(parts)
    return bytes([tag, 0x84]) + len(content).to_bytes(4) + content
