"""Queues that change from one web process to the other, and events that come in company."""

import asyncio
import json
import os
import signal
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import nats
import pytest

from tertulia.events.log.buckets import QUEUE_BUCKET
from tertulia.events.log.jetstream import call_api
from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tests.harness.server import Server
from tests.system.relay_site import eventually
from tests.system.web_process import WebProcess, second_web

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def other(server: Server, shared_folder: Path) -> Iterator[WebProcess]:
    with second_web(server, shared_folder) as web:
        yield web


@asynccontextmanager
async def here_and_there(server: Server, other: WebProcess) -> AsyncIterator[tuple[httpx.AsyncClient, ...]]:
    user = server.members[0]
    async with server.async_client(user) as here, server.async_client(user, url=other.url) as there:
        yield here, there


async def test_all_events_of_one_transaction_arrive_in_their_order(server: Server) -> None:
    user = server.members[0]
    async with (
        server.async_client(user) as client,
        await Database.connect(server.postgres_url, shards=4, size=1) as database,
    ):
        registered = await register(client)
        async with database.transaction() as tx:
            realm_id = await tx.fetchval("select realm_id from account where id = $1", user.user_id)
            for number in range(3):
                tx.emit(
                    realm_id, record(Audience(users=(user.user_id,)), "alert_words", {"alert_words": [str(number)]})
                )
        events = [event async for event in heard(client, registered, 3)]
    assert [event["alert_words"] for event in events] == [["0"], ["1"], ["2"]]


async def test_a_poll_that_waits_on_one_process_ends_with_a_heartbeat_when_the_other_is_asked(
    server: Server, other: WebProcess
) -> None:
    async with here_and_there(server, other) as (here, there):
        registered = await register(here)
        waiting = asyncio.create_task(poll(here, registered))
        await eventually(lambda: is_waiting(server.metrics), 60)
        elsewhere = asyncio.create_task(poll(there, registered))
        [heartbeat] = await asyncio.wait_for(waiting, 20)
        assert heartbeat["type"] == "heartbeat"
        message_id = await send_to_self(here, server)
        [event] = await asyncio.wait_for(elsewhere, 10)
        assert event["message"]["id"] == message_id


async def test_a_queue_that_moves_back_and_forth_delivers_everything_once(server: Server, other: WebProcess) -> None:
    async with here_and_there(server, other) as clients:
        registered = await register(clients[0])
        sent, received = [], []
        last = registered["last_event_id"]
        for turn in range(30):
            sent.append(await send_to_self(clients[turn % 3 == 0], server))
            for event in await poll(clients[turn % 2], {**registered, "last_event_id": last}):
                assert event["id"] > last
                last = event["id"]
                if event["type"] == "message":
                    received.append(event["message"]["id"])
        assert received == sent


async def test_a_queue_that_moves_hears_of_a_channel_only_from_when_its_person_was_in_it(
    server: Server, other: WebProcess
) -> None:
    """A guest hears nothing of a public channel before joining it, also if the log is read only after that."""
    guest, owner = server.guest, server.owner
    async with (
        server.async_client(owner) as client,
        server.async_client(guest) as here,
        server.async_client(guest, url=other.url) as there,
    ):
        registered = await register(here)
        name = f"garden {registered['queue_id'][:8]}"
        made = await client.post("channels/create", data={"name": name, "subscribers": f"[{owner.user_id}]"})
        channel_id = made.json()["id"]

        async def describe(text: str) -> None:
            assert (await client.patch(f"streams/{channel_id}", data={"description": text})).status_code == 200

        await describe("before")
        brought = {"subscriptions": json.dumps([{"name": name}]), "principals": f"[{guest.user_id}]"}
        assert (await client.post("users/me/subscriptions", data=brought)).status_code == 200
        await describe("between")
        taken = {"subscriptions": json.dumps([name]), "principals": f"[{guest.user_id}]"}
        assert (await client.request("DELETE", "users/me/subscriptions", data=taken)).status_code == 200
        await describe("after")
        events = await poll(there, registered, dont_block="true")
    told = [
        (event["type"], event["op"], event.get("value"))
        for event in events
        if event["type"] in ("stream", "subscription")
    ]
    assert told == [
        ("stream", "create", None),
        ("subscription", "add", None),
        ("subscription", "peer_add", None),
        ("stream", "update", "between"),
        ("subscription", "remove", None),
        ("stream", "delete", None),
    ]


async def test_a_queue_that_moves_while_the_relay_is_behind_hears_what_its_person_was_there_for(
    server: Server, other: WebProcess
) -> None:
    guest, owner, newcomer = server.guest, server.owner, server.members[1]
    async with (
        server.async_client(owner) as client,
        server.async_client(guest) as here,
        server.async_client(guest, url=other.url) as there,
    ):
        name = f"shed {uuid.uuid4().hex[:8]}"
        wanted = {"name": name, "subscribers": f"[{owner.user_id}, {guest.user_id}]"}
        assert (await client.post("channels/create", data=wanted)).status_code == 200
        registered = await register(here)
        async with relay_behind(server):
            brought = {"subscriptions": json.dumps([{"name": name}]), "principals": f"[{newcomer.user_id}]"}
            assert (await client.post("users/me/subscriptions", data=brought)).status_code == 200
            taken = {"subscriptions": json.dumps([name]), "principals": f"[{guest.user_id}]"}
            assert (await client.request("DELETE", "users/me/subscriptions", data=taken)).status_code == 200
            polling = asyncio.create_task(poll(there, registered, dont_block="true"))
            await asyncio.wait([polling], timeout=1)
        events = await polling
        last = max([registered["last_event_id"], *(event["id"] for event in events)])
        while not any(event["type"] == "stream" and event["op"] == "delete" for event in events):
            events += await poll(there, {**registered, "last_event_id": last})
            last = events[-1]["id"]
    told = [(event["type"], event["op"]) for event in events if event["type"] in ("stream", "subscription")]
    assert told == [("subscription", "peer_add"), ("subscription", "remove"), ("stream", "delete")]


async def test_a_queue_is_deleted_from_another_process_while_the_relay_is_behind(
    server: Server, other: WebProcess
) -> None:
    async with here_and_there(server, other) as (here, there):
        registered = await register(here)
        async with relay_behind(server):
            await delete(there, registered)
        for client in (here, there):
            await check_gone(client, registered)


async def test_a_queue_deleted_while_another_process_takes_it_over_does_not_come_back(
    server: Server, other: WebProcess
) -> None:
    async with here_and_there(server, other) as (here, there):
        registered = await register(here)
        async with log_beside(server) as has_mark, relay_behind(server):
            moving = asyncio.create_task(check_gone(there, registered))
            await eventually(has_mark)
            await delete(here, registered)
        await moving
        await check_gone(here, registered)


async def test_polls_that_share_a_take_over_may_be_at_different_places(server: Server, other: WebProcess) -> None:
    async with here_and_there(server, other) as (here, there):
        witness, registered = await register(here), await register(here, event_types='["alert_words"]')
        await send_to_self(here, server)
        later = {**registered, "last_event_id": (await poll(here, witness))[-1]["id"]}
        async with log_beside(server) as has_mark, relay_behind(server):
            first = asyncio.create_task(poll(there, registered, dont_block="true"))
            await eventually(has_mark)
            second = asyncio.create_task(poll(there, later, dont_block="true"))
            await register(there)  # takes longer than the second needs to come to where the first waits
        assert (await first, await second) == ([], [])


@asynccontextmanager
async def relay_behind(server: Server) -> AsyncIterator[None]:
    """Nothing comes out of PostgreSQL into the log: the process that sends it there is held."""
    async with await Database.connect(server.postgres_url, shards=4, size=1) as database, database.reader() as reader:
        sql = "select active_pid from pg_replication_slots where slot_name = $1"
        sender: int = await reader.fetchval(sql, Settings().slot)
    os.kill(sender, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(sender, signal.SIGCONT)


@asynccontextmanager
async def log_beside(server: Server) -> AsyncIterator[Callable[[], Awaitable[bool]]]:
    """Tells whether a queue that moves waits for the log by now: its mark is committed, whether or not the relay sees it."""
    connection = await asyncpg.connect(server.postgres_url)
    slot = f"beside_{uuid.uuid4().hex}"

    async def has_mark() -> bool:
        sql = """
            select data from pg_logical_slot_peek_binary_changes(
                $1, null, null, 'proto_version', '1', 'publication_names', $2, 'messages', 'true')
        """
        rows = await connection.fetch(sql, slot, Settings().publication)
        return any(b'"type":"mark"' in row["data"] for row in rows)

    try:
        await connection.execute("select pg_create_logical_replication_slot($1, 'pgoutput', true)", slot)
        yield has_mark
    finally:
        await connection.close()


async def test_a_queue_that_moved_is_kept_alive_by_the_process_that_serves_it(
    server: Server, other: WebProcess
) -> None:
    async with here_and_there(server, other) as (here, there):
        registered = await register(here, idle_queue_timeout="3")
        before = await record_revision(server, registered["queue_id"])

        async def renewed() -> bool:
            await poll(there, registered, dont_block="true")
            return await record_revision(server, registered["queue_id"]) > before

        await eventually(renewed)


async def test_coming_back_to_a_channel_brings_no_old_unread_messages_with_it(server: Server) -> None:
    async with server.async_client(server.members[0]) as client, server.async_client(server.owner) as owner:
        await change(client, "POST", '[{"name": "general"}]')
        data = {"type": "channel", "to": "general", "topic": "leaving", "content": "unread when they left"}
        unread = (await owner.post("messages", data=data)).json()["id"]
        assert unread in unread_ids(await register(client))
        await change(client, "DELETE", '["general"]')
        away = await register(client)
        assert unread not in unread_ids(away)
        assert away["max_message_id"] >= unread, "it was received, wherever they are now"
        await change(client, "POST", '[{"name": "general"}]')
        assert unread not in unread_ids(await register(client)), "no event could have told this"


async def change(client: httpx.AsyncClient, method: str, channels: str) -> None:
    reply = await client.request(method, "users/me/subscriptions", data={"subscriptions": channels})
    assert reply.status_code == 200, reply.text


def unread_ids(registered: dict[str, Any]) -> set[int]:
    return {number for topic in registered["unread_msgs"]["streams"] for number in topic["unread_message_ids"]}


async def register(client: httpx.AsyncClient, **choices: str) -> dict[str, Any]:
    reply = await client.post("register", data=choices)
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    return body


async def poll(client: httpx.AsyncClient, registered: dict[str, Any], **more: str) -> list[dict[str, Any]]:
    asked = {"queue_id": registered["queue_id"], "last_event_id": registered["last_event_id"], **more}
    reply = await client.get("events", params=asked)
    assert reply.status_code == 200, reply.text
    events: list[dict[str, Any]] = reply.json()["events"]
    return events


async def delete(client: httpx.AsyncClient, registered: dict[str, Any]) -> None:
    reply = await client.request("DELETE", "events", data={"queue_id": registered["queue_id"]})
    assert reply.status_code == 200, reply.text


async def check_gone(client: httpx.AsyncClient, registered: dict[str, Any]) -> None:
    asked = {"queue_id": registered["queue_id"], "last_event_id": registered["last_event_id"], "dont_block": "true"}
    reply = await client.get("events", params=asked)
    assert (reply.status_code, reply.json()["code"]) == (400, "BAD_EVENT_QUEUE_ID"), reply.text


async def heard(client: httpx.AsyncClient, registered: dict[str, Any], count: int) -> AsyncIterator[dict[str, Any]]:
    last = registered["last_event_id"]
    while count > 0:
        for event in await poll(client, {**registered, "last_event_id": last}):
            last = event["id"]
            if event["type"] == "alert_words":
                count -= 1
                yield event


async def send_to_self(client: httpx.AsyncClient, server: Server) -> int:
    to = f"[{server.members[0].user_id}]"
    reply = await client.post("messages", data={"type": "direct", "to": to, "content": "note to self"})
    assert reply.status_code == 200, reply.text
    number: int = reply.json()["id"]
    return number


async def is_waiting(url: str) -> bool:
    async with httpx.AsyncClient(trust_env=False) as client:
        text = (await client.get(f"{url}/metrics")).text
    return waiting_polls(text) > 0


def waiting_polls(metrics: str) -> float:
    [line] = [line for line in metrics.splitlines() if line.startswith("tertulia_waiting_polls ")]
    return float(line.split()[1])


async def record_revision(server: Server, queue_id: str) -> int:
    nc = await nats.connect(server.nats_url)
    try:
        wanted = {"last_by_subj": f"$KV.{QUEUE_BUCKET}.{queue_id}"}
        answer = await call_api(nc, f"STREAM.MSG.GET.KV_{QUEUE_BUCKET}", wanted)
        assert answer is not None
        number: int = answer["message"]["seq"]
        return number
    finally:
        await nc.close()
