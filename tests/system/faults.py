"""Ways to hurt a server of our own, and clients that notice."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import nats
from nats.aio.client import Client

from tertulia.events.log.epoch import EpochRecord, read_epoch
from tertulia.events.log.jetstream import STREAM_NOT_FOUND, call_api
from tertulia.events.log.stream import event_streams
from tests.harness.processes import is_running
from tests.harness.schemas import acheck_reply
from tests.harness.server import PLAIN_HTTP, OwnServer, Server, User
from tests.system.relay_site import PATIENCE_SECONDS

Json = dict[str, Any]
_TIMEOUT = httpx.Timeout(60, connect=5)


async def kill(server: OwnServer, name: str) -> None:
    """kill -9, and wait until it has been started again."""
    await asyncio.to_thread(server.kill, name)


async def crash_postgres(server: OwnServer) -> None:
    """Kill PostgreSQL with all its processes at once, as when the machine fails: nothing under way comes to its end."""
    postmaster = server.state.pids["postgres"]
    os.kill(postmaster, signal.SIGSTOP)  # it must not see its children die one by one
    for child in children(postmaster):
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    await kill(server, "postgres")


def children(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
                found += [int(folder.name)] if int(stat[1]) == parent else []
    return found


async def empty_nats(server: OwnServer) -> None:
    """Kill NATS and remove everything it kept before `tertulia dev` starts it again."""
    server.process.send_signal(signal.SIGSTOP)
    try:
        pid = server.state.pids["nats"]
        os.kill(pid, signal.SIGKILL)
        while is_running(pid):  # its parent is stopped, so it stays as a zombie
            await asyncio.sleep(0.01)
        shutil.rmtree(server.folder / "data" / "nats" / "store")
    finally:
        server.process.send_signal(signal.SIGCONT)
    while server.state.pids["nats"] == pid:
        await asyncio.sleep(0.02)


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[Client]:
    nc = await nats.connect(server.nats_url)
    try:
        yield nc
    finally:
        await nc.close()


async def epoch_of(server: Server) -> EpochRecord:
    async with connected(server) as nc:
        record = await read_epoch(nc)
    assert record is not None
    return record


async def delete_streams(server: OwnServer) -> None:
    await _to_all_streams(server, "DELETE")


async def purge_streams(server: OwnServer) -> None:
    await _to_all_streams(server, "PURGE")


async def _to_all_streams(server: OwnServer, what: str) -> None:
    async with connected(server) as nc:
        for stream in await event_streams(nc):
            await call_api(nc, f"STREAM.{what}.{stream.name}", missing=[STREAM_NOT_FOUND])


class Queue:
    """One event queue of a user, asked through any process."""

    def __init__(self, user: User, url: str) -> None:
        self.user = user
        self.url = url
        self.id = ""
        self.last = -1
        self._http = httpx.AsyncClient(
            auth=httpx.BasicAuth(user.email, user.api_key),
            timeout=_TIMEOUT,
            trust_env=False,
            verify=PLAIN_HTTP,
            event_hooks={"response": [acheck_reply]},
        )

    async def __aenter__(self) -> "Queue":
        await self.register()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def register(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Register, trying again while the server is not ready."""
        async with asyncio.timeout(seconds):
            while True:
                reply = await self._http.post(f"{self.url}/api/v1/register")
                if reply.status_code == 200:
                    break
                assert reply.json()["code"] == "SERVER_NOT_READY", reply.text
                await asyncio.sleep(0.05)
        self.id, self.last = reply.json()["queue_id"], reply.json()["last_event_id"]

    async def ask(self, url: str | None = None, **more: str) -> Json:
        """The answer of one poll, also if it is an error. Events that came are acknowledged with the next one."""
        asked = {"queue_id": self.id, "last_event_id": str(self.last), **more}
        reply = await self._http.get(f"{url or self.url}/api/v1/events", params=asked)
        body: Json = reply.json()
        for event in body.get("events", []):
            self.last = max(self.last, event["id"])
        return body

    async def hear(self, message_id: int, url: str | None = None, seconds: float = PATIENCE_SECONDS) -> None:
        """Poll until that message comes."""
        async with asyncio.timeout(seconds):
            while True:
                body = await self.ask(url)
                assert "events" in body, body
                if any(event["type"] == "message" and event["message"]["id"] == message_id for event in body["events"]):
                    return

    async def send_to_self(self, url: str | None = None) -> int:
        data = {"type": "direct", "to": f"[{self.user.user_id}]", "content": "note to self"}
        reply = await self._http.post(f"{url or self.url}/api/v1/messages", data=data)
        assert reply.status_code == 200, reply.text
        number: int = reply.json()["id"]
        return number

    async def ends_within(self, seconds: float) -> float:
        """Ask until the server says that the queue is dead; how long that took. Events and failures may come before."""
        began = time.monotonic()
        async with asyncio.timeout(seconds):
            while True:
                try:
                    body = await self.ask()
                except httpx.TransportError:
                    body = {}
                if body.get("code") == "BAD_EVENT_QUEUE_ID":
                    return time.monotonic() - began
                assert "events" in body or body.get("code") in (None, "SERVER_NOT_READY"), body
                await asyncio.sleep(0.05)


async def metric(url: str, name: str) -> float:
    async with httpx.AsyncClient(trust_env=False) as client:
        text = (await client.get(f"{url}/metrics")).text
    [line] = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[1])
