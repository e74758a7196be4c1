"""Public pages: one page of a topic that many read, whole, compressed and unchanged; and pages that nobody read a moment ago.

The bare engine is pgbench that selects the same messages, and makes nothing of them.
"""

import asyncio

import httpx

from bench.load import Load, Loaded, run_load
from bench.pgbench import run_pgbench
from bench.processes import cpu_seconds
from bench.report import Figure, Report
from bench.stage import Stage, bare_postgres, open_stage
from tertulia.messaging.public_pages.model import PAGE_MESSAGES

CLIENTS = 8
CHANNELS = 4
ANEW = "pages that are made anew"
OPEN = "update channel set is_web_public = true where not invite_only"
LET_IN = """update realm set settings = settings || '{"enable_spectator_access": true}'"""
TOPICS = """
select topic.id, topic.conversation_id from topic join message on message.topic_id = topic.id
join channel on channel.id = topic.conversation_id and channel.is_web_public
group by topic.id having count(*) > $1 order by topic.id limit 500
"""
STARTS = """
select message.id, topic_id, conversation_id from message join channel on channel.id = conversation_id and is_web_public
order by hashint8(message.id) limit 16000
"""
BARE = f"""
select message.id, sent_at, rendered, full_name from message join account on account.id = sender_id
where topic_id = (select min(topic_id) from message) order by message.id limit {PAGE_MESSAGES + 1};
"""


def measure(*, quick: bool) -> Report:
    seconds, messages = (2.0, 20_000) if quick else (10.0, 200_000)
    with open_stage(web_public_streams_enabled="true") as stage:
        stage.fill(users=100, channels=CHANNELS, messages=messages)
        for statement in (OPEN, LET_IN, "analyze"):
            asyncio.run(stage.sql(statement))
        rows = asyncio.run(stage.sql(TOPICS, PAGE_MESSAGES))
        paths = [f"/public/channels/{row['conversation_id']}/topics/{row['id']}" for row in rows]
        first = httpx.get(f"http://127.0.0.1:{stage.port}{paths[0]}", headers={"Accept-Encoding": "identity"})
        assert first.status_code == 200, first.text
        forms = {
            "one page, whole": "",
            "one page, gzip": "Accept-Encoding: gzip\r\n",
            "one page, unchanged (304)": f"If-None-Match: {first.headers['etag']}\r\n",
        }
        loads = {name: _load(stage, [[asked(paths[0], header)]] * CLIENTS, seconds) for name, header in forms.items()}
        # A page begins with any message: enough of them that none is asked for twice while it is held.
        starts = asyncio.run(stage.sql(STARTS))
        others = [
            asked(f"/public/channels/{row['conversation_id']}/topics/{row['topic_id']}?start={row['id']}")
            for row in starts
        ]
        loads[ANEW] = _load(stage, [others[at::CLIENTS] for at in range(CLIENTS)], seconds)
        with bare_postgres(stage) as postgres:
            bare = run_pgbench(postgres.url, BARE, {}, clients=CLIENTS, seconds=seconds)
    figures = []
    for name, (load, cpu) in loads.items():
        spread = f"p50 {load.percentile(0.5) * 1000:.1f} ms, p99 {load.percentile(0.99) * 1000:.1f} ms"
        target = "" if name == ANEW else "1000 /s"
        figures.append(Figure(name, load.rate, "/s", bare.rate, target, f"{spread}, {cpu:.2f} ms of CPU each"))
    notes = [f"{len(first.content):,} bytes, {first.text.count('<article'):,} messages; {len(paths)} topics"]
    return Report("bench public", {"messages": messages, "clients": CLIENTS, "seconds": seconds}, figures, notes)


def asked(path: str, header: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n".encode()


def _load(stage: Stage, connections: list[list[bytes]], seconds: float) -> tuple[Loaded, float]:
    """The load, and the milliseconds of processor time that the web process took for each request."""
    before = cpu_seconds(stage.pids["web"])
    loaded = run_load(Load(stage.port, connections, seconds))
    return loaded, 1000 * (cpu_seconds(stage.pids["web"]) - before) / max(1, loaded.count)
