"""One HTTP connection: what uvicorn and its parser do, with refusals in our envelope and bounds of our own.

The application sees only requests that could be read. What could not is answered here: a target or headers over their
bounds, headers that could be understood in two ways (server/request_head.py), clients that are too slow (server/pace.py) or
too many, and bytes that are not HTTP. A method that the parser does not know is no such case: the application is asked, and
says which ones the address has.

Invariants
- Every answer is the JSON of `error_body` with the headers of every answer.
- Answers that are not read take no more memory than the bound of the process, and none for longer than `answer_seconds`.
- What a client sends before its request is complete takes no more memory than the bounds say, and one read.
- Every connection ends: each has one timer, from its beginning to its end, that knows what it waits for. Only the application
  has no bound of time here; a waiting poll is answered by its own heartbeat.
- An answer is never written into another one, nor ahead of one that is owed for an earlier request.
- Who is turned away at the door (kernel/door.py) costs no more than a head and a short answer. The connection stays open.
"""

import asyncio
import enum
import os
import re
from collections import deque
from typing import Self

import httptools
import structlog
from prometheus_client import Counter
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from tertulia.kernel.call import AsgiApp
from tertulia.kernel.door import VISIT, Door, Kind, Visit, kind_of
from tertulia.kernel.errors import Refusal, error_body
from tertulia.kernel.http import JSON_HEADERS
from tertulia.kernel.limits import TOO_OFTEN, network_of, too_often
from tertulia.kernel.settings import Settings
from tertulia.server.connection_limits import MAX_UNREAD_HEADS, SPARE_CONNECTIONS, ConnectionLimits, Tally, limits_of
from tertulia.server.pace import Pace
from tertulia.server.proxies import Proxies
from tertulia.server.request_head import check_head
from tertulia.server.whole_answers import WholeAnswer

MAX_TARGET = 256 * 1024
MAX_PATH = 65_535
"""The parser splits no address that is longer; it never sees the query."""
MAX_PIPELINED = 64
"""Requests that wait behind one that is being answered; each costs more memory than its bytes."""
LINGER_SECONDS = 2.0
"""How long a refused client may go on sending: closed at once, it would not get to read why."""
PARTING_SECONDS = 0.5
"""When the server stops: how long a connection without a request stays open. A client that does not know may be asking."""
OF_NETWORK_SECONDS = 5.0
"""When to come back if there are too many of the same network."""
_HEADER_LINE = len(": \r\n")
_odd_method = re.compile(rb"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64})(?= )")

log = structlog.get_logger()
TURNED_AWAY = Counter(
    "tertulia_connections_refused", "Connections turned away: too many of this process, or of their network", ["of"]
)


class _Stage(enum.Enum):
    """What the next byte belongs to."""

    BETWEEN = enum.auto()
    HEAD = enum.auto()
    BODY = enum.auto()


class Connection(HttpToolsProtocol):
    """uvicorn makes one for each connection."""

    limits: ConnectionLimits = limits_of(Settings())
    tally = Tally(limits)
    proxies = Proxies()
    door: Door | None = None

    _stage = _Stage.BETWEEN
    _since = 0.0
    """When the headers began to arrive, or when the connection fell idle."""
    _is_held = False
    """Whether the tally has an unread head of ours."""
    _timer: asyncio.TimerHandle | None = None
    _pace: Pace
    _is_proxy = False
    _has_asked = False
    _begun = 0
    _unread = 0
    _method: str | None = None
    _refusal: Refusal | None = None
    _is_refused = False
    _is_parting = False
    """The server stops: the next answer is the last."""
    _visit: Visit | None = None
    """Of the request whose body arrives."""
    _turned_away = 0
    """The same, if it will not be let in: when to come back, in seconds."""
    _answer: WholeAnswer | None = None
    """What is being answered, or was answered last."""
    _networks: deque[str]
    """Where this is counted: a connection of a client once, one of a proxy for each request that is not answered."""

    @classmethod
    def limited(cls, limits: ConnectionLimits, proxies: Proxies | None = None, door: Door | None = None) -> type[Self]:
        """The connections of a process with these bounds, behind these proxies, through this door."""
        own = {"limits": limits, "tally": Tally(limits), "proxies": proxies or Proxies(), "door": door}
        return type(cls.__name__, (cls,), own)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch; turn away who is one too many."""
        super().connection_made(transport)
        self.tally.connections += 1
        self._since = self.loop.time()
        self._pace = Pace(self._since)
        self._is_proxy = self.client is not None and self.proxies.trusts(self.client[0])
        self._networks = deque()
        self._timer = self.loop.call_later(self.limits.tick, self._look)
        excess = len(self.connections) - self.limits.max_connections
        of_network = 0 if self._is_proxy or self.client is None else self._count(self.client[0])
        if max(excess, of_network) > 0:
            TURNED_AWAY.labels("process" if excess > 0 else "network").inc()
        if max(excess, of_network) > SPARE_CONNECTIONS:
            self._is_refused = True
            transport.abort()
        elif excess > 0:
            self.tally.tell("too many connections", limit=self.limits.max_connections)
            self._refuse(_too_many_connections())
        elif of_network > 0:
            self._refuse(_too_many_of_network())

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self.tally.connections -= 1
        if self._timer is not None:
            self._timer.cancel()
        self._release()
        self.tally.unsent.remove(self)
        for network in self._networks:
            self.tally.networks.leave(network)
        self._networks.clear()
        super().connection_lost(exc)
        if self._answer is not None:
            self._answer.lost()
            self._answer = None

    def shutdown(self) -> None:
        """The server stops. Who has asked, or asks in this moment, gets an answer that says that the connection ends with it."""
        self._is_parting = True
        if self._is_idle():
            self.loop.call_later(PARTING_SECONDS, self._part)
        elif self._is_answering():
            super().shutdown()

    def _part(self) -> None:
        if self._is_idle():
            self.transport.close()

    def _is_idle(self) -> bool:
        return self._stage is _Stage.BETWEEN and not self._is_answering()

    def _is_answering(self) -> bool:
        # There is no cycle before the first request.
        return not getattr(self.cycle, "response_complete", True)

    def pause_writing(self) -> None:
        """An answer does not leave at once: it lies in our memory until the client takes it."""
        super().pause_writing()
        self._hold_answers(0)

    def _hold_answers(self, size: int) -> None:
        """What is written and not sent lies in our memory, and so many bytes more that wait for that."""
        unsent = self.tally.unsent
        unsent.add(self, self._asks_for(), self.transport.get_write_buffer_size() + size)
        while unsent.total > self.limits.max_unsent_bytes:
            self.tally.tell("too much of answers is not read", bytes=unsent.total)
            unsent.take_worst()._cut_off()

    def resume_writing(self) -> None:
        """The client took most of what waited for it."""
        self._pace.has_drained = True
        self.tally.unsent.remove(self)
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        """Read what came; refuse what cannot be read."""
        if self._is_refused:
            return
        is_start = self._stage is _Stage.BETWEEN
        self._begun = 0
        self._unread += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # we speak nothing else: the request is answered as if it had not asked
        except httptools.HttpParserInvalidMethodError:
            # Only a request that is the first of these bytes can be read again.
            odd = _odd_method.match(data) if is_start and self._begun == 1 else None
            if odd is None:
                self._refuse(_malformed())
            else:
                self._read_as_get(odd[1].decode(), data[odd.end() :])
        except httptools.HttpParserError:
            self._refuse(self._refusal or _malformed())
        else:
            if self._unread > self._max_unread():
                self._refuse(self._headers_too_large())
            elif self._stage is _Stage.HEAD:
                self._hold()
            elif self._is_held:
                self._release()

    def on_message_begin(self) -> None:
        """A request begins."""
        if len(self.pipeline) >= MAX_PIPELINED:
            self._give_up(Refusal("Too many requests wait for their answers on this connection"))
        self._stage = _Stage.HEAD
        self._since = self.loop.time()
        self._begun += 1
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """More of the target."""
        super().on_url(url)
        if len(self.url) > MAX_TARGET:
            self._give_up(_target_too_long(MAX_TARGET))

    def on_header(self, name: bytes, value: bytes) -> None:
        """One more header, or one that follows the body."""
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))
        if len(self.headers) > self.limits.max_headers:
            self._give_up(_too_many_headers(self.limits.max_headers))

    def on_headers_complete(self) -> None:
        """The application takes over."""
        if self._unread > self.limits.max_header_bytes and self._header_bytes() > self.limits.max_header_bytes:
            self._give_up(self._headers_too_large())
        self.url, _, query = self.url.partition(b"?")
        if len(self.url) > MAX_PATH:
            self._give_up(_target_too_long(MAX_PATH, "path"))
        try:
            check_head(self.headers, self.url, self.parser.get_http_version())
        except Refusal as refusal:
            self._give_up(refusal)
        self._find_client()
        self._enter()
        # The application has not begun: it runs when everything that has arrived is read.
        self.scope["query_string"] = query.partition(b"#")[0]
        self._has_asked = True
        if self._method is not None:
            self.scope["method"], self._method = self._method, None
        if self._is_parting and self.cycle is not None:
            self.cycle.keep_alive = False
        self.headers = []  # what follows the body is no header of the request
        self._stage = _Stage.BODY
        self._unread = 0
        self._pace.begin_body(self.loop.time())

    def on_body(self, body: bytes) -> None:
        """More of the body."""
        self._unread = 0
        self._pace.arrived += len(body)
        self._pace.pieces += 1
        if self._pace.is_body_crumbled():
            self._give_up(Refusal("The body of the request comes in too many tiny pieces"))
        if not self._turned_away:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is there."""
        self._unread = 0
        self._stage = _Stage.BETWEEN
        self._since = self.loop.time()
        if self._visit is not None and not self.pipeline:
            self._visit.begin()
        self._visit = None
        if self._turned_away:
            self._turn_away(self._turned_away)
        else:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """A request is answered: the next one's turn has come, or the connection is idle (`_look`)."""
        if self._stage is _Stage.BETWEEN:
            self._since = self.loop.time()
        if self._networks:
            self._leave_network()
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            cycle, app = self.pipeline.pop()
            self._start_asgi_task(cycle, app)  # type: ignore[arg-type]

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: AsgiApp) -> None:  # type: ignore[override]
        """A request's turn has come: its answer leaves in one write if it can.

        Until then it is not under way. If the connection is lost first, nobody would say that it is over.
        """
        visit: Visit | None = cycle.scope.get(VISIT)  # type: ignore[assignment]
        if visit is not None and not cycle.more_body:
            visit.begin()
        self._answer = WholeAnswer(app, cycle, self.tasks, self._hold_answers)
        self._answer.begin()

    def _enter(self) -> None:
        """Let the request in, or turn it away."""
        door = self.door
        kind = Kind.ELSEWHERE if door is None else kind_of(self.parser.get_method(), self.url)
        if door is None or kind is Kind.ELSEWHERE or self._method is not None:
            super().on_headers_complete()
        elif door.lets_in(kind) or not self._is_next():
            if kind is not Kind.POLL:
                self.scope[VISIT] = self._visit = Visit(door, kind)  # type: ignore[literal-required]
            super().on_headers_complete()
        else:
            self.tally.tell("too busy: requests are turned away")
            self._turned_away = door.turn_away(kind)

    def _is_next(self) -> bool:
        """Whether it can be answered with those bytes: none are owed for an earlier request, and it waits for no others."""
        return not self._is_answering() and not self.expect_100_continue and self.parser.get_method() != b"HEAD"

    def _turn_away(self, seconds: int) -> None:
        """The request is there, and is answered without the application."""
        self._turned_away = 0
        keep_alive = self.parser.should_keep_alive() and not self._is_parting
        self.transport.write(self.tally.turned_away(self.server_state).answer(seconds, keep_alive=keep_alive))
        self._leave_network()
        if not keep_alive:
            self.transport.close()

    def _leave_network(self) -> None:
        """A request of a proxy's is answered."""
        if self._is_proxy and self._networks:
            self.tally.networks.leave(self._networks.popleft())

    def _find_client(self) -> None:
        """Whom a proxy asks for; a client that says so of itself is not believed."""
        if self._is_proxy and self.client is not None:
            peer = self.client[0]
            client, scheme = self.proxies.client_of(peer, self.headers)
            if scheme is not None:
                self.scope["scheme"] = scheme
            if client != peer:
                self.scope["client"] = (client, 0)
            if self._count("" if client == peer else client) > 0:
                self._give_up(_too_many_of_network())
        elif any(name == b"x-forwarded-for" for name, _ in self.headers):
            self.proxies.disbelieved += 1

    def _count(self, address: str) -> int:
        """Count one more connection or request of an address; how many too many its network has then."""
        network = self.tally.networks.enter(address)
        self._networks.append(network)
        excess = self.tally.networks.excess(network)
        if excess > 0:
            self.tally.tell("too many connections of one network", limit=self.limits.max_network_connections)
        return excess

    def _asks_for(self) -> str:
        """Whose answers these are, as far as an address tells."""
        client = self.scope["client"] if self._has_asked else self.client
        return "" if client is None else network_of(client[0])

    def _cut_off(self) -> None:
        """End at once, but not from within a write of this connection."""
        self._is_refused = True
        self.loop.call_soon(self.transport.abort)

    def _look(self) -> None:
        """Has this waited too long for the client? Called every tick, until the connection is lost."""
        limits, now = self.limits, self.loop.time()
        self._timer = self.loop.call_later(limits.tick, self._look)
        least = limits.least_read(self.tally.unsent.of(self))
        if self._pace.is_reader_slow(now, limits.stall_seconds, least, self.transport):
            self._is_refused = True
            self.transport.abort()
        elif self._is_refused or self.transport.is_closing():
            pass
        elif self._stage is _Stage.HEAD:
            if now - self._since > limits.header_seconds:
                self._refuse(_too_slow("headers", f"they may take {limits.header_seconds:g} seconds"))
        elif self._stage is _Stage.BODY:
            paused = self.flow.read_paused
            if self._pace.is_body_slow(now, limits.stall_seconds, limits.least, paused=paused):
                self._refuse(_too_slow("body", f"at least {limits.min_bytes_per_second} bytes per second must arrive"))
        elif self._is_idle():
            patience = limits.keep_alive_seconds if self._has_asked else limits.header_seconds
            if now - self._since > patience:
                self.transport.close()

    def _hold(self) -> None:
        """Headers that are not complete: all connections together may hold so many bytes of them."""
        heads, self._is_held = self.tally.unread_heads, True
        heads.add(self, self._asks_for(), self._unread)
        while heads.total > MAX_UNREAD_HEADS:
            self.tally.tell("too many unfinished requests", bytes=heads.total)
            worst: Connection = heads.take_worst()
            if not worst.transport.is_closing():
                worst._refuse(_too_many_connections())

    def _release(self) -> None:
        self._is_held = False
        self.tally.unread_heads.remove(self)

    def _max_unread(self) -> int:
        """Bytes of which nothing came: neither a request nor a part of its body."""
        return MAX_TARGET + self.limits.max_header_bytes + 1024

    def _header_bytes(self) -> int:
        return sum(len(name) + len(value) + _HEADER_LINE for name, value in self.headers)

    def _read_as_get(self, method: str, rest: bytes) -> None:
        """The parser knows a list of methods and no other. The application knows what to say of `method`."""
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self._stage = _Stage.BETWEEN
        self._method = method
        self.data_received(b"GET" + rest)

    def _give_up(self, refusal: Refusal) -> None:
        """Stop the parser, from within."""
        self._refusal = refusal
        raise refusal

    def _refuse(self, refusal: Refusal) -> None:
        """Answer, and read nothing more of this connection."""
        self._is_refused = True
        self._forget_head()
        if refusal.status not in (503, TOO_OFTEN):  # of those the tally tells
            log.info("request not understood", status=refusal.status, peer=self.client)
        cycle = self.cycle  # None before the first request
        if self._stage is _Stage.BODY and not self._turned_away:
            cycle.disconnected = True  # whoever works on it learns that nobody waits
            cycle.message_event.set()
            if cycle.response_started or self.pipeline:
                self.transport.close()
                return
        elif self._is_answering():
            cycle.keep_alive = False  # an earlier request waits for its answer: the connection ends with that
            return
        self.transport.write(self._encoded(refusal))
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def _forget_head(self) -> None:
        """What came of the request is not read any more; the client may be there for a while."""
        self.url, self.headers = b"", []
        self._release()

    def _headers_too_large(self) -> Refusal:
        msg = f"The headers of the request are too large (limit: {self.limits.max_header_bytes} bytes)"
        return Refusal(msg, code="HEADERS_TOO_LARGE", status=431)

    def _encoded(self, refusal: Refusal) -> bytes:
        body = error_body(refusal)
        headers = [
            *self.server_state.default_headers,
            *JSON_HEADERS,
            *((name.lower().encode(), value.encode()) for name, value in (refusal.headers or {}).items()),
            (b"x-request-id", os.urandom(8).hex().encode()),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
        ]
        lines = [b"%b: %b\r\n" % header for header in headers]
        return b"".join([STATUS_LINE[refusal.status], *lines, b"\r\n", body])


def _malformed() -> Refusal:
    return Refusal("This is not a request of HTTP 1.1")


def _target_too_long(limit: int, part: str = "address") -> Refusal:
    msg = f"The {part} of the request is too long (limit: {limit} bytes). Parameters may also be sent in the body"
    return Refusal(msg, code="URI_TOO_LONG", status=414)


def _too_many_headers(limit: int) -> Refusal:
    return Refusal(f"The request has too many headers (limit: {limit})", code="HEADERS_TOO_LARGE", status=431)


def _too_slow(part: str, bound: str) -> Refusal:
    return Refusal(f"The {part} of the request arrived too slowly: {bound}", code="REQUEST_TIMEOUT", status=408)


def _too_many_connections() -> Refusal:
    msg = "The server has as many connections as it can take. Please try again in a moment."
    return Refusal(msg, code="TOO_MANY_CONNECTIONS", status=503, headers={"Retry-After": "5"})


def _too_many_of_network() -> Refusal:
    refusal = too_often(OF_NETWORK_SECONDS)
    refusal.msg = "Your network has as many connections to this server as it may have. Please try again in a moment."
    return refusal
