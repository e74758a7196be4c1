"""Connections that are abused: what arrives in pieces, too early, or after the end."""

import json
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tertulia.server.connection import LINGER_SECONDS, MAX_TARGET, Connection
from tertulia.server.pace import FREE_PIECES, MIN_PIECE
from tests.harness.demo_api import Demo, served
from tests.harness.talk import eventually

END = b" HTTP/1.1\r\nHost: x\r\n\r\n"
_head = re.compile(rb"HTTP/1.1 (\d+) .*?content-length: (\d+).*?\r\n\r\n", re.DOTALL)
MAX_UNREAD = MAX_TARGET + Connection.limits.max_header_bytes
POST = b"POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\ntext=parting"
CHUNKED = b"POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    with served(Demo()) as demo:
        yield demo


@pytest.fixture
def connection(demo: Demo) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", demo.port), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield connection


def answers(connection: socket.socket, count: int | None = None) -> list[tuple[int, dict[str, Any]]]:
    """What the server sends: so many answers, or all until it closes."""
    data = b""
    found: list[tuple[int, dict[str, Any]]] = []
    while count is None or len(found) < count:
        head = _head.match(data)
        end = head.end() + int(head[2]) if head else 0
        if head and len(data) >= end:
            found.append((int(head[1]), json.loads(data[head.end() : end])))
            data = data[end:]
        elif chunk := connection.recv(65536):
            data += chunk
        else:
            break
    assert data == b""
    return found


def codes(connection: socket.socket, count: int | None = None) -> list[object]:
    """The codes of errors, and the text of what was echoed."""
    return [body.get("code", body.get("text")) for _, body in answers(connection, count)]


def test_requests_that_come_together_are_answered_in_their_order(connection: socket.socket) -> None:
    connection.sendall(b"".join(b"GET /api/v1/echo?text=%d" % number + END for number in range(5)))
    assert codes(connection, 5) == ["0", "1", "2", "3", "4"]


def test_a_request_that_comes_in_single_bytes_is_read(connection: socket.socket) -> None:
    for byte in b"GET /api/v1/echo?text=a?b#c" + END:
        connection.sendall(bytes([byte]))
    assert codes(connection, 1) == ["a?b"]


def test_an_odd_method_leaves_the_connection_usable(connection: socket.socket) -> None:
    connection.sendall(b"FOO /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody")
    assert codes(connection, 1) == ["METHOD_NOT_ALLOWED"]
    connection.sendall(b"GET /api/v1/echo?text=next" + END)
    assert codes(connection, 1) == ["next"]


@pytest.mark.parametrize(
    "odd", [b"FOO /api/v1/echo" + END, b"nonsense\r\n\r\n", b"GET /" + b"x" * 2 * MAX_TARGET + END]
)
def test_what_cannot_be_read_repeats_nothing_that_came_before_it(
    demo: Demo, connection: socket.socket, odd: bytes
) -> None:
    demo.ledger.history.clear()
    body = b"how=well"
    write = b"POST /api/v1/write HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    connection.sendall(write + odd)
    [(status, first), *others] = answers(connection)
    assert (status, first["done"], demo.ledger.history) == (200, "well", ["begin", "commit"])
    assert [status for status, _ in others] in ([], [400], [405], [414])


def test_an_earlier_request_gets_its_answer_before_the_connection_ends(demo: Demo, connection: socket.socket) -> None:
    demo.watch.waiting.clear()
    connection.sendall(b"GET /api/v1/poll" + END)
    assert demo.watch.waiting.wait(10)
    connection.sendall(b"nonsense\r\n\r\n")
    connection.settimeout(0.3)
    with pytest.raises(TimeoutError):
        connection.recv(1)  # what is not HTTP is not the answer of the poll


def test_a_body_that_cannot_be_read_is_refused_also_when_it_comes_late(connection: socket.socket) -> None:
    connection.sendall(CHUNKED + b"4\r\ntext\r\n")
    connection.sendall(b"nonsense\r\n")
    assert codes(connection) == ["BAD_REQUEST"]


def test_a_body_of_many_tiny_pieces_is_refused(connection: socket.socket) -> None:
    connection.sendall(CHUNKED + b"1\r\na\r\n" * (FREE_PIECES + 1))
    [(status, body)] = answers(connection)
    assert (status, body["code"]) == (400, "BAD_REQUEST")


@pytest.mark.parametrize(("size", "count"), [(1, FREE_PIECES), (MIN_PIECE, FREE_PIECES * 3)])
def test_a_body_of_few_tiny_pieces_or_many_larger_ones_is_read(
    connection: socket.socket, size: int, count: int
) -> None:
    connection.sendall(CHUNKED + (b"%x\r\n" % size + b"a" * size + b"\r\n") * count + b"0\r\n\r\n")
    assert codes(connection, 1) == [""]


def test_headers_after_the_body_are_no_headers(connection: socket.socket) -> None:
    connection.sendall(CHUNKED + b"6\r\ntext=a\r\n0\r\nUser-Agent: trailing\r\n\r\n")
    [(status, body)] = answers(connection, 1)
    assert (status, body["text"], body["client"]) == (200, "a", "Unspecified")


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"GET /api/v1/echo HTTP/1.1\r\nX: ", b"x"),
        (b"GET /api/v1/echo HTTP/1.1\r\n", b"X: y\r\n"),
        (CHUNKED + b"6\r\ntext=a\r\n0\r\nX: ", b"x"),
        (CHUNKED + b"6\r\ntext=a\r\n0\r\n", b"X: y\r\n"),
        (CHUNKED + b"6;", b"x"),
    ],
)
def test_headers_without_end_are_refused(connection: socket.socket, start: bytes, piece: bytes) -> None:
    connection.sendall(start)
    pieces = piece * (4 * MAX_UNREAD // len(piece))
    connection.sendall(pieces)
    assert codes(connection) == ["HEADERS_TOO_LARGE"]


def test_a_large_body_is_no_large_header(connection: socket.socket) -> None:
    chunk = b"%x\r\n%b\r\n" % (10_000, b"x" * 10_000)
    connection.sendall(CHUNKED + b"5\r\ntext=\r\n" + chunk * 19 + b"0\r\n\r\n")
    [text] = codes(connection, 1)
    assert text == "x" * 190_000


def test_a_refused_client_is_let_finish_but_not_for_ever(connection: socket.socket) -> None:
    connection.sendall(b"GET /" + b"x" * (2 * MAX_TARGET))
    assert codes(connection) == ["URI_TOO_LONG"]
    ended = threading.Event()

    def go_on() -> None:
        try:
            while not ended.wait(0.05):
                connection.sendall(b"x" * 1000)
        except OSError:
            ended.set()

    threading.Thread(target=go_on, daemon=True).start()
    assert ended.wait(LINGER_SECONDS + 5)


def test_an_upgrade_is_not_taken_and_the_request_is_answered(connection: socket.socket) -> None:
    upgrade = b" HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    connection.sendall(b"GET /api/v1/echo?text=plain" + upgrade)
    assert codes(connection, 1) == ["plain"]
    connection.sendall(b"GET /api/v1/echo?text=next" + END)
    assert codes(connection, 1) == ["next"]


@pytest.mark.timed  # who has sent nothing yet is awaited for half a second
@pytest.mark.parametrize("length", [0, 5, len(POST) - 8, len(POST) - 1])
def test_who_asks_while_the_server_stops_is_answered_and_told_to_come_elsewhere(length: int) -> None:
    with served(Demo()) as demo, socket.create_connection(("127.0.0.1", demo.port), timeout=10) as connection:
        connection.sendall(b"GET /api/v1/echo?text=first" + END)
        assert codes(connection, 1) == ["first"]
        connection.sendall(POST[:length])
        demo.stop()
        eventually(lambda: is_refused(demo.port))
        connection.sendall(POST[length:])
        said = b"".join(iter(lambda: connection.recv(65536), b""))
    assert said.startswith(b"HTTP/1.1 200 ")
    assert b"\r\nconnection: close\r\n" in said
    assert b"parting" in said


def is_refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
    except ConnectionRefusedError:
        return True
    return False
