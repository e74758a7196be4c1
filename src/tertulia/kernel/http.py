"""The ASGI application: finds the endpoint, runs it, answers.

Order of checks: route and method, authentication, rate limit, parameters, action. A reply is encoded before a transaction commits
and sent after it did, so a client never sees success for something that was lost, nor failure for something that is
kept. Every answer is JSON unless an endpoint says otherwise, carries X-Request-Id and is not cached.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import structlog

from tertulia.kernel.auth import Caller
from tertulia.kernel.body import MAX_BODY, read_fields, read_query, read_raw
from tertulia.kernel.call import AsgiApp, Call, ClientGone, Receive, Scope, Send
from tertulia.kernel.endpoint import Authenticator, Endpoint
from tertulia.kernel.errors import Refusal, error_body, internal_error
from tertulia.kernel.limits import RateLimits
from tertulia.kernel.params import read_params
from tertulia.kernel.reply import JSON, Reply, success_body
from tertulia.kernel.router import PathArgs, Router
from tertulia.kernel.tasks import end_tasks

Opener = Callable[[], AbstractAsyncContextManager[Any]]
Observe = Callable[[str, str, int, float], None]
Translate = Callable[[Exception], Refusal | None]

_COMMON = [
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, Idempotency-Key, X-Request-Id"),
    (b"access-control-allow-methods", b"GET, POST, DELETE, PUT, PATCH, HEAD, OPTIONS"),
    (b"access-control-expose-headers", b"X-Request-Id, Retry-After"),
]
_JSON = [(b"content-type", b"application/json"), *_COMMON]


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
        authenticator: Authenticator | None = None,
        limits: RateLimits | None = None,
        translate: Translate | None = None,
        observe: Observe | None = None,
        external_host: str = "localhost",
        body_limit: int = MAX_BODY,
        fallback: AsgiApp | None = None,
        rewrite: Callable[[Any], Any] | None = None,
    ) -> None:
        """`rewrite`: a last change of whatever an endpoint returns, before it is encoded."""
        self.endpoints = list(endpoints)
        bound = [_bind(each, services or {}, scopes or {}, authenticator, body_limit) for each in self.endpoints]
        for each in bound:
            each.limits = limits
            if rewrite is not None:
                each.function = _rewritten(each.function, rewrite)
        self._router = Router(
            (each.endpoint.method, each.endpoint.path, each.endpoint.path_params, each) for each in bound
        )
        self._about = {each.path: each.about for each in self.endpoints if each.about}
        self._translate = translate
        self._observe = observe
        self._external_host = external_host
        self._fallback = fallback
        # Bound once: the lazy logger would be put together anew for each request.
        self._log = structlog.get_logger("tertulia.http").bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await _other_scope(scope, receive, send)
        elif self._fallback is not None and self._is_elsewhere(scope["path"]):
            await self._fallback(scope, receive, send)
        else:
            await self._serve(Call(scope, receive, self._external_host), send)

    async def _serve(self, call: Call, send: Send) -> None:
        started = time.perf_counter()
        structlog.contextvars.bind_contextvars(request_id=call.request_id)
        bound = None
        try:
            if call.method == "OPTIONS":
                allowed = ", ".join(self._router.allowed(call.path))
                reply = Reply(b"", 204, {"Allow": allowed, **self._about.get(call.path, {})})
            else:
                method = "GET" if call.method == "HEAD" else call.method
                bound, path_args = self._router.find(method, call.path)
                reply = await bound.run(call, path_args)
        except ClientGone:
            return
        except Refusal as refusal:
            reply = _refused(refusal)
        except Exception as error:
            reply = _refused(self._explain(error, call))
        finally:
            if call.files:
                call.close_files()
        await _send(call, reply, send)
        name = bound.endpoint.name if bound else ""
        seconds = time.perf_counter() - started
        if self._observe is not None:
            self._observe(name, call.method, reply.status, seconds)
        self._log.debug("request", endpoint=name, path=call.path, status=reply.status, seconds=seconds)

    def _is_elsewhere(self, path: str) -> bool:
        return not path.startswith("/api/") and not self._router.knows(path)

    def _explain(self, error: Exception, call: Call) -> Refusal:
        known = self._translate(error) if self._translate else None
        if known is not None:
            self._log.warning("request refused", path=call.path, code=known.code, error=repr(error))
            return known
        self._log.exception("request failed", method=call.method, path=call.path, request_id=call.request_id)
        return internal_error()


class _Bound:
    """An endpoint tied to the services of one application."""

    __slots__ = ("args", "authenticator", "body_limit", "call_at", "caller_at", "endpoint", "function", "kind", "known",
                 "limits", "optional", "params", "scopes")  # fmt: skip

    def __init__(self, endpoint: Endpoint, authenticator: Authenticator | None, body_limit: int) -> None:
        self.endpoint = endpoint
        self.function = endpoint.function
        self.params = endpoint.params
        self.known = {"client", *(name for param in endpoint.params for name in param.names)}
        self.body_limit = endpoint.body_limit or body_limit
        self.authenticator = authenticator
        self.limits: RateLimits | None = None
        self.args: list[Any] = []
        self.scopes: list[tuple[int, Opener]] = []
        self.call_at = self.caller_at = -1
        self.kind: type[Caller] = Caller
        self.optional = False

    async def run(self, call: Call, kwargs: PathArgs) -> Reply:
        """Authenticate, read parameters, act; the answer is encoded before any scope is left."""
        args = self.args.copy()
        caller = None
        if self.caller_at >= 0:
            caller = args[self.caller_at] = await self._authenticate(call)
        if self.limits is not None and (caller is None or not self.endpoint.unlimited):
            await self.limits.check(call, caller, self.endpoint.limit)
        if self.call_at >= 0:
            args[self.call_at] = call
        if self.endpoint.streams:
            fields = read_query(call)
        else:
            read = read_raw if self.endpoint.raw_body else read_fields
            fields = await read(call, self.body_limit)
        if self.params:
            read_params(self.params, fields, kwargs)
        ignored = None if fields.keys() <= self.known else sorted(fields.keys() - self.known)
        call.ignored = ignored
        if not self.scopes:
            result = await self.function(*args, **kwargs)
            return _answer(result, call.ignored)  # who reads the body itself may have found more
        if len(self.scopes) == 1:
            at, opener = self.scopes[0]
            async with opener() as args[at]:
                return _answer(await self.function(*args, **kwargs), ignored)
        async with AsyncExitStack() as stack:
            for at, opener in self.scopes:
                args[at] = await stack.enter_async_context(opener())
            return _answer(await self.function(*args, **kwargs), ignored)

    async def _authenticate(self, call: Call) -> Caller | None:
        assert self.authenticator is not None
        try:
            return await self.authenticator.authenticate(call, self.kind, self.optional)
        except Refusal:
            # Wrong credentials cost the address that tries them.
            if self.limits is not None:
                await self.limits.check(call, None)
            raise


def _bind(
    endpoint: Endpoint,
    services: Mapping[type, Any],
    scopes: Mapping[type, Opener],
    authenticator: Authenticator | None,
    body_limit: int,
) -> _Bound:
    bound = _Bound(endpoint, authenticator, body_limit)
    for at, wanted in enumerate(endpoint.injected):
        bound.args.append(services.get(wanted.type))
        if wanted.type is Call:
            bound.call_at = at
        elif issubclass(wanted.type, Caller):
            if authenticator is None:
                raise LookupError(f"{endpoint.name} asks for a {wanted.type.__name__}, but nobody authenticates")
            bound.caller_at, bound.kind, bound.optional = at, wanted.type, wanted.optional
        elif wanted.type in scopes:
            bound.scopes.append((at, scopes[wanted.type]))
        elif wanted.type not in services:
            raise LookupError(f"{endpoint.name} asks for {wanted.type.__qualname__}, which no service provides")
    return bound


def _rewritten(function: Callable[..., Awaitable[Any]], rewrite: Callable[[Any], Any]) -> Callable[..., Awaitable[Any]]:
    async def run(*args: Any, **kwargs: Any) -> Any:
        result = await function(*args, **kwargs)
        return result if isinstance(result, Reply) else rewrite(result)

    return run


def _answer(result: Any, ignored: list[str] | None) -> Reply:
    return result if isinstance(result, Reply) else Reply(success_body(result, ignored))


def _refused(refusal: Refusal) -> Reply:
    return Reply(error_body(refusal), refusal.status, refusal.headers)


async def _send(call: Call, reply: Reply, send: Send) -> None:
    if reply.content_type == JSON:
        headers = _JSON.copy()
    else:
        headers = [(b"content-type", _header_value(reply.content_type)), *_COMMON]
    if reply.headers:
        own = [(name.lower().encode("latin-1"), _header_value(value)) for name, value in reply.headers.items()]
        replaced = {name for name, _ in own}
        headers = [header for header in headers if header[0] not in replaced] + own
    headers.append((b"x-request-id", call.request_id.encode()))
    if reply.status not in (204, 304):
        size = len(reply.body) if reply.chunks is None else reply.size
        headers.append((b"content-length", b"%d" % size))
    headers += call.reply_headers
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    if reply.chunks is not None and call.method != "HEAD":
        await _send_chunks(call, reply.chunks, send)
    body = b"" if call.method == "HEAD" else reply.body
    await send({"type": "http.response.body", "body": body})


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
