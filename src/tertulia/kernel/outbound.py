"""Calling servers whose addresses people gave us: one request, its answer, and no way into networks that are not theirs.

A name is resolved once, each address is looked at, and the connection is made to that very address: a name that means
something else a moment later leads nowhere. Only public addresses are called, and those of networks that the operator named.
Redirects are followed only where somebody asks for it, each looked at like the first address; time and size of an answer are
limited; proxies and other settings of the environment are ignored.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import quote

import httptools
import msgspec

from tertulia import __version__
from tertulia.kernel.public_addresses import Address, Network, is_public, meant_by
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.kernel.urls import join_url, split_url

SECONDS = 10.0
MAX_ANSWER = 256 * 1024
MAX_RESOLVING = 64
"""As many as calls of one kind run at once: none waits for the names of others, which nobody may answer for. Not the threads
that the process has for other things."""
MAX_REDIRECTS = 3
_SAFE = "/%:@!$&'()*+,;=~-._"
_REDIRECTS = (301, 302, 303, 307, 308)
_PASSING = (408, 425, 429)


class Unreachable(Exception):
    """No answer was had. The text says why, for whoever gave the address."""


class Unwanted(Unreachable):
    """It will not be had at another time either."""


class Answer(msgspec.Struct, frozen=True):
    """What a server said."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


class Wanted(msgspec.Struct, frozen=True):
    """What of an answer is read."""

    most: int = MAX_ANSWER
    """Bytes of the body."""
    kind: str | tuple[str, ...] = ""
    """How the type of a successful answer begins; what is of another type is not read."""
    is_cut: bool = False
    """Of a longer answer its beginning is good enough."""


class FollowedAnswer(msgspec.Struct, frozen=True):
    """A successful answer, and the address that it came from after all redirects."""

    url: str
    answer: Answer


class _Place(msgspec.Struct, frozen=True):
    """Where a call goes: the address that was looked at, and no other."""

    address: str
    host: str
    port: int
    is_tls: bool
    target: str

    @property
    def shown(self) -> str:
        """The host, as the other server hears it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.is_tls else 80) else f"{host}:{self.port}"


class Outbound:
    """Calls other servers. `networks` besides the public internet: those of the settings for bots, unless others are named.
    `blocked`: hosts that are never called, nor those below them.
    """

    def __init__(
        self, settings: Settings, *, seconds: float = SECONDS, networks: str | None = None, blocked: str = ""
    ) -> None:
        self._networks = networks_of(settings.outgoing_networks if networks is None else networks)
        self._blocked = frozenset(host for part in blocked.split(",") if (host := _plain_host(part)))
        self._seconds = seconds
        self._tls = ssl.create_default_context()
        self._resolving = ThreadPoolExecutor(MAX_RESOLVING, "resolving")

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """POST a body; the answer, whatever its status. Raises Unreachable."""
        lines = {"Content-Length": str(len(body)), **headers}
        return await self._call("POST", url, lines, body, Wanted())

    async def get(self, url: str, headers: Mapping[str, str], wanted: Wanted) -> Answer:
        """GET what is at an address; the answer, whatever its status. Raises Unreachable."""
        return await self._call("GET", url, headers, b"", wanted)

    async def follow(self, url: str, headers: Mapping[str, str], wanted: Wanted) -> FollowedAnswer:
        """GET what is at an address, over a few redirects; a successful answer. Raises Unreachable, or Unwanted for good."""
        for _ in range(MAX_REDIRECTS + 1):
            try:
                if split_url(url).scheme not in ("http", "https"):
                    raise Unwanted("it is not on the web")
                answer = await self.get(url, headers, wanted)
                if answer.status == 200:
                    return FollowedAnswer(url, answer)
                if answer.status in _REDIRECTS and "location" in answer.headers:
                    url = join_url(url, answer.headers["location"])
                    continue
            except ValueError as error:
                raise Unwanted("it is no address") from error
            if answer.status >= 500 or answer.status in _PASSING:
                raise Unreachable(f"the answer was {answer.status}")
            raise Unwanted(f"the answer was {answer.status}")
        raise Unwanted("there are too many redirects")

    async def _call(self, method: str, url: str, headers: Mapping[str, str], body: bytes, wanted: Wanted) -> Answer:
        """Within the time that a call has. Whoever waits for a name waits to the end, though, because its thread does: if they
        went on before, they would take one more with their next call, and in the end all of them."""
        began = asyncio.get_running_loop().time()
        try:
            place = await self._find(url)
            async with asyncio.timeout_at(began + self._seconds):
                return await self._ask(method, place, headers, body, wanted)
        except TimeoutError:
            raise Unreachable(f"there was no answer within {self._seconds:g} seconds") from None
        except ssl.SSLError as error:
            raise Unreachable(f"there is no secure connection to it ({error.reason or 'TLS'})") from error
        except (OSError, UnicodeError) as error:
            raise Unreachable("the server cannot be reached") from error
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            raise Unreachable("the answer is not HTTP") from error

    async def _find(self, url: str) -> "_Place":
        parts = split_url(url)
        host = (parts.hostname or "").encode("idna").decode() if not _literal(parts.hostname) else parts.hostname or ""
        if not host:
            raise Unwanted("it names no host")
        if self._is_blocked(host):
            raise Unwanted("its host is on the list of those that are not called")
        is_tls = parts.scheme == "https"
        port = parts.port or (443 if is_tls else 80)
        target = quote(parts.path or "/", safe=_SAFE) + (
            f"?{quote(parts.query, safe=_SAFE + '?')}" if parts.query else ""
        )
        return _Place(await self._resolve(host, port), host, port, is_tls, target)

    def _is_blocked(self, host: str) -> bool:
        labels = _plain_host(host).split(".")
        return any(".".join(labels[first:]) in self._blocked for first in range(len(labels)))

    async def _ask(
        self, method: str, place: "_Place", headers: Mapping[str, str], body: bytes, wanted: Wanted
    ) -> Answer:
        tls = {"ssl": self._tls, "server_hostname": place.host} if place.is_tls else {}
        reader, writer = await asyncio.open_connection(place.address, place.port, **tls)  # type: ignore[arg-type]
        try:
            lines = {
                "Host": place.shown,
                "User-Agent": f"Tertulia/{__version__}",
                "Connection": "close",
                **headers,
            }
            head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
            writer.write(f"{method} {place.target} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)
            return await _read(reader, wanted)
        finally:
            writer.close()

    async def _resolve(self, host: str, port: int) -> str:
        resolve = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._resolving, resolve)
        addresses = [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found]
        allowed = [address for address in addresses if may_call(address, self._networks)]
        if any({str(address), str(meant_by(address))} & self._blocked for address in allowed):
            # However it was written: numbers have many forms, and any name may lead there.
            raise Unwanted("its host is on the list of those that are not called")
        if not allowed:
            raise Unwanted("its address is in a network that is not called from here")
        return str(allowed[0])


def networks_of(text: str) -> tuple[Network, ...]:
    """Networks with commas between them."""
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise SettingsError(f"outgoing_networks: {error}") from error


def may_call(address: Address, networks: Iterable[Network] = ()) -> bool:
    """Whether this is an address of the public internet, or in one of the networks."""
    forms = (address, meant_by(address))
    if any(form in network for form in forms for network in networks if network.version == form.version):
        return True
    return is_public(address)


def _plain_host(text: str) -> str:
    return text.strip().strip(".").lower()


def _literal(host: str | None) -> bool:
    try:
        ipaddress.ip_address(host or "")
    except ValueError:
        return False
    return True


class _Reading:
    """Collects an answer as it is parsed."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.has_headers = self.is_complete = False
        self.parser = httptools.HttpResponseParser(self)

    def on_message_begin(self) -> None:
        self.headers, self.has_headers = {}, False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.has_headers = True
        kind = self.headers.get("content-type", "").strip().lower()
        if self.parser.get_status_code() == 200 and not kind.startswith(self.wanted.kind):
            raise Unwanted("the answer is of another type")

    def on_body(self, part: bytes) -> None:
        self.body += part
        if len(self.body) <= self.wanted.most:
            return
        if not self.wanted.is_cut:
            raise Unwanted("the answer is too long")
        del self.body[self.wanted.most :]
        self.is_complete = True

    def on_message_complete(self) -> None:
        # A provisional answer: the real one follows.
        self.is_complete = self.parser.get_status_code() >= 200


async def _read(reader: asyncio.StreamReader, wanted: Wanted) -> Answer:
    reading = _Reading(wanted)
    size = 0
    while not reading.is_complete:
        part = await reader.read(65536)
        size += len(part)
        if size > wanted.most + MAX_ANSWER:
            raise Unwanted("the answer is too long")
        if not part:
            break
        try:
            reading.parser.feed_data(part)
        except httptools.HttpParserCallbackError as error:
            raise error.__context__ or error from None
    # Without a length, the end of the connection is the end of the answer.
    is_open_ended = reading.has_headers and not {"content-length", "transfer-encoding"} & reading.headers.keys()
    if not reading.is_complete and not is_open_ended:
        raise Unreachable("the answer broke off")
    return Answer(reading.parser.get_status_code(), reading.headers, bytes(reading.body))
