"""The ASGI application: finds the endpoint, runs it, answers.

Order of checks: route and method, authentication, rate limit, parameters, action. A reply is encoded before a transaction commits
and sent after it did, so a client never sees success for something that was lost, nor failure for something that is
kept. Every answer is JSON unless an endpoint says otherwise, carries X-Request-Id and is not cached.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from typing import Any, NamedTuple

import structlog

from tertulia.kernel.admission import Admission
from tertulia.kernel.audit import request_under_way
from tertulia.kernel.auth import Caller
from tertulia.kernel.body import read_fields, read_query, read_raw
from tertulia.kernel.browser_policy import HARMLESS
from tertulia.kernel.call import AsgiApp, Call, ClientGone, Message, Receive, Scope, Send
from tertulia.kernel.door import VISIT, Visit, visiting
from tertulia.kernel.endpoint import Endpoint
from tertulia.kernel.errors import Refusal, error_body, internal_error
from tertulia.kernel.freezing import frozen
from tertulia.kernel.later import Later, Line, arrival
from tertulia.kernel.limits import TOO_OFTEN
from tertulia.kernel.log import Seldom
from tertulia.kernel.params import fit_path, read_params
from tertulia.kernel.reply import JSON, Reply, success_body
from tertulia.kernel.request_log import CLIENT_GONE, ELSEWHERE, RequestLog
from tertulia.kernel.router import PathArgs, Router
from tertulia.kernel.statements import count_anew
from tertulia.kernel.tasks import end_tasks
from tertulia.kernel.threads import asking
from tertulia.kernel.tracing import Process
from tertulia.kernel.turns import FREE_SECONDS, note_turn, telling_turns

Opener = Callable[[], AbstractAsyncContextManager[Any]]
Observe = Callable[[str, str, int, float], None]
Translate = Callable[[Exception], Refusal | None]
Refuse = Callable[[Call, Refusal], Reply]
IsFrozen = Callable[[Call], Awaitable[bool]]

COMMON_HEADERS = [
    (b"cache-control", b"no-store"),
    *HARMLESS,
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, Idempotency-Key, X-Request-Id"),
    (b"access-control-allow-methods", b"GET, POST, DELETE, PUT, PATCH, HEAD, OPTIONS"),
    (b"access-control-expose-headers", b"X-Request-Id, Retry-After"),
]
JSON_HEADERS = [(b"content-type", b"application/json"), *COMMON_HEADERS]


FRESH_SECONDS = 1.0
"""Who calls is asked once more if what is called for begins later than this: few requests take so long to come."""
TELL_SECONDS = 60.0
"""How often the log says that somebody has reached a limit: they may do so thousands of times."""


class BodyLimits(NamedTuple):
    """How many bytes of parameters a body may have."""

    of_callers: int
    of_nobody: int
    """Of a call without credentials."""


BODY_LIMITS = BodyLimits(2 * 1024 * 1024, 256 * 1024)


class Api:
    """An ASGI app made of endpoints.

    services: instances by exact type. scopes: openers by type, such as Transaction: database.transaction; opened around
    the action. translate: what an exception of an engine means to the caller. observe(endpoint, method, status,
    seconds): metrics. fallback: the app for addresses outside /api that no
    endpoint has.
    """

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        *,
        services: Mapping[type, Any] | None = None,
        scopes: Mapping[type, Opener] | None = None,
        admission: Admission | None = None,
        translate: Translate | None = None,
        observe: Observe | None = None,
        external_host: str = "localhost",
        body_limits: BodyLimits = BODY_LIMITS,
        fallback: AsgiApp | None = None,
        rewrite: Callable[[Any], Any] | None = None,
        refusals: Mapping[str, Refuse] | None = None,
        request_log: RequestLog | None = None,
        is_frozen: IsFrozen | None = None,
    ) -> None:
        """`rewrite`: a last change of whatever an endpoint returns, before it is encoded.

        `refusals`: by the beginning of an address, how another protocol that is spoken below it says no. `is_frozen`: whether
        the organization that is called is read only for now (kernel/freezing.py).
        """
        self.endpoints = list(endpoints)
        self._admission = admission = admission or Admission()
        bound = [_bind(each, services or {}, scopes or {}, admission, body_limits) for each in self.endpoints]
        for each in bound:
            each.is_frozen = is_frozen
            each.rewrite = rewrite
        self._router = Router(
            (each.endpoint.method, each.endpoint.path, each.endpoint.path_params, each) for each in bound
        )
        self._about = {each.path: each.about for each in self.endpoints if each.about}
        self._translate = translate
        self._observe = observe
        self._request_log = request_log
        self._external_host = external_host
        self._fallback = fallback
        self._refusals = dict(refusals or {})
        self._ours = ("/api/", *self._refusals)
        self._limits_told = Seldom(TELL_SECONDS)
        # Bound once: the lazy logger would be put together anew for each request.
        self._log = structlog.get_logger("tertulia.http").bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await _other_scope(scope, receive, send)
        elif self._fallback is not None and self._is_elsewhere(scope["path"]):
            await self._serve_elsewhere(self._fallback, scope, receive, send)
        else:
            call = Call(scope, receive, self._external_host)
            call.arriving = self._admission.arriving
            await self._serve(call, send)

    async def _serve_elsewhere(self, app: AsgiApp, scope: Scope, receive: Receive, send: Send) -> None:
        if self._request_log is None:
            await app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0
        call = Call(scope, receive, self._external_host)
        call.statements = count_anew()

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await app(scope, receive, noting)
        self._request_log.tell(call, ELSEWHERE, status, time.perf_counter() - started)

    async def _serve(self, call: Call, send: Send) -> None:
        started = time.perf_counter()
        call.statements = count_anew()
        structlog.contextvars.bind_contextvars(request_id=call.request_id)
        asking.set(call.peer)
        visit: Visit | None = call.scope.get(VISIT)
        visiting.set(visit)
        bound = None
        try:
            if call.method == "OPTIONS":
                allowed = ", ".join(self._router.allowed(call.path))
                reply = Reply(b"", 204, {"Allow": allowed, **self._about.get(call.path, {})})
            else:
                method = "GET" if call.method == "HEAD" else call.method
                bound, path_args = self._router.find(method, call.path)
                result = await telling_turns(bound.run(call, path_args), partial(self._admission.took, call))
                if not isinstance(result, Later):
                    reply = result
                elif isinstance(send, Line):
                    _Held(self, call, bound, result, send, started).begin()
                    return
                else:
                    reply = bound.answered(await arrival(call, result), call.ignored)
        except ClientGone:
            self._note(call, bound, CLIENT_GONE, started)
            return
        except Refusal as refusal:
            reply = self._refuse(call, refusal)
        except Exception as error:
            reply = self._refuse(call, self._explain(error, call, _shown_path(call, bound)))
        finally:
            call.let_go()
            if visit is not None:
                visit.end()
            if call.files:
                call.close_files()
            if call.events or call.database_seconds:
                self._admission.settle(call)
        await _send(call, reply, send)
        self._note(call, bound, reply.status, started)

    def _note(self, call: Call, bound: "_Bound | None", status: int, started: float) -> None:
        """A request is over."""
        name = bound.endpoint.name if bound else ""
        seconds = time.perf_counter() - started
        if self._request_log is not None:
            self._request_log.tell(call, name, status, seconds)
        if status == CLIENT_GONE:
            return
        if self._observe is not None:
            self._observe(name, call.method, status, seconds)
        if Process.traces is not None:
            Process.traces.request(call, bound.endpoint if bound else None, status)

    def _is_elsewhere(self, path: str) -> bool:
        return not path.startswith(self._ours) and not self._router.knows(path)

    def _refuse(self, call: Call, refusal: Refusal) -> Reply:
        if refusal.status == TOO_OFTEN and call.payer and self._limits_told.is_due(call.payer):
            self._log.warning("a limit was reached", by=call.payer)
        for beginning, refuse in self._refusals.items():
            if call.path.startswith(beginning):
                return refuse(call, refusal)
        return Reply(error_body(refusal), refusal.status, refusal.headers)

    def _explain(self, error: Exception, call: Call, path: str) -> Refusal:
        known = self._translate(error) if self._translate else None
        if known is not None:
            self._log.warning("request refused", path=path, code=known.code, error=repr(error))
            return known
        self._log.exception("request failed", method=call.method, path=path, request_id=call.request_id)
        return internal_error()


def _shown_path(call: Call, bound: "_Bound | None") -> str:
    """The path for logs, as the endpoint has it: parts of one that was asked for may be a key or somebody's address."""
    return bound.endpoint.path if bound else call.path


class _Held:
    """A request whose answer comes later, on a line that waits for it without a task."""

    __slots__ = ("_api", "_bound", "_call", "_later", "_line", "_started")

    def __init__(self, api: Api, call: Call, bound: "_Bound", later: Later, line: Line, started: float) -> None:
        self._api = api
        self._call = call
        self._bound = bound
        self._later = later
        self._line = line
        self._started = started

    def begin(self) -> None:
        """From now on nobody waits for it but those who call back."""
        self._later.begin(self._answer)
        self._line.hold(self._leave)

    def _leave(self) -> None:
        self._later.leave()
        self._api._note(self._call, self._bound, CLIENT_GONE, self._started)

    def _answer(self) -> None:
        began = time.perf_counter()
        api, call, bound = self._api, self._call, self._bound
        try:
            reply = bound.answered(self._later.result(), call.ignored)
        except Refusal as refusal:
            reply = api._refuse(call, refusal)
        except Exception as error:
            reply = api._refuse(call, api._explain(error, call, bound.endpoint.path))
        self._line.answer(_head_of(call, reply), reply.body)
        api._note(call, bound, reply.status, self._started)
        if note_turn(seconds := time.perf_counter() - began) > FREE_SECONDS:
            api._admission.took(call, seconds - FREE_SECONDS)


class _Bound:
    """An endpoint tied to the services of one application."""

    __slots__ = ("admission", "args", "body_limits", "call_at", "caller_at", "counts", "endpoint", "function",
                 "is_frozen", "is_of_files", "kind", "known", "optional", "params", "rewrite", "scopes")  # fmt: skip

    def __init__(self, endpoint: Endpoint, admission: Admission, body_limits: BodyLimits) -> None:
        self.endpoint = endpoint
        self.function = endpoint.function
        self.params = endpoint.params
        self.known = {"client", *(name for param in endpoint.params for name in param.names)}
        self.body_limits = body_limits
        self.admission = admission
        self.args: list[Any] = []
        self.scopes: list[tuple[int, Opener]] = []
        self.call_at = self.caller_at = -1
        self.kind: type[Caller] = Caller
        self.optional = False
        self.is_frozen: IsFrozen | None = None
        self.rewrite: Callable[[Any], Any] | None = None
        self.counts = not endpoint.waits
        # A body that is read while it arrives takes as long as its sender likes; a page shows many pictures at once.
        self.is_of_files = endpoint.streams or endpoint.unlimited

    async def run(self, call: Call, kwargs: PathArgs) -> Reply | Later:
        """Authenticate, read parameters, act; the answer is encoded before any scope is left."""
        args = self.args.copy()
        endpoint = self.endpoint
        visit: Visit | None = call.scope.get(VISIT)
        if visit is not None and (self.is_of_files or endpoint.takes_files or endpoint.waits):
            visit.end(tells=False)  # it waits for its sender, for the store, or for something to happen
        caller = None
        call.while_frozen = endpoint.while_frozen
        if self.caller_at >= 0:
            args[self.caller_at] = caller = call.caller = await self.admission.admit(
                call, self.kind, optional=self.optional, unlimited=endpoint.unlimited, limit=endpoint.limit
            )
        else:
            await self.admission.charge(call, None, endpoint.limit)
        if not endpoint.while_frozen and self.is_frozen is not None and await self.is_frozen(call):
            raise frozen()
        if self.call_at >= 0:
            args[self.call_at] = call
        if endpoint.streams:
            fields = read_query(call)
        else:
            limit = self.body_limits.of_nobody if caller is None else self.body_limits.of_callers
            if endpoint.raw_body:
                fields = await read_raw(call, endpoint.body_limit or limit)
            else:
                fields = await read_fields(call, limit, endpoint.body_limit)
        self.admission.check_again(call)  # the body may have come long after the rest
        caller = await self._look_again(call, caller, args)
        if kwargs:
            fit_path(kwargs, endpoint.path_ids)
        if self.params:
            read_params(self.params, fields, kwargs)
        ignored = None if fields.keys() <= self.known else sorted(fields.keys() - self.known)
        if call.files and not endpoint.takes_files:
            ignored = sorted({*(ignored or ()), *(upload.field for upload in call.files)})
        call.ignored = ignored
        with request_under_way(call, caller):
            if not self.counts:
                return await self._act(call, args, kwargs)
            place = await self._wait_turn(call, visit)
            try:
                self.admission.check_again(call)
                if visit is not None:
                    visit.check_patience()
                await self._look_again(call, caller, args)
                return await self._act(call, args, kwargs)
            finally:
                self.admission.leave(place, files=self.is_of_files)

    async def _look_again(self, call: Call, caller: Caller | None, args: list[Any]) -> Caller | None:
        """The caller as of now, if it is long ago that somebody asked: a body comes as slowly as its sender likes, and turns are
        waited for. Who lost their key, their role or their account meanwhile does not act any more."""
        if caller is None or time.monotonic() - call.admitted < FRESH_SECONDS:
            return caller
        args[self.caller_at] = call.caller = caller = await self.admission.look_again(
            call, self.kind, optional=self.optional
        )
        return caller

    async def _wait_turn(self, call: Call, visit: Visit | None) -> str:
        if visit is not None and self.admission.is_full(call, files=self.is_of_files):
            visit.put_aside()
        place = await self.admission.enter(call, files=self.is_of_files)
        if visit is not None:
            visit.begin()
        return place

    async def _act(self, call: Call, args: list[Any], kwargs: PathArgs) -> Reply | Later:
        if not self.scopes:
            result = await self.function(*args, **kwargs)
            return (
                result if isinstance(result, Later) else self.answered(result, call.ignored)
            )  # who reads the body itself may have found more
        ignored = call.ignored
        if len(self.scopes) == 1:
            at, opener = self.scopes[0]
            async with opener() as args[at]:
                return self.answered(await self.function(*args, **kwargs), ignored)
        async with AsyncExitStack() as stack:
            for at, opener in self.scopes:
                args[at] = await stack.enter_async_context(opener())
            return self.answered(await self.function(*args, **kwargs), ignored)

    def answered(self, result: Any, ignored: list[str] | None) -> Reply:
        """What the function returned, as an answer."""
        if isinstance(result, Reply):
            return result
        return Reply(success_body(result if self.rewrite is None else self.rewrite(result), ignored))


def _bind(
    endpoint: Endpoint,
    services: Mapping[type, Any],
    scopes: Mapping[type, Opener],
    admission: Admission,
    body_limits: BodyLimits,
) -> _Bound:
    bound = _Bound(endpoint, admission, body_limits)
    for at, wanted in enumerate(endpoint.injected):
        bound.args.append(services.get(wanted.type))
        if wanted.type is Call:
            bound.call_at = at
        elif issubclass(wanted.type, Caller):
            if not admission.authenticates:
                raise LookupError(f"{endpoint.name} asks for a {wanted.type.__name__}, but nobody authenticates")
            bound.caller_at, bound.kind, bound.optional = at, wanted.type, wanted.optional
        elif wanted.type in scopes:
            bound.scopes.append((at, scopes[wanted.type]))
        elif wanted.type not in services:
            raise LookupError(f"{endpoint.name} asks for {wanted.type.__qualname__}, which no service provides")
    return bound


async def _send(call: Call, reply: Reply, send: Send) -> None:
    await send(_head_of(call, reply))
    if reply.chunks is not None and call.method != "HEAD":
        await _send_chunks(call, reply.chunks, send)
    await send({"type": "http.response.body", "body": b"" if call.method == "HEAD" else reply.body})


def _head_of(call: Call, reply: Reply) -> Message:
    if reply.content_type == JSON:
        headers = JSON_HEADERS.copy()
    else:
        headers = [(b"content-type", _header_value(reply.content_type)), *COMMON_HEADERS]
    if reply.headers:
        own = [(name.lower().encode("latin-1"), _header_value(value)) for name, value in reply.headers.items()]
        replaced = {name for name, _ in own}
        headers = [header for header in headers if header[0] not in replaced] + own
    headers.append((b"x-request-id", call.request_id.encode()))
    if reply.status not in (204, 304):
        size = len(reply.body) if reply.chunks is None else reply.size
        headers.append((b"content-length", b"%d" % size))
    headers += call.reply_headers
    return {"type": "http.response.start", "status": reply.status, "headers": headers}


async def _send_chunks(call: Call, chunks: AsyncIterator[bytes], send: Send) -> None:
    """Send what comes, as fast as the client takes it, and stop when it has gone away."""
    gone = asyncio.create_task(call.gone())
    try:
        async for chunk in chunks:
            if gone.done():
                return
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    finally:
        await end_tasks([gone])


def _header_value(value: str) -> bytes:
    """A header ends at its line's end: whatever a value holds, it does not start another header."""
    return " ".join(value.splitlines()).encode("latin-1", "replace")


async def _other_scope(scope: Scope, receive: Receive, send: Send) -> None:
    """Lifespan needs no work here: what the services need is opened and closed around the server."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1000})
        return
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
