"""nats-server as we run it: JetStream keeps what it acknowledged over a restart and a kill, on the same port."""

import asyncio
import socket
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import nats
import pytest
from nats.js.api import StreamConfig
from structlog.testing import capture_logs

from tertulia.cli.doctor.nats import look_at_nats
from tertulia.cli.errors import CommandFailed
from tertulia.engines import Nats, find_nats_server
from tertulia.events.relay.checkpoint import Memory
from tertulia.events.relay.lag import Lag
from tertulia.events.relay.session import Session
from tertulia.kernel.settings import Settings, load_settings
from tests.harness.server import Engines

pytestmark = pytest.mark.system


async def test_what_was_stored_survives_kill_9_and_a_restart_on_the_same_port(folder: Path) -> None:
    with Nats(find_nats_server(load_settings()), folder / "nats") as server:
        url = server.url
        client = await nats.connect(url)
        await client.jetstream().add_stream(StreamConfig(name="NOTES", subjects=["note"]))
        await client.jetstream().publish("note", b"kept")
        await client.close()
        for again in (server.kill, server.stop):
            again()
            server.start()
            assert server.url == url
            client = await nats.connect(url)
            stored = await client.jetstream().get_msg("NOTES", 1)
            assert stored.data == b"kept"
            await client.close()


async def test_a_message_of_eight_megabytes_fits(engines: Engines) -> None:
    client = await nats.connect(engines.nats.url)
    assert client.max_payload == 8 * 1024 * 1024
    await client.close()


def test_a_server_that_takes_only_small_messages_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tertulia.engines.nats.MAX_PAYLOAD", 1024 * 1024)
    with Nats(find_nats_server(load_settings()), folder / "nats") as server:
        settings = msgspec.structs.replace(load_settings(), nats_url=server.url)
        with pytest.raises(CommandFailed, match="max_payload: 8MB"):
            look_at_nats(settings, is_dev=True)
        with capture_logs() as said:
            asyncio.run(_connect_relay(settings))
    assert [one["log_level"] for one in said if "max_payload" in one["event"]] == ["error"]


async def _connect_relay(settings: Settings) -> None:
    async with AsyncExitStack() as stack:
        await Session(settings, Memory(), Lag())._connect_nats(stack)


def test_nobody_enters_without_the_password(engines: Engines) -> None:
    with socket.create_connection(("127.0.0.1", engines.nats.port), timeout=5) as stranger:
        stranger.sendall(b'CONNECT {"user": "tertulia", "pass": "wrong"}\r\nPING\r\n')
        assert b"Authorization Violation" in stranger.makefile("rb").read()
