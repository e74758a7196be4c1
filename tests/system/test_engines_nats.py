"""nats-server as we run it: JetStream keeps what it acknowledged over a restart and a kill, on the same port."""

import socket
from pathlib import Path

import nats
import pytest
from nats.js.api import StreamConfig

from tertulia.engines import Nats, find_nats_server
from tertulia.kernel.settings import load_settings
from tests.server import Engines

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


def test_nobody_enters_without_the_password(engines: Engines) -> None:
    with socket.create_connection(("127.0.0.1", engines.nats.port), timeout=5) as stranger:
        stranger.sendall(b'CONNECT {"user": "tertulia", "pass": "wrong"}\r\nPING\r\n')
        assert b"Authorization Violation" in stranger.makefile("rb").read()
