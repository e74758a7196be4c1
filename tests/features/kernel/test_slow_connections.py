"""Clients that are slow, idle, or too many: every connection ends, and one that moves is left alone."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import msgspec
import pytest

from tertulia.server.connection import MAX_PIPELINED, MAX_TARGET, Connection
from tertulia.server.connection_limits import MAX_UNREAD_HEADS, SPARE_CONNECTIONS
from tertulia.server.proxies import proxies_of
from tests.features.kernel.test_connection import CHUNKED, END, answers, codes
from tests.harness.demo_api import Demo, served

LIMITS = msgspec.structs.replace(
    Connection.limits, header_seconds=1.0, keep_alive_seconds=1.0, stall_seconds=1.0, min_bytes_per_second=1000
)
HASTY = msgspec.structs.replace(LIMITS, header_seconds=0.3, keep_alive_seconds=0.3, stall_seconds=0.3)
"""For clients of whom nothing more comes, however slow the machine is."""
HEAD = b"GET /api/v1/echo?text=a HTTP/1.1\r\nHost: x\r\n"
BODY = b"POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
MEBIBYTE = 1024 * 1024
ASKED, BUFFERED = 9, 5
"""Mebibytes of an answer, and how much of it the system's buffers may take."""
UPLOAD = b"POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"


@pytest.fixture(scope="module")
def impatient() -> Iterator[Demo]:
    with served(Demo(), LIMITS) as demo:
        yield demo


@pytest.fixture(scope="module")
def hasty() -> Iterator[Demo]:
    with served(Demo(), HASTY) as demo:
        yield demo


def connect(demo: Demo, **options: int) -> socket.socket:
    connection = socket.socket()
    for name, value in options.items():
        connection.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", demo.port))
    return connection


@pytest.mark.parametrize("start", [b"GET /api/v1/ec", HEAD, HEAD + b"X-Long: "])
def test_headers_that_do_not_come_to_an_end_are_answered_with_408(hasty: Demo, start: bytes) -> None:
    with connect(hasty) as connection:
        connection.sendall(start)
        [(status, body)] = answers(connection)
    assert (status, body["result"], body["code"]) == (408, "error", "REQUEST_TIMEOUT")


def test_headers_that_trickle_in_are_answered_with_408(hasty: Demo) -> None:
    with connect(hasty) as connection:
        connection.sendall(HEAD)
        connection.settimeout(0.1)
        answer = b""
        for _ in range(100):
            try:
                answer = connection.recv(65536)
                break
            except TimeoutError:
                connection.sendall(b"X: y\r\n")
    assert b" 408 " in answer
    assert b"REQUEST_TIMEOUT" in answer


@pytest.mark.parametrize("start", [BODY, BODY + b"text=a", CHUNKED + b"6\r\ntext=a\r\n", CHUNKED + b"6;"])
def test_a_body_that_stops_is_answered_with_408(hasty: Demo, start: bytes) -> None:
    with connect(hasty) as connection:
        connection.sendall(start)
        assert codes(connection) == ["REQUEST_TIMEOUT"]


def test_a_body_that_stops_after_a_fast_start_is_answered_with_408(hasty: Demo) -> None:
    with connect(hasty) as connection:
        connection.sendall(BODY + b"text=" + b"x" * 90_000)
        assert codes(connection) == ["REQUEST_TIMEOUT"]


@pytest.mark.timed
def test_a_slow_body_that_moves_is_read_to_its_end(impatient: Demo) -> None:
    with connect(impatient) as connection:
        connection.sendall(b"POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 20005\r\n\r\ntext=")
        for _ in range(20):
            connection.sendall(b"x" * 1000)
            time.sleep(0.1)
        assert codes(connection, 1) == ["x" * 20_000]


@pytest.mark.parametrize("start", [b"", b"\r\n"])
def test_a_connection_on_which_nothing_is_asked_is_closed(hasty: Demo, start: bytes) -> None:
    with connect(hasty) as connection:
        connection.sendall(start)
        assert answers(connection) == []


def test_empty_lines_do_not_keep_a_connection_open(impatient: Demo) -> None:
    with connect(impatient) as connection:
        connection.sendall(HEAD + b"\r\n")
        assert codes(connection, 1) == ["a"]
        assert any(is_closed_after_empty_line(connection) for _ in range(100))


def test_a_body_that_is_still_arriving_after_its_answer_does_not_keep_a_connection_open(impatient: Demo) -> None:
    with connect(impatient) as connection:
        connection.sendall(b"POST /api/v1/nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nx")
        assert codes(connection) == ["NOT_FOUND"]


def test_a_poll_waits_longer_than_any_of_the_limits(hasty: Demo) -> None:
    hasty.watch.waiting.clear()
    with connect(hasty) as connection:
        connection.sendall(b"GET /api/v1/poll" + END)
        assert hasty.watch.waiting.wait(10)
        connection.settimeout(4 * HASTY.header_seconds)
        with pytest.raises(TimeoutError):
            connection.recv(1)


def test_an_answer_that_nobody_reads_is_given_up(hasty: Demo) -> None:
    with connect(hasty, SO_RCVBUF=4096) as connection:
        connection.sendall(b"GET /api/v1/large?mebibytes=30" + END)
        # Reading begins when nothing is left to read but what the system's buffers took.
        time.sleep(8 * HASTY.stall_seconds)
        size = 0
        try:
            while chunk := connection.recv(65536):
                size += len(chunk)
        except ConnectionResetError:
            pass
    assert size < 30 * 1024 * 1024


@pytest.mark.timed
def test_an_answer_that_is_read_slowly_is_sent_to_its_end(impatient: Demo) -> None:
    with connect(impatient, SO_RCVBUF=4096) as connection:
        connection.sendall(b"GET /api/v1/large?mebibytes=10" + END)
        size = 0
        began = time.monotonic()
        while time.monotonic() < began + 2.5 * LIMITS.stall_seconds:
            size += len(connection.recv(2048))
            time.sleep(0.02)
        while size < 10 * 1024 * 1024:
            chunk = connection.recv(1 << 20)
            assert chunk
            size += len(chunk)


def test_a_large_answer_must_be_read_faster_than_a_small_one() -> None:
    with served(Demo(), msgspec.structs.replace(LIMITS, answer_seconds=1.0)) as demo:
        assert size_read_slowly(demo, mebibytes=30) < 30 * MEBIBYTE


@pytest.mark.parametrize("proxy", ["", "127.0.0.1"])
def test_who_holds_the_most_of_answers_that_are_not_read_is_cut_off(proxy: str) -> None:
    limits = msgspec.structs.replace(Connection.limits, max_unsent_bytes=20 * MEBIBYTE)
    with served(Demo(), limits, proxies_of(proxy)) as demo:
        small = asking(demo, "127.0.0.2", proxy)
        crowd = [asking(demo, "127.0.0.3", proxy) for _ in range(12)]
        assert len(read_all(small)) > ASKED * MEBIBYTE, "others hold more"
        complete = [len(read_all(each)) > ASKED * MEBIBYTE for each in crowd]
        assert 0 < sum(complete) <= 20 / (ASKED - BUFFERED), "the newest are left"
        assert complete[-1]
        again = asking(demo, "127.0.0.3", proxy)
        assert len(read_all(again)) > ASKED * MEBIBYTE, "what was held is given back"
        for each in [small, *crowd, again]:
            each.close()


def test_an_answer_counts_whole_though_the_system_took_a_part_of_it() -> None:
    limits = msgspec.structs.replace(Connection.limits, max_unsent_bytes=3 * ASKED * MEBIBYTE)
    with served(Demo(), limits) as demo:
        crowd = [asking(demo, "127.0.0.3", "") for _ in range(3)]
        complete = [len(read_all(each)) > ASKED * MEBIBYTE for each in crowd]
        for each in crowd:
            each.close()
    assert complete == [False, True, True]


def test_an_answer_that_waits_for_one_that_is_not_read_counts_as_well() -> None:
    limits = msgspec.structs.replace(Connection.limits, max_unsent_bytes=4 * ASKED * MEBIBYTE)
    with served(Demo(), limits) as demo, connect(demo, SO_RCVBUF=65536) as connection:
        connection.sendall(b"GET /api/v1/large?mebibytes=%d" % ASKED + END)
        connection.sendall(b"GET /api/v1/large?mebibytes=%d" % (4 * ASKED) + END)
        time.sleep(1)
        assert len(read_all(connection)) < ASKED * MEBIBYTE


def test_who_holds_the_most_of_heads_that_do_not_end_is_told_to_come_again() -> None:
    whole, rest = divmod(MAX_UNREAD_HEADS - 1, MAX_TARGET)
    with served(Demo()) as demo, ExitStack() as crowd:
        first = crowd.enter_context(beginning(demo, MAX_TARGET))
        for size in [*[MAX_TARGET] * (whole - 1), rest]:
            crowd.enter_context(beginning(demo, size))
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", demo.port), 10, ("127.0.0.2", 0)) as connection:
                connection.sendall(HEAD)
                time.sleep(0.02)
                connection.sendall(b"\r\n")
                assert codes(connection, 1) == ["a"]
        crowd.enter_context(beginning(demo, len(HEAD)))
        assert first.recv(65536).startswith(b"HTTP/1.1 503 ")


def beginning(demo: Demo, size: int) -> socket.socket:
    """A request whose head has so many bytes until now."""
    connection = socket.create_connection(("127.0.0.1", demo.port), 10, ("127.0.0.3", 0))
    connection.sendall(b"GET /".ljust(size, b"x"))
    return connection


def test_more_headers_than_the_limit_are_refused(impatient: Demo) -> None:
    with connect(impatient) as connection:
        connection.sendall(HEAD + b"A:\r\n" * LIMITS.max_headers + b"\r\n")
        [(status, body)] = answers(connection)
    assert (status, body["code"]) == (431, "HEADERS_TOO_LARGE")


@pytest.mark.parametrize(
    "part", [b"A%d: b\r\n" * 10_000 % tuple(range(10_000)), b"N" * 50_000, b"Name: " + b"v" * 50_000]
)
def test_the_headers_of_a_part_have_bounds(impatient: Demo, part: bytes) -> None:
    body = b"--b\r\n" + part
    with connect(impatient) as connection:
        connection.sendall(UPLOAD + b"Content-Length: 150000\r\n\r\n" + body)
        [(status, answer)] = answers(connection, 1)
    assert (status, answer["msg"]) == (400, "The multipart body is malformed")


def test_requests_that_wait_in_line_have_a_bound(impatient: Demo) -> None:
    impatient.watch.waiting.clear()
    with connect(impatient) as connection:
        connection.sendall((HEAD + b"\r\n") * (MAX_PIPELINED + 50))
        found = codes(connection)
    assert set(found) == {"a"}
    assert len(found) < MAX_PIPELINED + 50


def test_one_connection_too_many_is_told_to_come_again() -> None:
    limits = msgspec.structs.replace(Connection.limits, max_connections=3)
    with served(Demo(), limits) as demo:
        within = [connect(demo) for _ in range(3)]
        for connection in within:
            connection.sendall(HEAD + b"\r\n")
            assert codes(connection, 1) == ["a"]
        with connect(demo) as surplus:
            surplus.sendall(HEAD + b"\r\n")
            head, _, body = read_all(surplus).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nretry-after: 5" in head
        assert json.loads(body)["code"] == "TOO_MANY_CONNECTIONS"
        within.pop().close()
        assert eventually_answered(demo) == ["a"]
        for connection in within:
            connection.close()


def test_many_connections_too_many_are_closed_without_a_word() -> None:
    limits = msgspec.structs.replace(Connection.limits, max_connections=1)
    with served(Demo(), limits) as demo:
        crowd = [connect(demo) for _ in range(SPARE_CONNECTIONS + 20)]
        crowd[0].sendall(HEAD + b"\r\n")
        assert codes(crowd[0], 1) == ["a"]
        told = [read_all(each).startswith(b"HTTP/1.1 503 ") for each in crowd[1:]]
        assert 0 < sum(told) <= SPARE_CONNECTIONS
        for each in crowd:
            each.close()


@pytest.mark.parametrize("proxy", ["", "127.0.0.1"])
def test_one_network_does_not_take_the_connections_of_all(proxy: str) -> None:
    """Of its own, or by requests that a proxy makes for it over connections of the proxy."""
    limits = msgspec.structs.replace(Connection.limits, max_network_connections=3)
    with served(Demo(), limits, proxies_of(proxy)) as demo:
        within = [polling(demo, "127.0.0.5", proxy) for _ in range(3)]
        with polling(demo, "127.0.0.5", proxy) as surplus:
            head, _, body = read_all(surplus).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 429 ")
        assert b"\r\nretry-after: 5.0" in head
        assert json.loads(body)["code"] == "RATE_LIMIT_HIT"
        with polling(demo, "127.0.0.6", proxy) as other:
            assert is_waiting(other)
        within.pop().close()
        time.sleep(0.5)
        within.append(polling(demo, "127.0.0.5", proxy))
        assert all(map(is_waiting, within))
        for connection in within:
            connection.close()


def test_requests_that_a_proxy_makes_one_after_the_other_are_one_at_a_time() -> None:
    limits = msgspec.structs.replace(Connection.limits, max_network_connections=1)
    with served(Demo(), limits, proxies_of("127.0.0.1")) as demo, connect(demo) as connection:
        for _ in range(5):
            connection.sendall(HEAD + b"X-Forwarded-For: 203.0.113.7\r\n\r\n")
            assert codes(connection, 1) == ["a"]


def size_read_slowly(demo: Demo, mebibytes: int) -> int:
    """Some kilobytes each second, which would be enough for a small answer."""
    size = 0
    with connect(demo, SO_RCVBUF=4096) as connection:
        connection.sendall(b"GET /api/v1/large?mebibytes=%d" % mebibytes + END)
        try:
            for _ in range(40):
                size += len(connection.recv(2048))
                time.sleep(0.1)
            size += len(read_all(connection))
        except ConnectionResetError:
            pass
    return size


def asking(demo: Demo, address: str, proxy: str) -> socket.socket:
    """A client that asked for much, and read nothing but the beginning."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    connection.settimeout(20)
    connection.bind((proxy or address, 0))
    connection.connect(("127.0.0.1", demo.port))
    head = b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: %b\r\n\r\n" % address.encode()
    connection.sendall(b"GET /api/v1/large?mebibytes=%d" % ASKED + head)
    assert connection.recv(1, socket.MSG_PEEK)
    return connection


def polling(demo: Demo, address: str, proxy: str) -> socket.socket:
    """A client that waits, by itself or by a proxy."""
    connection = socket.socket()
    connection.settimeout(20)
    connection.bind((proxy or address, 0))
    connection.connect(("127.0.0.1", demo.port))
    connection.sendall(b"GET /api/v1/poll HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %b\r\n\r\n" % address.encode())
    return connection


def is_waiting(connection: socket.socket) -> bool:
    connection.settimeout(0.3)
    try:
        connection.recv(1)
    except TimeoutError:
        return True
    return False


def is_closed_after_empty_line(connection: socket.socket) -> bool:
    connection.settimeout(0.1)
    try:
        connection.sendall(b"\r\n")
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def read_all(connection: socket.socket) -> bytes:
    data = b""
    try:
        while chunk := connection.recv(65536):
            data += chunk
    except ConnectionResetError:
        pass
    return data


def eventually_answered(demo: Demo) -> list[object]:
    """What a new connection hears, once the server has noticed that another one is gone."""
    found: list[object] = []
    for _ in range(100):
        with connect(demo) as connection:
            connection.sendall(HEAD + b"\r\n")
            found = codes(connection, 1)
        if found != ["TOO_MANY_CONNECTIONS"]:
            return found
        time.sleep(0.05)
    return found
