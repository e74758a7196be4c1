"""Whatever dies, nothing that was said is lost or doubled, and nobody waits in vain."""

import asyncio
import random
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tertulia.engines import ChildProcess, free_port
from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Database
from tests.harness.server import OwnServer
from tests.system.chatter import Chatter
from tests.system.faults import Queue, crash_postgres, delete_streams, empty_nats, epoch_of, kill, metric, purge_streams
from tests.system.relay_site import PATIENCE_SECONDS, eventually
from tests.system.web_process import WebProcess, second_web

pytestmark = [pytest.mark.system, pytest.mark.slow]


@pytest.fixture(scope="module")
def victim(shared_folder: Path) -> Iterator[OwnServer]:
    """One server for all these tests: each leaves it alive, and that is part of what they show."""
    server = OwnServer.start(shared_folder)
    try:
        yield server
    finally:
        assert server.stop() == 0, server.folder


@pytest.fixture(scope="module")
def other(victim: OwnServer) -> Iterator[WebProcess]:
    with second_web(victim, victim.folder) as web:
        yield web


@pytest.mark.timeout(240)
async def test_whatever_is_killed_every_answered_message_is_stored_once_and_every_listener_hears_all(
    victim: OwnServer, other: WebProcess
) -> None:
    chatter = Chatter(victim, [victim.url, other.url], random.Random(7))
    async with chatter.running():
        for name in ("web", "relay", "worker", "nats", "postgres", "all of postgres"):
            await chatter.progress(sends=20)
            began = time.monotonic()
            await (crash_postgres(victim) if name == "all of postgres" else kill(victim, name))
            await chatter.progress(sends=1)
            print(f"{name} was killed: everybody heard something new {time.monotonic() - began:.1f} s later")
        await chatter.progress(sends=20)
    print(chatter.summary)
    assert chatter.registrations == len(chatter.listeners), "no queue had to die for this"


async def test_a_queue_is_served_by_another_process_after_the_one_that_made_it_was_killed(victim: OwnServer) -> None:
    with second_web(victim, victim.folder) as maker:
        async with Queue(victim.members[0], maker.url) as queue:
            await queue.hear(await queue.send_to_self())
            maker.kill()
            await queue.hear(await queue.send_to_self(victim.url), victim.url)


async def test_the_second_relay_takes_over_when_the_first_is_killed(victim: OwnServer) -> None:
    port = free_port()
    environment = victim.environment(metrics_port=port)
    relay = ChildProcess([sys.executable, "-m", "tertulia", "relay"], victim.folder / "relay2.log", env=environment)
    url = f"http://127.0.0.1:{port}"

    async def is_standing_by() -> bool:
        try:
            return (await _get(f"{url}/health/ready")) == 200 and await metric(url, "tertulia_relay_active") == 0
        except httpx.TransportError:
            return False

    async def is_active() -> bool:
        return await metric(url, "tertulia_relay_active") == 1

    with relay:
        async with Queue(victim.members[0], victim.url) as queue:
            await eventually(is_standing_by, PATIENCE_SECONDS)
            await queue.hear(await queue.send_to_self())
            for _ in range(5):  # the first one is started again at once: it may be quicker, but not every time
                await kill(victim, "relay")
                await queue.hear(await queue.send_to_self())
                if await is_active():
                    break
            await eventually(is_active, 5)
            relay.kill()
            await queue.hear(await queue.send_to_self())


async def test_a_web_process_asked_to_stop_ends_its_polls_with_a_heartbeat_and_leaves_no_error(
    victim: OwnServer,
) -> None:
    web = WebProcess(victim, victim.folder / "stopped-web.log")
    with web:
        web.await_ready()
        async with Queue(victim.members[0], web.url) as one, Queue(victim.members[1], web.url) as two:
            polls = [asyncio.create_task(queue.ask()) for queue in (one, two)]
            await eventually(lambda: _waiting(web.metrics, 2), PATIENCE_SECONDS)
            web.send_signal(signal.SIGTERM)
            for body in await asyncio.wait_for(asyncio.gather(*polls), 10):
                assert [event["type"] for event in body["events"]] == ["heartbeat"]
            assert await asyncio.to_thread(web.wait, 15)
            assert web.exit_code == 0
            await one.hear(await one.send_to_self(victim.url), victim.url)


async def test_a_client_that_goes_away_during_a_long_poll_is_noticed(other: WebProcess, victim: OwnServer) -> None:
    before = await metric(other.metrics, "tertulia_waiting_polls")
    async with Queue(victim.members[0], other.url) as queue:
        poll = asyncio.create_task(queue.ask())
        await eventually(lambda: _waiting(other.metrics, before + 1), PATIENCE_SECONDS)
        poll.cancel()
        await asyncio.gather(poll, return_exceptions=True)

        async def has_gone() -> bool:
            return await metric(other.metrics, "tertulia_waiting_polls") == before

        await eventually(has_gone, 5)
        await queue.hear(await queue.send_to_self())


async def test_an_event_too_large_for_the_log_ends_the_queues_of_its_realm_instead_of_leaving_them_in_silence(
    victim: OwnServer,
) -> None:
    user = victim.members[0]
    async with Queue(user, victim.url) as queue:
        held = asyncio.create_task(queue.ends_within(PATIENCE_SECONDS))
        await eventually(lambda: _waiting(victim.metrics, 1), PATIENCE_SECONDS)
        connecting = Database.connect(victim.postgres_url, shards=4, size=1)
        async with await connecting as database, database.transaction() as tx:
            realm_id = await tx.fetchval("select realm_id from account where id = $1", user.user_id)
            tx.emit(realm_id, record(Audience(realm=True), "test", {"text": "x" * 9_000_000}))
        await held
        await queue.register()
        await queue.hear(await queue.send_to_self())


Wipe = Callable[[OwnServer], Awaitable[None]]


@pytest.mark.parametrize("wipe", [delete_streams, purge_streams, empty_nats], ids=lambda wipe: wipe.__name__)
async def test_a_log_wiped_behind_the_servers_back_ends_the_queues_within_ten_seconds(
    victim: OwnServer, other: WebProcess, wipe: Wipe
) -> None:
    users = victim.members
    async with (
        Queue(users[0], victim.url) as here,
        Queue(users[1], other.url) as there,
        Queue(users[2], victim.url) as idle,
    ):
        await here.hear(await here.send_to_self())
        epoch = (await epoch_of(victim)).epoch
        held = [asyncio.create_task(queue.ends_within(30)) for queue in (here, there)]
        await eventually(lambda: _waiting(victim.metrics, 1), PATIENCE_SECONDS)
        await eventually(lambda: _waiting(other.metrics, 1), PATIENCE_SECONDS)
        began = time.monotonic()
        await wipe(victim)
        await asyncio.gather(*held)
        took = time.monotonic() - began
        print(f"{wipe.__name__}: the queues ended {took:.1f} s later")
        assert took < 10
        assert await idle.ends_within(10) < 10
        for queue, url in ((here, other.url), (there, victim.url)):
            await queue.register()
            # Nothing of the realm is in the new log yet, and still the queue can move.
            await queue.ask(url, dont_block="true")
            await queue.hear(await queue.send_to_self(), url)
        assert (await epoch_of(victim)).epoch > epoch


async def _waiting(url: str, count: float) -> bool:
    return await metric(url, "tertulia_waiting_polls") >= count


async def _get(url: str) -> int:
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.get(url)).status_code
