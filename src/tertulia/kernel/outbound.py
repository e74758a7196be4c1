"""Calling servers whose addresses people gave us: one request, its answer, and no way into networks that are not theirs.

A name is resolved once, each address is looked at, and the connection is made to that very address: a name that means
something else a moment later leads nowhere. Only public addresses are called, and those of networks that the operator named.
Redirects are not followed; time and size of an answer are limited; proxies and other settings of the environment are ignored.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import quote

import httptools
import msgspec

from tertulia import __version__
from tertulia.kernel.public_addresses import Address, Network, is_public, meant_by
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.kernel.urls import split_url

SECONDS = 10.0
MAX_ANSWER = 256 * 1024
MAX_RESOLVING = 32
"""Names that nobody answers for hold up other calls at most, not what else the process does in threads."""
_SAFE = "/%:@!$&'()*+,;=~-._"


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
    kind: str = ""
    """How the type of a successful answer begins; what is of another type is not read."""


class Outbound:
    """Calls other servers. `networks` besides the public internet: those of the settings for bots, unless others are named."""

    def __init__(self, settings: Settings, *, seconds: float = SECONDS, networks: str | None = None) -> None:
        self._networks = networks_of(settings.outgoing_networks if networks is None else networks)
        self._seconds = seconds
        self._tls = ssl.create_default_context()
        self._resolving = ThreadPoolExecutor(MAX_RESOLVING, "resolving")

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """POST a body; the answer, whatever its status. Raises Unreachable."""
        lines = {"Content-Length": str(len(body)), **headers}
        return await self._within_time(self._ask("POST", url, lines, body, Wanted()))

    async def get(self, url: str, headers: Mapping[str, str], wanted: Wanted) -> Answer:
        """GET what is at an address; the answer, whatever its status. Raises Unreachable."""
        return await self._within_time(self._ask("GET", url, headers, b"", wanted))

    async def _within_time(self, asking: Coroutine[Any, Any, Answer]) -> Answer:
        try:
            async with asyncio.timeout(self._seconds):
                return await asking
        except TimeoutError:
            raise Unreachable(f"there was no answer within {self._seconds:g} seconds") from None
        except ssl.SSLError as error:
            raise Unreachable(f"there is no secure connection to it ({error.reason or 'TLS'})") from error
        except (OSError, UnicodeError) as error:
            raise Unreachable("the server cannot be reached") from error
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            raise Unreachable("the answer is not HTTP") from error

    async def _ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes, wanted: Wanted) -> Answer:
        parts = split_url(url)
        host = (parts.hostname or "").encode("idna").decode() if not _literal(parts.hostname) else parts.hostname or ""
        is_tls = parts.scheme == "https"
        port = parts.port or (443 if is_tls else 80)
        address = await self._resolve(host, port)
        tls = {"ssl": self._tls, "server_hostname": host} if is_tls else {}
        reader, writer = await asyncio.open_connection(address, port, **tls)  # type: ignore[arg-type]
        try:
            target = quote(parts.path or "/", safe=_SAFE) + (
                f"?{quote(parts.query, safe=_SAFE + '?')}" if parts.query else ""
            )
            shown = f"[{host}]" if ":" in host else host
            lines = {
                "Host": shown if port == (443 if is_tls else 80) else f"{shown}:{port}",
                "User-Agent": f"Tertulia/{__version__}",
                "Connection": "close",
                **headers,
            }
            head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
            writer.write(f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)
            return await _read(reader, wanted)
        finally:
            writer.close()

    async def _resolve(self, host: str, port: int) -> str:
        resolve = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        found = await asyncio.get_running_loop().run_in_executor(self._resolving, resolve)
        addresses = [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found]
        allowed = [address for address in addresses if may_call(address, self._networks)]
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
        if len(self.body) > self.wanted.most:
            raise Unwanted("the answer is too long")

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
