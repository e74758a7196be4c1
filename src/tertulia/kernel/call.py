"""The request as endpoints see it: host, client, headers, files, and whether the client is still there.

Cheap by design: one is made for every request, so everything that not every endpoint needs is worked out on demand.
"""

import ipaddress
import os
import re
from collections.abc import Awaitable, Callable, MutableMapping
from functools import lru_cache
from typing import IO, Any

from starlette.datastructures import Headers

from tertulia.kernel.arriving import ArrivingBodies
from tertulia.kernel.auth import Caller
from tertulia.kernel.statements import NOBODYS

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_CLIENT_NAME = 30
PRODUCT = "tertulia"
WEBSITE = "website"
# Strangers choose these headers and we remember what they mean: long ones would fill memory.
_REMEMBERED = 255
_sane_request_id = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_agent_name = re.compile(r"[^/0-9(]*")


class ClientGone(Exception):
    """The client closed the connection; nobody is left to answer."""


class UploadedFile:
    """A file of a multipart body; small ones stay in memory. Closed when the request has been answered."""

    __slots__ = ("content_type", "field", "file", "filename", "size")

    def __init__(self, field: str, filename: str, content_type: str, file: IO[bytes]) -> None:
        self.field = field
        self.filename = filename
        self.content_type = content_type
        self.file = file
        self.size = 0


class Call:
    """One request under way."""

    __slots__ = (
        "_receive",
        "admitted",
        "arriving",
        "body",
        "by_session",
        "caller",
        "connections",
        "database_seconds",
        "events",
        "external_host",
        "files",
        "held",
        "ignored",
        "named_client",
        "payer",
        "raw_headers",
        "reply_headers",
        "request_id",
        "scope",
        "statements",
        "while_frozen",
    )

    def __init__(self, scope: Scope, receive: Receive, external_host: str = "localhost") -> None:
        self.scope = scope
        self._receive = receive
        self.external_host = external_host
        self.raw_headers: dict[bytes, bytes] = dict(scope["headers"])
        self.files: list[UploadedFile] = []
        self.reply_headers: list[tuple[bytes, bytes]] = []
        self.named_client: str | None = None
        self.body = b""
        """As it came; only for endpoints that ask for that."""
        self.admitted = 0.0
        """When it was asked who calls."""
        self.caller: Caller | None = None
        """Who calls, once that is known: for the log."""
        self.statements = NOBODYS
        """What the database is asked for it."""
        self.by_session = False
        """Whether a browser's session says who calls."""
        self.payer = ""
        """Whom what it costs counts for, as far as that is known: a person or a network (kernel/admission.py)."""
        self.connections = 0
        """How many it has to the database at this moment (kernel/shares.py)."""
        self.arriving: ArrivingBodies | None = None
        """Where what is held of its body is counted."""
        self.held = 0
        """Bytes of the body that lie in memory."""
        self.database_seconds = 0.0
        """How much longer than is free it has kept connections, or made the database work."""
        self.while_frozen = False
        """Whether it goes on while its organization is frozen (kernel/freezing.py)."""
        self.events = 0
        """How many it has written to the log."""
        self.ignored: list[str] | None = None
        """Names of parameters that the endpoint does not know. Who answers with a complete Reply has to report them."""
        offered = self.raw_headers.get(b"x-request-id")
        sane = offered is not None and _sane_request_id.fullmatch(offered)
        self.request_id = offered.decode() if offered is not None and sane else os.urandom(8).hex()

    def hold(self, size: int) -> None:
        """So many more bytes of the body are kept until the answer. Refused where too much is."""
        if self.arriving is not None:
            self.arriving.hold(self.payer, size)
            self.held += size

    def let_go(self) -> None:
        """The answer is there."""
        if self.held and self.arriving is not None:
            self.arriving.let_go(self.payer, self.held)
            self.held = 0

    @property
    def method(self) -> str:
        """The HTTP method, in capitals."""
        method: str = self.scope["method"]
        return method

    @property
    def path(self) -> str:
        """The path, percent-decoded."""
        path: str = self.scope["path"]
        return path

    @property
    def headers(self) -> Headers:
        """All request headers; names in any case."""
        return Headers(scope=self.scope)

    def header(self, name: str) -> str | None:
        """One request header, without surrounding space. `name` in lower case."""
        value = self.raw_headers.get(name.encode())
        return None if value is None else value.decode("latin-1").strip()

    def add_header(self, name: str, value: str) -> None:
        """Send a header with the reply, whatever the reply will be."""
        self.reply_headers.append((name.lower().encode("ascii"), value.encode("latin-1", "replace")))

    def set_header(self, name: str, value: str) -> None:
        """Send a header with the reply, in place of one of that name that was set before."""
        key = name.encode("latin-1")
        self.reply_headers = [header for header in self.reply_headers if header[0] != key]
        self.reply_headers.append((key, value.encode("latin-1")))

    @property
    def client(self) -> str:
        """Name of the program that calls: its `client` parameter, else from its User-Agent; browsers are all alike."""
        name = self.named_client or client_of(self.raw_headers.get(b"user-agent", b"")[:_REMEMBERED])
        return WEBSITE if self.by_session and not name.lower().startswith(PRODUCT) else name

    @property
    def peer(self) -> str:
        """Network address of the caller, as the server knows it."""
        client = self.scope.get("client")
        return client[0] if client else ""

    @property
    def realm_host(self) -> str:
        """The host the caller asked for: lower case, no port."""
        return host_of(self.raw_headers.get(b"host", b"")[:_REMEMBERED])

    @property
    def subdomain(self) -> str | None:
        """Which realm the host names: "" for the main one, None for a host that is not ours."""
        return subdomain_of(self.realm_host, self.external_host)

    async def receive(self) -> Message:
        """The next ASGI message; only the body reader and `gone` take them."""
        return await self._receive()

    async def gone(self) -> None:
        """Return when the client has closed the connection. For one waiting task, after the body has been read."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    def close_files(self) -> None:
        """Drop uploaded files; what should stay has been copied by then."""
        for upload in self.files:
            upload.file.close()


@lru_cache(maxsize=1024)
def client_of(agent: bytes) -> str:
    """The name in a User-Agent: the text before the first slash, digit or parenthesis."""
    found = _agent_name.match(agent.decode("latin-1"))
    name = found.group().strip()[:MAX_CLIENT_NAME].strip() if found else ""
    return name if name and "\0" not in name else "Unspecified"


@lru_cache(maxsize=1024)
def host_of(header: bytes) -> str:
    """A Host header without its port."""
    host = header.decode("latin-1").strip().lower()
    if host.startswith("["):
        return host.partition("]")[0][1:]
    return host.partition(":")[0].rstrip(".")


@lru_cache(maxsize=1024)
def subdomain_of(host: str, external_host: str) -> str | None:
    """The realm's subdomain a host stands for; addresses and localhost stand for the main realm."""
    main = host_of(external_host.encode())
    if host in ("", "localhost", main) or _is_address(host):
        return ""
    for parent in (main, "localhost"):
        label, dot, rest = host.partition(".")
        if dot and rest == parent:
            return label
    return None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
