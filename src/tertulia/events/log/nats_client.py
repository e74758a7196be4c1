"""How this server connects to NATS: with TLS that is checked, wherever the settings ask for it.

nats-py makes TLS of a connection only if the server's greeting asks for it, also at an address that begins with `tls://`, and the
greeting comes in the clear: whoever sits on the way can leave that out, and is sent the password. Here such a connection ends
before anything secret is said.
"""

import random
import ssl
from contextlib import suppress
from typing import Any, Final

import nats.errors
from nats.aio.client import Client

from tertulia.kernel.engine_addresses import nats_servers
from tertulia.kernel.settings import Settings, SettingsError

ONCE: Final = {"max_reconnect_attempts": 1, "reconnect_time_wait": 0}


class PlainNats(nats.errors.Error):
    """The server does not use TLS, though it should."""

    def __str__(self) -> str:
        return "NATS does not use TLS, but nats_url asks for it"


class NatsClient(Client):
    """nats-py's client, which insists on TLS where it is asked for."""

    async def connect(self, *, servers: list[str], **options: Any) -> None:  # type: ignore[override]
        """Connect to the first server that answers.

        Where nats-py may not reconnect, it gives up at a server that takes the connection and says nothing, and asks one that
        refuses it for two minutes. So each server gets one try there, and the exception is that of the last.
        """
        if options.get("allow_reconnect", True):
            await self._connect(servers=servers, **options)
            return
        options |= ONCE
        *others, last = servers
        for server in others:
            with suppress(nats.errors.Error, OSError):
                await self._connect(servers=[server], **options)
                return
        await self._connect(servers=[last], **options)

    async def _connect(self, **options: Any) -> None:
        """A try that fails leaves nothing behind: nats-py forgets to close its socket."""
        try:
            await super().connect(**options)
        except BaseException:
            if self._transport is not None:
                self._transport.close()  # type: ignore[no-untyped-call]
            self._transport = None
            self._server_pool = []
            raise

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        """As nats-py's own, which looks at each letter of each name: that was a third of what reading a message cost. Those
        who write to our subjects are ourselves and the server, whose names have no spaces."""
        lines = (line.partition(":") for line in raw.decode("utf-8", "replace").split("\r\n"))
        return {name.strip(): value.strip() for name, colon, value in lines if colon}

    def _connect_command(self) -> bytes:
        """The first thing that is said to a server, with the password in it."""
        server = self._current_server
        if server is not None and server.uri.scheme == "tls" and not self._server_info.get("tls_required"):
            raise PlainNats
        command: bytes = super()._connect_command()
        return command


def nats_options(settings: Settings, turn: int = 0) -> dict[str, Any]:
    """What every connection of ours says to `connect`: where, and whom to trust. Each turn begins with another server."""
    servers = nats_servers(settings.nats_url)
    first = turn % len(servers) if servers else 0
    options: dict[str, Any] = {"servers": servers[first:] + servers[:first]}
    if settings.nats_ca_file or any(server.startswith("tls://") for server in options["servers"]):
        options["tls"] = _context(settings)
    return options


def lasting_options(settings: Settings) -> dict[str, Any]:
    """For a connection that lasts and reconnects: those of several processes begin with different servers, and each goes to the
    next one when it leaves its own. nats-py would choose by chance each time, also the one that was left."""
    options = nats_options(settings)
    servers = options["servers"]
    return options | {"servers": random.sample(servers, len(servers)), "dont_randomize": True}


def _context(settings: Settings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=settings.nats_ca_file or None)
        if settings.nats_cert_file:
            context.load_cert_chain(settings.nats_cert_file, settings.nats_key_file or None)
    except OSError as error:  # that of a file, and that of what is in it
        raise SettingsError(f"nats_ca_file, nats_cert_file or nats_key_file cannot be used: {error}") from error
    return context
