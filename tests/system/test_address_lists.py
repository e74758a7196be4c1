"""Addresses with several hosts: every process and every command goes on to the next one if the first is of no use."""

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest

from tertulia.engines import free_port
from tertulia.events.log.nats_client import NatsClient, nats_options
from tertulia.kernel.settings import Settings
from tests.system.relay_site import Site, eventually, make_site, relay_postgres, site
from tests.system.test_jetstream_off import start

__all__ = ["make_site", "relay_postgres", "site"]
pytestmark = pytest.mark.system


@pytest.fixture(params=["dead", "silent", "closing"])
def useless_host(request: pytest.FixtureRequest) -> Iterator[str]:
    """Nobody listens there; or somebody takes connections and never says a word; or closes them at once, as a balancer does
    that has nobody behind it."""
    if request.param == "dead":
        yield f"127.0.0.1:{free_port()}"
        return
    with socket.create_server(("127.0.0.1", 0)) as listening:
        if request.param == "closing":
            threading.Thread(target=_close_each, args=(listening,), daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def _close_each(listening: socket.socket) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return  # the test is over
        connection.close()


async def test_every_process_and_command_finds_both_engines_by_the_second_address(
    site: Site, useless_host: str
) -> None:
    user, at, host = site.postgres_url.rpartition("@")
    second = {
        "TERTULIA_POSTGRES_URL": f"{user}{at}{useless_host},{host}",
        "TERTULIA_NATS_URL": f"nats://{useless_host}, {site.nats.url}",
    }
    assert "Error" not in site.run_command("migrate", **second)
    for asked in start(site, "relay", "web", "worker", **second):
        await eventually(asked.ready)
    said = site.run_command("doctor", **second)
    assert " PostgreSQL: version" in said
    assert " NATS: version" in said


async def test_a_client_that_never_reconnects_tries_every_server(site: Site, useless_host: str) -> None:
    async def ignore(_: Exception) -> None:
        """The next one is tried."""

    options = nats_options(Settings(nats_url=f"nats://{useless_host},{site.nats.url}"))
    for _ in range(10):  # nats-py shuffles them
        client = NatsClient()
        await asyncio.wait_for(
            client.connect(**options, error_cb=ignore, connect_timeout=1, allow_reconnect=False, name="test"), 10
        )
        await client.close()
