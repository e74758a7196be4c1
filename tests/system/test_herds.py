"""Herds: a web process dies, and everybody who waited comes back at once."""

import asyncio
import collections
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness.server import Server
from tests.system.web_process import second_web

pytestmark = pytest.mark.system

QUEUES = 100


async def obedient(client: httpx.AsyncClient, method: str, path: str, **fields: Any) -> tuple[httpx.Response, int]:
    """Ask until the server is not busy, when it says so; how often it was."""
    busy = 0
    while True:
        reply = await client.request(method, path, **fields)
        if reply.status_code != 503:
            return reply, busy
        busy += 1
        await asyncio.sleep(int(reply.headers["retry-after"]))


async def test_after_the_death_of_a_process_all_its_queues_go_on_where_they_were(
    server: Server, shared_folder: Path
) -> None:
    """With the budgets of take-overs in force: a herd is nobody's attack."""
    settings = {"rate_limits": "true", "user_rate": "100000/1", "requests_at_once": "0"}
    people = server.members[:3]
    with second_web(server, shared_folder, **settings) as web:
        clients = [server.async_client(user, url=web.url) for user in people]
        nothing = {"event_types": '["message"]', "fetch_event_types": "[]"}
        asked = [obedient(clients[number % 3], "POST", "register", data=nothing) for number in range(QUEUES)]
        queues = [reply.json() for reply, _ in await asyncio.gather(*asked)]
        web.kill()
        sent = await server_side_message(server)
        web.start()
        await asyncio.to_thread(web.await_ready, 60)

        async def come_back(number: int) -> tuple[int, list[int]]:
            queue = queues[number]
            position = {"queue_id": queue["queue_id"], "last_event_id": queue["last_event_id"], "dont_block": "true"}
            reply, _ = await obedient(clients[number % 3], "GET", "events", params=position)
            return reply.status_code, [event["message"]["id"] for event in reply.json().get("events", [])]

        found = collections.Counter(map(str, await asyncio.gather(*map(come_back, range(QUEUES)))))
        for client in clients:
            await client.aclose()
    assert found == {str((200, [sent])): QUEUES}


async def server_side_message(server: Server) -> int:
    """To all of them, by way of another process."""
    async with server.async_client(server.owner) as owner:
        to = f"[{', '.join(str(user.user_id) for user in server.members[:3])}]"
        reply = await owner.post("messages", data={"type": "direct", "to": to, "content": "while you were away"})
        number: int = reply.json()["id"]
        return number
