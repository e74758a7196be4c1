"""A backup of many messages and files while people write; then everything is lost, and restored.

What is shown is compared, not believed: the state of ten people and 1,000 random messages are read before the backup and after
the restore. They are in channels that nobody writes to; the load goes to a channel of its own. The bare engine is pg_dump
and pg_restore alone, with the same options, on the same data.
"""

import asyncio
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import psycopg2

from bench.processes import cpu_seconds, peak_bytes
from bench.report import Figure, Report
from bench.stage import Stage, bare_postgres, open_stage
from tertulia.engines import Postgres, find_postgres_clients
from tertulia.kernel.settings import load_settings
from tests.harness.server import OwnServer, Server, User

PEOPLE, CHOSEN, FILE_BYTES = 10, 1000, 100_000
OF_THE_MOMENT = ("queue_id", "last_event_id", "server_timestamp", "server_generation", "presences")


class Run(NamedTuple):
    """A command that has ended: how long it took, its own processor time with that of pg_dump, its most memory, its code."""

    seconds: float
    cpu: float
    memory: int
    code: int
    said: str


def measure(*, quick: bool, messages: int | None = None, files: int | None = None) -> Report:
    messages = messages or (20_000 if quick else 1_000_000)
    files = files or (50 if quick else 1000)
    with open_stage(external_host="localhost") as stage:
        channels = stage.fill(users=200, channels=20, messages=messages, subscribers=100)
        people = asyncio.run(stage.people(PEOPLE))
        upload_files(stage.server, people, channels[0].stream_id, files)
        chosen = asyncio.run(choose_messages(stage))
        before = look(stage.server, people, chosen)
        key, place = stage.folder / "key.txt", stage.folder / "place"
        public = run(stage, "backup", "new-key", str(key)).said.strip()
        calm = sorted(send_for(stage.server, 5.0))
        postgres = stage.pids["postgres"]
        with sending(stage.server) as busy:
            used = cpu_seconds(postgres)
            first = run(stage, "backup", str(place), "-r", public)
            used = cpu_seconds(postgres) - used
        assert first.code == 0, first.said
        second = run(stage, "backup", str(place), "-r", public)
        archive = place / sorted(path.name for path in place.iterdir() if path.name != "objects")[0]
        sizes = [size_of(archive), size_of(place / "objects")]
        shutil.rmtree(stage.folder / "data" / "files")
        with bare_postgres(stage) as bare:
            dump, load = alone(bare, stage.folder)
            renew_database(bare)
            refused = refusals(stage, bare, archive, key)
            back = run(stage, "restore", str(archive), "-i", str(key), url=bare.url)
            assert back.code == 0, back.said
        server = OwnServer.start(stage.folder, env={"TERTULIA_EXTERNAL_HOST": "localhost"})
        try:
            assert look(server, people, chosen) == before, "what was restored differs"
        finally:
            server.stop()
    slow = sorted(busy)
    return Report(
        "bench backup",
        {"messages": f"{messages:,}", "files": f"{files:,} of {FILE_BYTES:,} bytes"},
        [
            Figure("backup under load", first.seconds, "s", dump, "", f"most memory {first.memory / 1e6:.0f} MB"),
            Figure("  processor time of backup and pg_dump", first.cpu, "s"),
            Figure("  of PostgreSQL meanwhile, with the load", used, "s"),
            Figure("  database in the archive", sizes[0] / 1e6, "MB"),
            Figure("  files in the place", sizes[1] / 1e6, "MB"),
            Figure("second backup, no new file", second.seconds, "s"),
            Figure(
                "a send without a backup, p99",
                percentile(calm, 0.99) * 1000,
                "ms",
                None,
                "",
                f"{len(calm)} sends",
            ),
            Figure(
                "a send during the backup, p99", percentile(slow, 0.99) * 1000, "ms", None, "", f"{len(slow)} sends"
            ),
            Figure("restore", back.seconds, "s", load, "", f"most memory {back.memory / 1e6:.0f} MB"),
        ],
        [
            f"state of {PEOPLE} people and {len(chosen)} random messages: equal after the restore",
            f"refused, with an empty database after it: {', '.join(refused)}",
            "bare: pg_dump --format=custom to a file, pg_restore --single-transaction from it, without load",
        ],
    )


def run(stage: Stage, *arguments: str, url: str = "") -> Run:
    """The command on the stage's server; or on a database elsewhere, with files in the server's folder."""
    own = {
        "TERTULIA_POSTGRES_URL": url or stage.server.postgres_url,
        "TERTULIA_STORAGE_FOLDER": str(stage.server.files),
    }
    return watched(stage.folder, [sys.executable, "-m", "tertulia", *arguments], os.environ | own)


def watched(folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> Run:
    """A process to its end, with what it cost."""
    with (folder / "said").open("w+") as said:
        started = time.perf_counter()
        process = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
        memory = threading.Thread(target=watch_memory, args=(process.pid, peaks := [0]))
        memory.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        memory.join()
        said.seek(0)
        return Run(seconds, usage.ru_utime + usage.ru_stime, max(peaks), process.returncode, said.read())


def watch_memory(pid: int, peaks: list[int]) -> None:
    """The most that a process has used until it ends. What the kernel tells at the end begins with ours, before its start."""
    while True:
        try:
            peaks.append(peak_bytes(pid))
        except LookupError:
            return
        time.sleep(0.1)


def upload_files(server: Server, people: Sequence[User], channel: int, count: int) -> None:
    source = random.Random(1)
    clients = [server.client(user) for user in people]
    for number in range(count):
        client = clients[number % len(clients)]
        body = client.post("user_uploads", files={"file": (f"{number}.bin", source.randbytes(FILE_BYTES))})
        if number % 10 == 0:
            text = f"[file]({body.json()['url']})"
            client.post("messages", data={"type": "channel", "to": channel, "topic": "files", "content": text})
    for client in clients:
        client.close()


async def choose_messages(stage: Stage) -> list[int]:
    rows = await stage.sql("select id from message where content like '%.' order by random() limit $1", CHOSEN)
    return sorted(row["id"] for row in rows)


def look(server: Server, people: Sequence[User], chosen: Sequence[int]) -> list[Any]:
    """The state of each of them, and the messages as one of them sees them."""
    found: list[Any] = []
    for user in people:
        with server.client(user) as client:
            state = client.post("register").json()
            client.request("DELETE", "events", params={"queue_id": state["queue_id"]})
            kept = {key: value for key, value in state.items() if key not in OF_THE_MOMENT}
            port = f":{client.base_url.port}"  # another one after a start
            found.append(msgspec.json.decode(msgspec.json.encode(kept).decode().replace(port, ":PORT")))
    with server.client(people[0]) as client:
        for start in range(0, len(chosen), 100):
            ids = msgspec.json.encode(list(chosen[start : start + 100])).decode()
            found.append(client.get("messages", params={"message_ids": ids}).json()["messages"])
    return found


def send_for(server: Server, seconds: float) -> list[float]:
    with sending(server) as took:
        time.sleep(seconds)
    return took


@contextmanager
def sending(server: Server) -> Iterator[list[float]]:
    """Two people write to each other as fast as they are answered; how long each send took."""
    took: list[float] = []
    stop = threading.Event()

    def write(client: httpx.Client, to: int) -> None:
        with client:
            while not stop.is_set():
                started = time.perf_counter()
                reply = client.post("messages", data={"type": "direct", "to": f"[{to}]", "content": "while it runs"})
                assert reply.status_code == 200, reply.text
                took.append(time.perf_counter() - started)
                time.sleep(0.02)

    pairs = [(server.owner, server.administrator.user_id), (server.administrator, server.owner.user_id)]
    threads = [threading.Thread(target=write, args=(server.client(user), to)) for user, to in pairs]
    for thread in threads:
        thread.start()
    try:
        yield took
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def percentile(values: Sequence[float], part: float) -> float:
    return values[min(len(values) - 1, int(len(values) * part))]


def alone(postgres: Postgres, folder: Path) -> tuple[float, float]:
    """Seconds of the two programs of PostgreSQL by themselves."""
    clients = find_postgres_clients(load_settings(), version_of(postgres))
    started = time.perf_counter()
    subprocess.run([clients / "pg_dump", "--format=custom", "-f", folder / "dump", postgres.url], check=True)
    dumped = time.perf_counter()
    renew_database(postgres)
    command = [str(clients / "pg_restore"), "--single-transaction", "--no-owner", "-d", postgres.url]
    subprocess.run([*command, str(folder / "dump")], check=True)
    return dumped - started, time.perf_counter() - dumped


def version_of(postgres: Postgres) -> int:
    connection = psycopg2.connect(postgres.url)
    try:
        return int(connection.server_version // 10_000)
    finally:
        connection.close()


def renew_database(postgres: Postgres) -> None:
    connection = psycopg2.connect(postgres.url_of("postgres"))
    connection.autocommit = True
    connection.cursor().execute("drop database tertulia")
    connection.cursor().execute("create database tertulia")
    connection.close()


def refusals(stage: Stage, postgres: Postgres, archive: Path, key: Path) -> list[str]:
    """Restores of spoilt copies. Each leaves the database empty, or the next one would be refused for another reason."""
    other = stage.folder / "other.txt"
    run(stage, "backup", "new-key", str(other))
    part = archive / "database"
    whole = part.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    told = []
    for name, content, identity in (
        ("a flipped bit", bytes(flipped), key),
        ("a cut archive", whole[:-100], key),
        ("a wrong key", whole, other),
    ):
        part.write_bytes(content)
        done = run(stage, "restore", str(archive), "-i", str(identity), url=postgres.url)
        assert done.code == 1, f"{name}: {done.said}"
        assert ("damaged" in done.said) == (identity is key), f"{name}: {done.said}"
        told.append(name)
    return told
