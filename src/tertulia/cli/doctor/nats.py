"""NATS: whether it is reached, takes our events, stores them, and writes them to disk as often as we believe."""

import asyncio
import http.client
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tertulia.cli.doctor import Advice
from tertulia.cli.errors import CommandFailed
from tertulia.kernel.engine_addresses import nats_servers
from tertulia.kernel.settings import Settings
from tertulia.kernel.urls import split_url

MONITOR_PORT = 8222
OLDEST = (2, 11)


def look_at_nats(settings: Settings, *, is_dev: bool) -> str:
    """What holds. The one of `tertulia dev` tells nothing of itself, but was set up by us."""
    state = asyncio.run(_ask(settings))
    return state if is_dev else f"{state}, {_sync_interval(settings, state)}"


async def _ask(settings: Settings) -> str:
    from tertulia.cli.doctor.jetstream import look_at_jetstream
    from tertulia.events.log.nats_client import NatsClient, nats_options
    from tertulia.events.relay.connection import WANTED_PAYLOAD

    async def ignore(_: Exception) -> None:
        """The exception that ends the attempt says the same."""

    client = NatsClient()
    await client.connect(**nats_options(settings), error_cb=ignore, connect_timeout=5, allow_reconnect=False)
    try:
        if client.max_payload < WANTED_PAYLOAD:
            raise CommandFailed(
                f"set max_payload: 8MB and restart NATS (it takes {client.max_payload} bytes now): larger events are lost"
            )
        version = client.connected_server_version
        if (version.major, version.minor) < OLDEST:
            raise CommandFailed(f"version {version.major}.{version.minor} is too old: 2.11 or newer is needed")
        streams = await look_at_jetstream(client)
        has_tls = all(server.startswith("tls://") for server in nats_servers(settings.nats_url))
        tls = "with TLS" if has_tls else "without TLS"
        return f"version {version.major}.{version.minor}.{version.patch} {tls}, JetStream with {streams} streams"
    finally:
        await client.close()


def _sync_interval(settings: Settings, state: str) -> str:
    """By it the relay knows how long PostgreSQL must remember what NATS may still lose. Only its monitoring port tells."""
    for host, seconds in _told(settings):
        if seconds is None:
            continue
        if seconds > settings.nats_sync_seconds:
            raise CommandFailed(
                f"NATS at {host} writes to disk every {seconds:g} s, and TERTULIA_NATS_SYNC_SECONDS says"
                f' {settings.nats_sync_seconds}: a power failure would lose events. Set sync_interval: "'
                f'{settings.nats_sync_seconds}s" in its jetstream block, and restart it'
            )
        return f"on disk within {seconds:g} s"
    raise Advice(
        f"{state}; whether sync_interval is {settings.nats_sync_seconds}s cannot be seen: let NATS tell of itself"
        f" (`http: 127.0.0.1:{MONITOR_PORT}`), or say where it does (TERTULIA_NATS_MONITOR_URL)"
    )


def _told(settings: Settings) -> Iterator[tuple[str, float | None]]:
    """Of each NATS, how often it writes to disk; None: it does not say."""
    if settings.standalone_folder:
        yield "127.0.0.1", _in_own_file(Path(settings.standalone_folder) / "nats" / "nats.conf")
        return
    for host, port in _monitors(settings):
        yield host, _ask_monitor(host, port)


def _in_own_file(file: Path) -> float | None:
    """Of the NATS that the server runs itself: the file that it was started with. It has no monitoring port, which would ask
    nobody for a password."""
    found = re.search(r'sync_interval: "(\d+)s"', file.read_text())
    return float(found[1]) if found else None


def _monitors(settings: Settings) -> list[tuple[str, int]]:
    if settings.nats_monitor_url:
        parts = split_url(settings.nats_monitor_url)
        return [(parts.hostname or "", parts.port or MONITOR_PORT)]
    hosts = [split_url(server).hostname or "" for server in nats_servers(settings.nats_url)]
    return [(host, MONITOR_PORT) for host in hosts]


def _ask_monitor(host: str, port: int) -> float | None:
    with closing(http.client.HTTPConnection(host, port, timeout=5)) as connection:
        try:
            connection.request("GET", "/jsz?config=true")
            config = json.loads(connection.getresponse().read())["config"]
        except (OSError, http.client.HTTPException, ValueError, KeyError):
            return None
    if config.get("sync_always"):
        return 0.0
    return float(config["sync_interval"]) / 1e9 if "sync_interval" in config else None
