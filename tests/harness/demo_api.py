"""Small endpoints to try the conventions on: real ones, served by a real server, but of no feature."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import uvicorn
from msgspec import Meta

from tertulia.kernel.admission import Admission
from tertulia.kernel.auth import Anyone, Caller, Person
from tertulia.kernel.docs_page import documentation
from tertulia.kernel.door import Door
from tertulia.kernel.endpoint import AnyLength, Call, Reply, Wire, alias, collect, delete, get, patch, post
from tertulia.kernel.errors import Refusal, server_not_ready, unauthorized
from tertulia.kernel.http import Api, BodyLimits
from tertulia.kernel.later import Later
from tertulia.kernel.openapi import About
from tertulia.server.connection import Connection
from tertulia.server.connection_limits import ConnectionLimits
from tertulia.server.proxies import Proxies

C = TypeVar("C", bound=Caller)
LIMIT = 200_000
Topic = Annotated[str, Meta(max_length=60, description="Name of the topic.")]
Word = Annotated[str, Wire(parse=str.upper, schema={"type": "string"})]


class Sent(msgspec.Struct):
    id: int
    to: list[int]
    content: str
    topic: str | None


class Draft(msgspec.Struct):
    content: str
    timestamp: int = 0


class Clock:
    """A service."""

    now = 1234


class Ledger:
    """A scope that tells how it ended, the way a transaction commits or rolls back."""

    def __init__(self) -> None:
        self.history: list[str] = []

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator["Entry"]:
        self.history.append("begin")
        try:
            yield Entry()
        except BaseException:
            self.history.append("rollback")
            raise
        self.history.append("commit")


class Entry:
    """What the ledger injects."""


class PollWatch:
    """Lets a test see that a waiting endpoint noticed its client leaving."""

    def __init__(self) -> None:
        self.waiting = threading.Event()
        self.left = threading.Event()


class Bell:
    """Lets all go on who wait for it."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.how = ""
        self.left = threading.Event()


class Ringing(Later):
    """An answer that comes when the bell rings: so many letters, or a failure."""

    def __init__(self, bell: Bell, size: int) -> None:
        self._bell = bell
        self._size = size

    def begin(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._bell.waiting.append(tell)

    def result(self) -> dict[str, str]:
        if self._bell.how == "refuse":
            raise Refusal("No", code="NOT_TODAY")
        if self._bell.how == "crash":
            raise RuntimeError("secret detail")
        return {"text": "x" * self._size}

    def leave(self) -> None:
        self._bell.waiting.remove(self._tell)
        self._bell.left.set()


class KeyCheck:
    """Knows one user; the password is the letter k."""

    async def authenticate(self, call: Call, kind: type[C], optional: bool) -> C | None:
        header = call.header("authorization")
        if header is None and optional:
            return None
        if header != "Basic YW5uQGV4YW1wbGUuY29tOms=":
            raise unauthorized("Log in first", 'The "demo"\r\nroom')
        return kind(7, 1, 1, "ann@example.com", "Ann", 400, None, "", "", b"{}")


class Unplugged(Exception):
    """Stands for an engine that is out of reach."""


def translate(error: Exception) -> Refusal | None:
    return server_not_ready() if isinstance(error, Unplugged) else None


@post("/messages")
async def send_message(
    caller: Person,
    *,
    type: Literal["direct", "channel"],
    to: list[int],
    content: str,
    topic: Topic | None = alias("subject"),
) -> Sent:
    """Send a message.

    The text below the first line is the description.
    """
    return Sent(caller.user_id, to, f"{type}: {content}", topic)


@get("/echo", takes_files=True)
@post("/echo", takes_files=True)
@patch("/echo", takes_files=True)
@delete("/echo", takes_files=True)
async def echo(
    call: Call,
    *,
    text: Annotated[str, AnyLength()] = "",
    number: int | None = None,
    items: list[str] | None = None,
    word: Word | None = None,
) -> dict[str, Any]:
    """Answer what was understood."""
    files = [[upload.field, upload.filename, upload.size, upload.file.read().decode()] for upload in call.files]
    return {
        "text": text, "number": number, "items": items, "word": word, "client": call.client, "files": files,
        "subdomain": call.subdomain,
    }  # fmt: skip


@post("/drafts")
async def create_drafts(caller: Person, *, drafts: list[Draft]) -> None:
    """Keep drafts."""


@get("/things/{thing_id}")
async def get_thing(clock: Clock, *, thing_id: int) -> dict[str, int]:
    """Look at a thing."""
    return {"thing_id": thing_id, "now": clock.now}


@get("/things/{name}/label")
async def get_label(*, name: str) -> dict[str, str]:
    """Look at a label, or fail at it."""
    if name.startswith("crash"):
        raise RuntimeError("secret detail")
    return {"name": name}


@get("/whoami")
async def who_am_i(caller: Anyone, *, full: bool = False) -> dict[str, Any]:
    """Say who asks."""
    return {"user_id": caller.user_id if caller else None, "full": full}


@post("/write")
async def write(entry: Entry, *, how: str) -> Any:
    """Write something, or fail at it."""
    assert isinstance(entry, Entry)
    if how == "refuse":
        raise Refusal("No", code="NOT_TODAY", extra_key=1)
    if how == "crash":
        raise RuntimeError("secret detail")
    if how == "unplugged":
        raise Unplugged
    return {"object": object()} if how == "unencodable" else {"done": how}


@get("/encoded")
async def encoded() -> msgspec.Raw:
    """Answer with an object that was encoded before."""
    return msgspec.Raw(b'{"events":[1,2]}')


@get("/complete")
async def complete(call: Call) -> Reply:
    """Answer with bytes of its own."""
    call.add_header("X-RateLimit-Remaining", "199")
    return Reply(b"plain", 202, {"Cache-Control": "max-age=60"}, content_type="text/plain")


@get("/peer")
async def peer(call: Call) -> dict[str, str]:
    """Say from where."""
    return {"peer": call.peer, "scheme": call.scope["scheme"]}


@get("/large")
async def large(*, mebibytes: int) -> Reply:
    """More than the system's buffers take."""
    return Reply(bytes(mebibytes * 1024 * 1024), content_type="text/plain")


@get("/poll")
async def poll(call: Call, watch: PollWatch) -> dict[str, bool]:
    """Wait until the client is gone."""
    gone = asyncio.create_task(call.gone())
    watch.waiting.set()
    await asyncio.wait({gone}, timeout=20)
    if gone.done():
        watch.left.set()
    return {"gone": gone.done()}


@get("/bell", waits=True, returns=dict[str, str])
async def wait_for_bell(bell: Bell, *, size: int = 2, delay: float = 0.0) -> Later:
    """Answer when it rings; listen after so many seconds."""
    await asyncio.sleep(delay)
    return Ringing(bell, size)


@post("/bell")
async def ring(bell: Bell, *, how: Literal["answer", "refuse", "crash"] = "answer") -> dict[str, int]:
    """Ring it; say how many heard it, and how many tasks there were."""
    bell.how = how
    waiting, bell.waiting = bell.waiting, []
    for tell in waiting:
        tell()
    return {"heard": len(waiting), "tasks": len(asyncio.all_tasks())}


async def elsewhere(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the web client"})


class Demo:
    """The demo API and what its endpoints use."""

    def __init__(self, *, at_once: int = 0) -> None:
        self.ledger = Ledger()
        self.watch = PollWatch()
        self.bell = Bell()
        self.observed: list[tuple[str, str, int]] = []
        module = __import__("sys").modules[__name__]
        self.endpoints = collect(module)
        self.api = Api(
            [
                *self.endpoints,
                *documentation(self.endpoints, About(title="Demo", version="1", description="For tests.")),
            ],
            services={Clock: Clock(), PollWatch: self.watch, Bell: self.bell},
            scopes={Entry: self.ledger.open},
            admission=Admission(KeyCheck(), at_once=at_once),
            translate=translate,
            observe=lambda endpoint, method, status, _: self.observed.append((endpoint, method, status)),
            external_host="chat.example.com",
            body_limits=BodyLimits(LIMIT, LIMIT),
            fallback=elsewhere,
        )
        self.port = 0
        self.stop: Callable[[], None] = lambda: None
        """Begin to, as a signal does."""


@contextlib.contextmanager
def served(
    demo: Demo,
    limits: ConnectionLimits = Connection.limits,
    proxies: Proxies | None = None,
    door: Door | None = None,
) -> Iterator[Demo]:
    """Serve the demo with uvicorn on a free port."""
    http = Connection.limited(limits, proxies, door)
    config = uvicorn.Config(
        demo.api, port=0, http=http, ws="none", log_config=None, timeout_graceful_shutdown=1, proxy_headers=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            thread.join(0.01)
        demo.port = server.servers[0].sockets[0].getsockname()[1]
        demo.stop = partial(server.handle_exit, signal.SIGTERM, None)
        yield demo
    finally:
        server.should_exit = True
        thread.join()
