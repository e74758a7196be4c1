"""An answer that is whole leaves in one write, and is byte for byte what uvicorn would have written."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from tertulia.kernel.call import Message
from tertulia.server.connection import Connection
from tertulia.server.whole_answers import JOINED_BYTES

Headers = list[tuple[bytes, bytes]]
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
TYPE = (b"content-type", b"application/json")


class Writes(asyncio.Transport):
    """A connection's other end, which notes what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.has_ended = False
        self.is_kept = False
        """Whether it was open after the last answer."""

    def write(self, data: Any) -> None:
        assert not self.has_ended
        self.written.append(bytes(data))

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def close(self) -> None:
        self.has_ended = True

    def is_closing(self) -> bool:
        return self.has_ended

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


def whole(body: bytes, *more: tuple[bytes, bytes], status: int = 200) -> list[Message]:
    headers = [TYPE, (b"content-length", b"%d" % len(body)), *more]
    return [start(headers, status), {"type": "http.response.body", "body": body}]


def start(headers: Headers, status: int = 200) -> Message:
    return {"type": "http.response.start", "status": status, "headers": headers}


def ask(protocol: type[HttpToolsProtocol], messages: Sequence[Message], request: bytes) -> Writes:
    """What a connection writes for a request that is answered with these messages."""

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        for message in messages:
            await send(message)

    async def run() -> Writes:
        config = uvicorn.Config(app, http=protocol, lifespan="off", log_config=None, access_log=False)
        config.load()
        state = ServerState()
        state.default_headers = [(b"date", b"today")]
        connection, transport = protocol(config, state, {}), Writes()
        connection.connection_made(transport)
        connection.data_received(request)
        while state.tasks:
            await asyncio.gather(*state.tasks)
        transport.is_kept = not transport.has_ended
        connection.connection_lost(None)
        return transport

    return asyncio.run(run())


@pytest.mark.parametrize("size", [0, 2, 2 * JOINED_BYTES])
def test_a_whole_answer_is_one_write(size: int) -> None:
    ours = ask(Connection, whole(b"x" * size), GET)
    assert len(ours.written) == 1
    assert ours.is_kept


CHUNKS = [
    start([TYPE]),
    {"type": "http.response.body", "body": b"a", "more_body": True},
    {"type": "http.response.body"},
]
PIECES = [
    start([(b"content-length", b"3")]),
    {"type": "http.response.body", "body": b"ab", "more_body": True},
    {"type": "http.response.body", "body": b"c"},
]


@pytest.mark.parametrize(
    ("messages", "request_"),
    [
        pytest.param(whole(b"{}"), GET, id="whole"),
        pytest.param(whole(b"{}"), GET * 2, id="asked together"),
        pytest.param(whole(b"{}"), b"HEAD" + GET[3:], id="only the head"),
        pytest.param(whole(b"{}"), GET.replace(b"1.1", b"1.0"), id="the last"),
        pytest.param(whole(b"{}"), GET.replace(b"Host", b"Connection: close\r\nHost"), id="the last, as asked"),
        pytest.param(whole(b"{}", (b"connection", b"close")), GET, id="the last, as answered"),
        pytest.param([start([TYPE], 204), {"type": "http.response.body"}], GET, id="no content"),
        pytest.param(CHUNKS, GET, id="chunks"),
        pytest.param([start([TYPE]), {"type": "http.response.body", "body": b"{}"}], GET, id="no length"),
        pytest.param(PIECES, GET, id="pieces"),
        pytest.param([start([(b"content-length", b"3")]), *whole(b"{}")[1:]], GET, id="too short"),
        pytest.param([start([(b"content-length", b"1")]), *whole(b"{}")[1:]], GET, id="too long"),
        pytest.param(whole(b"{}", (b"x-odd", b"a\r\nx-more: b")), GET, id="two headers in one"),
        pytest.param(whole(b"{}", (b"x-odd", b"a\nb")), GET, id="two lines"),
        pytest.param(whole(b"{}", (b"x-odd", b"a\0b")), GET, id="a control character"),
    ],
)
def test_an_answer_is_what_uvicorn_would_have_written(messages: Sequence[Message], request_: bytes) -> None:
    ours, theirs = ask(Connection, messages, request_), ask(HttpToolsProtocol, messages, request_)
    assert b"".join(ours.written) == b"".join(theirs.written)
    assert ours.is_kept == theirs.is_kept
