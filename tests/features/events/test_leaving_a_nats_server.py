"""A NATS server that is cut off from the others takes connections, answers them, and has nothing new: who is there must leave."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from tertulia.engines import Nats, find_nats_server
from tertulia.events.log.beat import SILENT_SECONDS, BeatWatch, beating
from tertulia.events.log.buckets import STATE_BUCKET
from tertulia.events.log.jetstream import create_stream
from tertulia.events.log.nats_client import NatsClient, lasting_options, nats_options
from tertulia.kernel.settings import Settings, load_settings

SOON = 5.0
FULL = {"name": f"KV_{STATE_BUCKET}", "subjects": [f"$KV.{STATE_BUCKET}.>"], "max_bytes": 1, "discard": "new"}
"""A bucket that takes nothing."""


@pytest.fixture
def servers(folder: Path) -> Iterator[list[Nats]]:
    """Two that do not know each other, as if nothing got through between them."""
    program = find_nats_server(load_settings())
    with Nats(program, folder / "one") as one, Nats(program, folder / "other") as other:
        yield [one, other]


@pytest.mark.timed
def test_a_process_that_no_longer_hears_the_relay_tries_another_nats_server(servers: list[Nats]) -> None:
    asyncio.run(_follow_the_relay(servers))


async def _follow_the_relay(servers: list[Nats]) -> None:
    async with _connected(*servers) as web, _watching(web):
        one, other = sorted(servers, key=lambda server: not _is_at(web, server))
        await _follow_from(web, one, other)


async def _follow_from(web: Client, one: Nats, other: Nats) -> None:
    async with _connected(one) as here, _connected(other) as there:
        await create_stream(here, FULL)
        async with beating(here):
            await asyncio.sleep(2)
            assert _is_at(web, one)
        async with beating(there):
            began = time.monotonic()
            await _until(lambda: _is_at(web, other), SILENT_SECONDS + SOON)
            assert time.monotonic() - began > SILENT_SECONDS - 2, "it was not silent for so long"
            await asyncio.sleep(SILENT_SECONDS + 2)
            assert _is_at(web, other), "it left a server at which the relay is heard"


@pytest.mark.timed
def test_a_process_stays_where_something_can_be_stored_though_the_relay_is_away(servers: list[Nats]) -> None:
    asyncio.run(_miss_the_relay(servers))


async def _miss_the_relay(servers: list[Nats]) -> None:
    async with _connected(*servers) as web, _watching(web):
        [here] = [server for server in servers if _is_at(web, server)]
        async with _connected(here) as relay, beating(relay):
            await asyncio.sleep(2)
        await asyncio.sleep(SILENT_SECONDS + 3)
        assert _is_at(web, here)


@pytest.mark.timed
def test_a_process_that_never_heard_a_relay_stays_where_it_is(servers: list[Nats]) -> None:
    """The relay may be one of an older version."""
    asyncio.run(_hear_nothing(servers))


async def _hear_nothing(servers: list[Nats]) -> None:
    async with _connected(*servers) as web, _watching(web):
        [first] = [server for server in servers if _is_at(web, server)]
        await asyncio.sleep(SILENT_SECONDS + 3)
        assert _is_at(web, first)


@pytest.mark.timed
def test_an_answer_that_nobody_understands_does_not_end_the_watch(servers: list[Nats]) -> None:
    asyncio.run(_answer_nonsense(servers))


async def _answer_nonsense(servers: list[Nats]) -> None:
    async with _connected(*servers) as web, _watching(web):
        [here] = [server for server in servers if _is_at(web, server)]
        asked = 0

        async def answer(msg: Msg) -> None:
            nonlocal asked
            asked += 1
            await msg.respond(b"no JSON")

        async with _connected(here) as other:
            await other.subscribe(f"$KV.{STATE_BUCKET}.>", cb=answer)
            async with beating(other):
                await asyncio.sleep(2)
            await _until(lambda: asked > 1, SILENT_SECONDS + SOON)


def test_who_leaves_a_server_goes_round_all_of_them() -> None:
    """In an order of their own: not all go to the same one, and nobody comes back by chance to the one they left."""
    settings = Settings(nats_url=",".join(f"nats://127.0.0.{number}:1" for number in range(1, 10)))
    found = [lasting_options(settings) for _ in range(20)]
    assert all(options["dont_randomize"] for options in found)
    assert {tuple(sorted(options["servers"])) for options in found} == {tuple(nats_options(settings)["servers"])}
    assert len({options["servers"][0] for options in found}) > 1


def test_each_session_after_a_failed_one_begins_with_the_next_server() -> None:
    settings = Settings(nats_url="nats://127.0.0.1:1,nats://127.0.0.2:1,nats://127.0.0.3:1")
    begins = [nats_options(settings, turn)["servers"] for turn in range(4)]
    assert [servers[0][13:16] for servers in begins] == ["0.1", "0.2", "0.3", "0.1"]
    assert all(sorted(servers) == sorted(begins[0]) for servers in begins)


@asynccontextmanager
async def _connected(*servers: Nats) -> AsyncIterator[Client]:
    client = NatsClient()
    await client.connect(**lasting_options(Settings(nats_url=",".join(server.url for server in servers))))
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def _watching(client: Client) -> AsyncIterator[None]:
    task = asyncio.create_task(BeatWatch(client).run())
    try:
        yield
    finally:
        task.cancel()


def _is_at(client: Client, server: Nats) -> bool:
    url = client.connected_url
    return client.is_connected and url is not None and url.geturl() == server.url


async def _until(holds: Callable[[], bool], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.05)
