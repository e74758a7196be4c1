"""An answer that comes after the application has returned: no task waits for it, and its connection keeps the order of things."""

import asyncio
import socket
from collections.abc import Iterator, MutableMapping
from typing import Any

import httpx
import pytest

from tests.features.kernel.test_connection import END, answers
from tests.harness.demo_api import Demo, served
from tests.harness.talk import eventually

BELL = b"GET /api/v1/bell" + END
MANY = 200


@pytest.fixture(scope="module")
def shared_demo() -> Iterator[Demo]:
    with served(Demo()) as demo:
        yield demo


@pytest.fixture
def demo(shared_demo: Demo) -> Demo:
    eventually(lambda: not shared_demo.bell.waiting)
    shared_demo.bell.left.clear()
    shared_demo.observed.clear()
    return shared_demo


def waiting(demo: Demo, request: bytes = BELL) -> socket.socket:
    """A connection with a request that waits for the bell."""
    before = len(demo.bell.waiting)
    connection = socket.create_connection(("127.0.0.1", demo.port), timeout=10)
    connection.sendall(request)
    eventually(lambda: len(demo.bell.waiting) > before)
    return connection


def ring(demo: Demo, how: str = "answer") -> dict[str, int]:
    reply = httpx.post(f"http://127.0.0.1:{demo.port}/api/v1/bell", data={"how": how})
    return {name: reply.json()[name] for name in ("heard", "tasks")}


def test_many_requests_wait_without_a_task_and_each_gets_its_answer(demo: Demo) -> None:
    connections = [waiting(demo) for _ in range(MANY)]
    rung = ring(demo)
    assert rung["heard"] == MANY
    assert rung["tasks"] < MANY / 4
    for connection in connections:
        with connection:
            [(status, body)] = answers(connection, 1)
            assert (status, body["text"]) == (200, "xx")
    eventually(lambda: demo.observed.count(("wait_for_bell", "GET", 200)) == MANY)


def test_a_connection_is_good_for_the_next_request_after_that(demo: Demo) -> None:
    with waiting(demo) as connection:
        ring(demo)
        answers(connection, 1)
        connection.sendall(b"GET /api/v1/echo?text=next" + END)
        assert answers(connection, 1)[0][1]["text"] == "next"


@pytest.mark.parametrize(("how", "status", "code"), [("refuse", 400, "NOT_TODAY"), ("crash", 500, "INTERNAL_ERROR")])
def test_what_fails_then_is_told_like_any_failure(demo: Demo, how: str, status: int, code: str) -> None:
    with waiting(demo) as connection:
        ring(demo, how)
        [(found, body)] = answers(connection, 1)
    assert (found, body["code"]) == (status, code)
    assert "secret" not in str(body)


def test_requests_behind_one_that_waits_are_answered_after_it(demo: Demo) -> None:
    with waiting(demo, BELL + b"GET /api/v1/echo?text=behind" + END) as connection:
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(10)
        ring(demo)
        assert [body["text"] for _, body in answers(connection, 2)] == ["xx", "behind"]


def test_a_client_that_goes_is_not_waited_for(demo: Demo) -> None:
    waiting(demo).close()
    assert demo.bell.left.wait(10)
    assert ring(demo)["heard"] == 0
    assert ("wait_for_bell", "GET", 200) not in demo.observed


def test_a_client_that_goes_is_noticed_though_another_request_is_behind(demo: Demo) -> None:
    connection = waiting(demo, BELL + BELL)
    ring(demo)
    answers(connection, 1)
    eventually(lambda: len(demo.bell.waiting) == 1)
    connection.close()
    assert demo.bell.left.wait(10)


def test_a_client_that_goes_before_the_wait_begins_is_not_waited_for(demo: Demo) -> None:
    with socket.create_connection(("127.0.0.1", demo.port), timeout=10) as connection:
        connection.sendall(b"GET /api/v1/bell?delay=0.5" + END)
    assert demo.bell.left.wait(10)
    assert ring(demo)["heard"] == 0


def test_one_that_goes_with_another_request_behind_is_noticed_as_well(demo: Demo) -> None:
    waiting(demo, BELL + BELL).close()
    assert demo.bell.left.wait(10)
    eventually(lambda: not demo.bell.waiting)


def test_a_client_that_reads_nothing_gets_all_answers_in_their_order_once_it_reads(demo: Demo) -> None:
    large = 8 * 1024 * 1024
    requests = b"".join(b"GET /api/v1/bell?size=%d" % (large + number) + END for number in range(3))
    with waiting(demo, requests) as connection:
        ring(demo)
        eventually(lambda: len(demo.bell.waiting) == 1)
        ring(demo)
        connection.settimeout(30)
        assert [len(body["text"]) for _, body in answers(connection, 2)] == [large, large + 1]
        eventually(lambda: len(demo.bell.waiting) == 1)
        ring(demo)
        assert [len(body["text"]) for _, body in answers(connection, 1)] == [large + 2]


def test_of_a_head_only_the_head_is_answered(demo: Demo) -> None:
    with waiting(demo, b"HEAD /api/v1/bell" + END) as connection:
        ring(demo)
        assert connection.recv(65536).endswith(b"\r\n\r\n")


async def at_any_server(demo: Demo, leaves: bool) -> list[int]:
    """The statuses that a server gets which knows ASGI and nothing else."""
    sent: list[int] = []
    has_left = asyncio.Event()
    messages = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await has_left.wait()
        return {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            sent.append(message["status"])

    scope = {
        "type": "http", "method": "GET", "path": "/api/v1/bell", "query_string": b"", "headers": [(b"host", b"x")],
        "client": ("127.0.0.1", 1),
    }  # fmt: skip
    asked = asyncio.create_task(demo.api(scope, receive, send))
    while not demo.bell.waiting:
        await asyncio.sleep(0)
    if leaves:
        has_left.set()
    else:
        demo.bell.waiting.pop()()
    await asked
    return sent


async def test_a_server_that_knows_nothing_of_it_waits_in_the_requests_task() -> None:
    assert await at_any_server(Demo(), leaves=False) == [200]


async def test_there_too_a_client_that_goes_is_not_waited_for() -> None:
    demo = Demo()
    assert await at_any_server(demo, leaves=True) == []
    assert (demo.bell.left.is_set(), demo.bell.waiting) == (True, [])
