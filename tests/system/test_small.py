"""What a small site takes: memory with fifty people connected, processor time until it is ready; and how it restarts."""

import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import psycopg2
import pytest

from bench.processes import own_cpu_seconds
from tertulia.cli.accounts import Newcomer, RoleName, begin_user, transact
from tertulia.kernel.db import Transaction
from tertulia.kernel.settings import load_settings
from tertulia.people.users import actions
from tests.harness.processes import arguments, children
from tests.harness.talk import eventually
from tests.system.standalone_site import StandaloneSite

pytestmark = [pytest.mark.system, pytest.mark.timeout(400)]

PEOPLE: Final = 50
MOST_MB: Final = 400
MOST_OWN_MB: Final = 160
MOST_START_SECONDS: Final = 3.0
"""Of processor time: how long it takes by the clock depends on what else the machine does."""
MOST_TIMES_BARE: Final = 6.5
"""So many times what Python takes to load the libraries alone, where a slow machine needs more than those seconds."""
BARE: Final = (
    "import asyncio, asyncpg, msgspec, nats, prometheus_client, starlette.applications, structlog, typer, uvicorn"
)
MOST_WAIT_SECONDS: Final = 120.0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneSite]:
    """Started for the second time: the first one has left bytecode behind, as an installed program has."""
    folder = tmp_path_factory.mktemp("small")
    found = StandaloneSite(folder, "--single", PYTHONPYCACHEPREFIX=str(folder / "bytecode"), PYTHONDONTWRITEBYTECODE="")
    try:
        for _ in range(2):
            start_anew(found)
        yield found
    finally:
        found.stop(seconds=60)


def start_anew(site: StandaloneSite) -> None:
    site.stop(seconds=60)
    site.start()
    site.await_ready(MOST_WAIT_SECONDS)
    site.start_seconds = own_cpu_seconds(server_of(site))


@pytest.fixture(scope="module")
def people(site: StandaloneSite) -> list[tuple[str, str]]:
    """Addresses and keys."""

    async def work(tx: Transaction) -> list[tuple[str, str]]:
        [realm_id] = [row["id"] for row in await tx.fetch("select id from realm where subdomain = ''")]
        found = []
        for number in range(PEOPLE):
            newcomer = Newcomer(f"person{number}@example.com", f"Person {number}", RoleName.MEMBER)
            user_id = await begin_user(tx, realm_id, newcomer, None)
            found.append((newcomer[0], await actions.create_api_key(tx, user_id, "test")))
        return found

    return transact(load_settings(site.folder / "tertulia.toml"), work)


def test_with_fifty_people_connected_it_takes_little_memory(
    site: StandaloneSite, people: list[tuple[str, str]]
) -> None:
    with ExitStack() as stack:
        for email, key in people:
            stack.enter_context(polling(site, email, key))
        eventually(lambda: waiting_polls(site) >= PEOPLE, MOST_WAIT_SECONDS)
        own = [site.pid, server_of(site)]
        everything = {pid: pss_mb(pid) for pid in site.processes()}
        figures = f"{sum(everything.values()):.0f} MB, of them ours {sum(everything[pid] for pid in own):.0f} MB; {everything}"
    assert sum(everything.values()) < MOST_MB, figures
    assert sum(everything[pid] for pid in own) < MOST_OWN_MB, figures


def test_it_is_soon_ready(site: StandaloneSite) -> None:
    # Also processor time grows, by a tenth and more, with what else the cores do: the least of three starts counts.
    found, bare = [site.start_seconds], [0.0]
    while min(found) >= max(MOST_START_SECONDS, MOST_TIMES_BARE * max(bare)) and len(found) < 3:
        bare.append(bare_seconds())
        start_anew(site)
        found.append(site.start_seconds)
    assert min(found) < max(MOST_START_SECONDS, MOST_TIMES_BARE * max(bare)), (found, bare)


def bare_seconds() -> float:
    """Processor time of an interpreter that loads the libraries and ends."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", BARE], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_while_it_restarts_nobody_is_refused(site: StandaloneSite, people: list[tuple[str, str]]) -> None:
    wrong: list[object] = []
    done = threading.Event()
    sent: list[int] = []
    before = server_of(site)
    callers = [threading.Thread(target=talk, args=(site, *one, done, wrong, sent)) for one in people[:4]]
    callers += [threading.Thread(target=poll, args=(site, *one, done, wrong)) for one in people[4:8]]
    for caller in callers:
        caller.start()
    try:
        eventually(lambda: len(sent) > 10, MOST_WAIT_SECONDS)
        site.send_signal(signal.SIGHUP)
        eventually(lambda: server_of(site) not in (before, 0), MOST_WAIT_SECONDS)
        site.await_ready(MOST_WAIT_SECONDS)
        count = len(sent)
        eventually(lambda: len(sent) > count + 10, MOST_WAIT_SECONDS)
    finally:
        done.set()
        with site.client(*people[0]) as client:
            say(client)  # wakes those who wait
        for caller in callers:
            caller.join(MOST_WAIT_SECONDS)
    assert wrong == []


def test_a_relay_that_ends_does_not_leave_the_web_alone(site: StandaloneSite) -> None:
    before = server_of(site)
    connection = psycopg2.connect(site.postgres_url)
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            cursor.execute("select form from oldest_program")
            [(form,)] = cursor
            cursor.execute("update oldest_program set form = '9999'")
            try:
                cursor.execute("select pg_terminate_backend(pid) from pg_stat_replication")
                eventually(lambda: server_of(site) not in (before, 0), MOST_WAIT_SECONDS)
            finally:
                cursor.execute("update oldest_program set form = %s", (form,))
    finally:
        connection.close()
    site.await_ready(MOST_WAIT_SECONDS)
    assert "a part has ended, and so does this process" in site.said()
    assert "server ended (exit code 1); starting it again" in site.said()


def server_of(site: StandaloneSite) -> int:
    """The process of web, relay and worker; 0: there is none now."""
    return next((pid for pid in children(site.pid) if "--single" in arguments(pid)), 0)


def pss_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


def waiting_polls(site: StandaloneSite) -> float:
    said = httpx.get(f"{site.metrics}/metrics", trust_env=False).text
    return next(float(line.split()[1]) for line in said.splitlines() if line.startswith("tertulia_waiting_polls "))


@contextmanager
def polling(site: StandaloneSite, email: str, key: str) -> Iterator[None]:
    """Somebody who has registered and waits for what happens."""
    done = threading.Event()
    caller = threading.Thread(target=poll, args=(site, email, key, done, []), daemon=True)
    caller.start()
    try:
        yield
    finally:
        done.set()  # it notices at the next heartbeat, or when the server stops


def poll(site: StandaloneSite, email: str, key: str, done: threading.Event, wrong: list[object]) -> None:
    with site.client(email, key) as client:
        queue = register(client)
        place = {"queue_id": queue["queue_id"], "last_event_id": str(queue["last_event_id"])}
        while not done.is_set():
            try:
                reply = client.get("events", params=place, timeout=90)
                place["last_event_id"] = str(max(event["id"] for event in reply.json()["events"]))
            except Exception as problem:
                if not done.is_set():
                    wrong.append(repr(problem))
                return


def register(client: httpx.Client) -> Any:
    """As clients do: who is told to come back later does."""
    while (reply := client.post("register", data={})).status_code == 503:
        time.sleep(float(reply.headers["retry-after"]))
    return reply.json()


def talk(
    site: StandaloneSite, email: str, key: str, done: threading.Event, wrong: list[object], sent: list[int]
) -> None:
    with site.client(email, key) as client:
        while not done.is_set():
            try:
                sent.append(say(client))
            except Exception as problem:
                wrong.append(repr(problem))
            time.sleep(0.05)


def say(client: httpx.Client) -> int:
    """The id of what was said."""
    fields = {"type": "channel", "to": "general", "topic": "restart", "content": "still here"}
    number: int = client.post("messages", data=fields).json()["id"]
    return number
