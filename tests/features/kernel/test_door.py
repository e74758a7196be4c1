"""Turned away at the door: the answer comes without the application, and the connection can be used again."""

import json
import re
import socket
from collections.abc import Iterator

import httpx
import pytest

from tertulia.kernel.admission import OF_NETWORK
from tertulia.kernel.door import FIRST, PARTS, Door
from tests.harness.demo_api import Demo, served
from tests.harness.talk import eventually

END = b" HTTP/1.1\r\nHost: x\r\n\r\n"
SEND = b"POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n"
BEHIND = 40
_head = re.compile(rb"HTTP/1.1 (\d+) .*?\r\n\r\n", re.DOTALL)


class Scene:
    """A demo behind a door, and one connection to it."""

    def __init__(self, demo: Demo, door: Door) -> None:
        self.demo = demo
        self.door = door
        self.connection = socket.create_connection(("127.0.0.1", demo.port), timeout=10)
        self._data = b""

    def shut(self) -> None:
        for kind in PARTS:
            for _ in range(FIRST):
                self.door.enter(kind)

    def open(self) -> None:
        for kind in PARTS:
            for _ in range(FIRST):
                self.door.leave(kind, None)

    def answer(self, *, has_body: bool = True) -> tuple[int, bytes, dict[str, str]]:
        """The next one: status, head and body."""
        while not (head := _head.match(self._data)):
            self._receive()
        size = int(head[0].lower().partition(b"content-length: ")[2].split()[0]) if has_body else 0
        while len(self._data) < head.end() + size:
            self._receive()
        body = self._data[head.end() : head.end() + size]
        self._data = self._data[head.end() + size :]
        return int(head[1]), head[0].lower(), json.loads(body) if body else {}

    def _receive(self) -> None:
        data = self.connection.recv(65536)
        assert data, "the connection was closed"
        self._data += data


@pytest.fixture
def scene() -> Iterator[Scene]:
    door = Door(0.5)
    with served(Demo(), door=door) as demo:
        scene = Scene(demo, door)
        try:
            yield scene
        finally:
            scene.connection.close()


def test_whoever_is_turned_away_is_told_when_to_come_back_and_the_application_is_not_asked(scene: Scene) -> None:
    scene.shut()
    scene.connection.sendall(SEND + b"\r\ncontent=tea")
    status, head, body = scene.answer()
    assert (status, body["result"], body["code"]) == (503, "error", "SERVER_NOT_READY")
    assert re.search(rb"\r\nretry-after: [1-3]\r\n", head)
    assert re.search(rb"\r\nx-request-id: [0-9a-f]{16}\r\n", head)
    assert b"\r\ncache-control: no-store\r\n" in head
    assert scene.demo.observed == []


def test_a_connection_is_of_use_after_it_was_turned_away(scene: Scene) -> None:
    scene.shut()
    scene.connection.sendall(SEND + b"\r\ncontent")
    scene.connection.sendall(b"=tea" + b"GET /api/v1/echo?text=a" + END)
    assert [scene.answer()[0] for _ in range(2)] == [503, 503]
    scene.open()
    scene.connection.sendall(b"GET /api/v1/echo?text=b" + END)
    assert scene.answer()[2]["text"] == "b"


def test_a_place_is_free_again_when_the_answer_is_known(scene: Scene) -> None:
    for _ in range(3 * FIRST):
        scene.connection.sendall(b"GET /api/v1/whoami" + END)
        assert scene.answer()[0] == 200


def test_what_waits_behind_another_request_of_its_connection_is_not_under_way(scene: Scene) -> None:
    bell = scene.demo.bell
    scene.connection.sendall(b"GET /api/v1/bell" + END + (b"GET /api/v1/whoami" + END) * BEHIND)
    eventually(lambda: bell.waiting)
    scene.connection.sendall(SEND + b"\r\ncontent")
    assert scene.door.under_way == 0
    httpx.post(f"http://127.0.0.1:{scene.demo.port}/api/v1/bell").raise_for_status()
    assert [scene.answer()[0] for _ in range(BEHIND + 1)] == [200] * (BEHIND + 1)
    scene.connection.sendall(b"=tea")
    assert scene.answer()[0] == 401
    eventually(lambda: scene.door.under_way == 0)


def test_requests_whose_turn_never_came_leave_no_place_taken(scene: Scene) -> None:
    requests = b"GET /api/v1/bell" + END + (b"GET /api/v1/whoami" + END) * BEHIND
    for _ in range(2 * FIRST // BEHIND):
        with socket.create_connection(("127.0.0.1", scene.demo.port), timeout=10) as connection:
            connection.sendall(requests)
            eventually(lambda: scene.demo.bell.waiting)
        eventually(lambda: not scene.demo.bell.waiting)
    scene.connection.sendall(b"GET /api/v1/whoami" + END)
    assert scene.answer()[0] == 200
    assert scene.door.under_way == 0


def test_what_waits_for_other_requests_of_the_same_caller_is_not_under_way() -> None:
    door = Door(0.5)
    with served(Demo(at_once=1), door=door) as demo:
        asking = [socket.create_connection(("127.0.0.1", demo.port), timeout=10) for _ in range(BEHIND)]
        for connection in asking:
            connection.sendall(b"GET /api/v1/poll" + END)
        eventually(lambda: door.under_way >= OF_NETWORK)
        for _ in range(3):
            httpx.options(f"http://127.0.0.1:{demo.port}/api/v1/poll").raise_for_status()
        assert door.under_way == OF_NETWORK
        for connection in asking:
            connection.close()
        eventually(lambda: door.under_way == 0)


def test_pages_and_polls_come_in_through_a_door_that_is_shut(scene: Scene) -> None:
    scene.shut()
    scene.connection.sendall(b"GET /api/v1/events?queue_id=1" + END)
    assert scene.answer()[0] == 404, "the demo has no events: the application was asked"
    scene.connection.sendall(b"GET /a/page" + END)
    assert scene.answer(has_body=False)[0] == 200


def test_an_answer_without_a_body_or_behind_a_question_for_one_is_the_applications(scene: Scene) -> None:
    scene.shut()
    scene.connection.sendall(b"HEAD /api/v1/echo" + END)
    assert scene.answer(has_body=False)[0] == 200


def test_a_connection_that_is_to_be_closed_is_closed(scene: Scene) -> None:
    scene.shut()
    scene.connection.sendall(SEND + b"Connection: close\r\n\r\ncontent=tea")
    status, head, _ = scene.answer()
    assert status == 503
    assert b"\r\nconnection: close\r\n" in head
    assert scene.connection.recv(1) == b""


def test_a_body_that_is_not_http_ends_the_connection_of_who_was_turned_away(scene: Scene) -> None:
    scene.shut()
    chunked = b"POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    scene.connection.sendall(chunked + b"nonsense\r\n")
    assert scene.answer()[0] == 400
    assert scene.connection.recv(1) == b""
