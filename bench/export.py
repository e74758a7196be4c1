"""An export of many messages, and the reading of it: how many a second, and how much memory.

The bare engine is PostgreSQL's COPY of the same messages as JSON to a file, without what hangs on them, without sums.
"""

import asyncio
import json
import time
from pathlib import Path

import psycopg2

from bench.backup import run, upload_files
from bench.report import Figure, Report
from bench.stage import Stage, open_stage

PEOPLE = 10
_REACT = """
insert into reaction (message_id, user_id, emoji_name, emoji_code, reaction_type)
select message.id, (select min(id) from account where realm_id = message.realm_id), 'tada', '1f389', 'unicode_emoji'
from message where id % 5 = 0
"""
_BARE = """
copy (select row_to_json(found) from (
    select id, conversation_id, seq, topic_id, sender_id, sent_at, client, content from message order by conversation_id, id
) as found) to stdout
"""


def measure(*, quick: bool, messages: int | None = None, files: int | None = None) -> Report:
    messages = messages or (20_000 if quick else 1_000_000)
    files = files or (20 if quick else 200)
    with open_stage(external_host="localhost") as stage:
        channels = stage.fill(users=200, channels=20, messages=messages, subscribers=100)
        upload_files(stage.server, asyncio.run(stage.people(PEOPLE)), channels[0].stream_id, files)
        bare = copy_alone(stage)
        start = run(stage, "archive", "--help").seconds
        archives = {scope: stage.folder / f"{scope}.tar" for scope in ("everything", "public")}
        made = {
            scope: run(stage, "export", "", str(file), "--scope", scope, "--json") for scope, file in archives.items()
        }
        asked_seconds, worker_before, worker_most = ask_worker(stage)
        read = run(stage, "archive", "check", str(archives["everything"]))
        assert read.code == 0, read.said
        whole, public = made["everything"], made["public"]
        count = json.loads(whole.said)["counts"]["messages"]
        size = archives["everything"].stat().st_size
    return Report(
        "bench export",
        {"messages": f"{count:,}, a fifth with a reaction", "files": f"{files:,}", "archive": f"{size / 1e6:,.0f} MB"},
        [
            Figure(
                "export of everything",
                count / (whole.seconds - start),
                "messages/s",
                bare,
                "",
                f"{whole.seconds:.1f} s, most memory {whole.memory / 1e6:.0f} MB",
            ),
            Figure("  processor time of the command", whole.cpu, "s"),
            Figure(
                "export of public data",
                count / (public.seconds - start),
                "messages/s",
                bare,
                "",
                f"most memory {public.memory / 1e6:.0f} MB",
            ),
            Figure(
                "export of public data by the worker",
                count / asked_seconds,
                "messages/s",
                bare,
                "",
                f"most memory of the worker {worker_most:.0f} MB, {worker_before:.0f} MB before",
            ),
            Figure(
                "check of the archive",
                count / (read.seconds - start),
                "messages/s",
                None,
                "",
                f"{read.seconds:.1f} s, most memory {read.memory / 1e6:.0f} MB",
            ),
        ],
        [
            "bare: COPY of the messages alone, as JSON, to a file",
            f"the time that the command takes to start ({start:.1f} s) is not counted",
        ],
    )


def ask_worker(stage: Stage) -> tuple[float, float, float]:
    """Seconds from the asking until it is ready, and the most memory that the worker has had before and after, in MB."""
    owner, worker = stage.server.owner, stage.server.state.pids["worker"]
    before = most_memory(worker)
    with stage.server.client(owner) as http:
        started = time.perf_counter()
        http.post("export/realm", data={"password": owner.password or ""}).raise_for_status()
        while http.get("export/realm").json()["exports"][0]["pending"]:
            time.sleep(0.1)
        [made] = http.get("export/realm").json()["exports"]
        assert made["failure"] is None, made
        return time.perf_counter() - started, before, most_memory(worker)


def most_memory(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    [peak] = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(peak) / 1000


def copy_alone(stage: Stage) -> float:
    """Messages a second; before that, reactions for a fifth of them."""
    connection = psycopg2.connect(stage.server.postgres_url)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(_REACT)
        with connection, connection.cursor() as cursor, Path(stage.folder / "bare").open("wb") as target:
            cursor.execute("select count(*) from message")
            [(count,)] = cursor.fetchall()
            started = time.perf_counter()
            cursor.copy_expert(_BARE, target)
            return float(count / (time.perf_counter() - started))
    finally:
        connection.close()
