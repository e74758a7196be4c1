"""Sending: one message after the other, and 64 clients, against the least that PostgreSQL could do for the same rows.

The bare engine is pgbench with one statement for each message: its number, its row, its topic, what its sender has read, and
its event in the write-ahead log. It asks for no rights, and everybody waits for the locks of the others.
"""

import asyncio
from collections.abc import Sequence

from bench.gate.bare_statements import store_messages
from bench.http_bytes import send_request
from bench.load import Load, run_load
from bench.pgbench import Bare, Statement, run_pgbench, script
from bench.processes import cpu_of
from bench.report import Figure, Report
from bench.stage import Stage, bare_postgres, open_stage
from tests.harness.server import Channel, User

CLIENTS = 64
ALONE = 300
SETTLED = 10_000
"""Messages that a hot channel has before it is compared: what each of its writers has read is a list of many ranges by then."""

_TOPICS = """
insert into topic (conversation_id, name, name_key)
select id, 'bare', 'bare' from unnest($1::bigint[]) as id order by id returning id
"""


def measure(*, quick: bool) -> Report:
    seconds = 3.0 if quick else 15.0
    settled = 500 if quick else SETTLED
    notes: list[str] = []
    with open_stage() as stage:
        channels = stage.fill(users=CLIENTS, channels=50)
        people = asyncio.run(stage.people(CLIENTS))
        many = Sent(stage, channels, people, seconds)
        run_load(Load(stage.port, [own * (settled // CLIENTS) for own in send_requests(channels[:1], people)]))
        hot = Sent(stage, channels[:1], people, seconds)
        alone = run_load(Load(stage.port, [[send_request(channels[1].stream_id, people[0])] * ALONE]))
        topics = [row["id"] for row in asyncio.run(stage.sql(_TOPICS, [channel.stream_id for channel in channels]))]
        with bare_postgres(stage) as postgres:
            least = [
                bare_send(postgres.url, channels[:count], topics, people, seconds, clients)
                for count, clients in ((50, CLIENTS), (1, CLIENTS), (1, 1))
            ]
    notes += [f"{len(each.channels)} channels: {each.words}" for each in (many, hot)]
    figures = [
        Figure("messages, 50 channels", many.loaded.rate, "/s", least[0].rate, "ratio >= 0.6", many.spread),
        Figure("CPU of a message, all parts together", many.cpu * 1e6, "us", target="<= 550", note="without those who ask"),
        Figure("messages, one channel", hot.loaded.rate, "/s", least[1].rate, note=hot.spread),
        Figure(
            "one channel beside 50", hot.loaded.rate / many.loaded.rate, "of their rate", target=">= 0.8",
            note=f"after {settled:,} messages",
        ),
        Figure("time of one alone", alone.percentile(0.5) * 1000, "ms", least[2].milliseconds, "ratio <= 16"),
    ]  # fmt: skip
    return Report("bench send", {"clients": CLIENTS, "seconds": seconds}, figures, notes)


class Sent:
    """What a load of messages was like, and what it cost."""

    def __init__(self, stage: Stage, channels: Sequence[Channel], people: Sequence[User], seconds: float) -> None:
        self.channels = channels
        newest = asyncio.run(stage.sql("select coalesce(max(id), 0) as id from message"))[0]["id"]
        before = cpu_of(stage.pids)
        self.loaded = run_load(Load(stage.port, send_requests(channels, people), seconds, warm_up=1.0))
        after = cpu_of(stage.pids)
        sql = "select count(*) as rows, count(distinct xmin::text) as batches from message where id > $1"
        row = asyncio.run(stage.sql(sql, newest))[0]
        parts = {name: (after[name] - before[name]) / row["rows"] for name in after}
        self.cpu = sum(parts.values())
        generator = self.loaded.cpu_seconds / self.loaded.count
        busy = (self.cpu + generator) * row["rows"] / (seconds + 1.0)
        dear = ", ".join(f"{name} {cpu * 1e6:.0f}" for name, cpu in sorted(parts.items(), key=lambda item: -item[1]))
        self.words = (
            f"{row['rows'] / max(1, row['batches']):.1f} messages per commit; {busy:.2f} cores used; "
            f"microseconds of CPU per message: {dear}; of who asks {generator * 1e6:.0f}"
        )

    @property
    def spread(self) -> str:
        return f"p50 {self.loaded.percentile(0.5) * 1000:.1f} ms, p99 {self.loaded.percentile(0.99) * 1000:.1f} ms"


def send_requests(channels: Sequence[Channel], people: Sequence[User]) -> list[list[bytes]]:
    """For each person the requests of one connection, each starting with another channel."""
    made = []
    for number, user in enumerate(people):
        turned = [channels[(number + step) % len(channels)] for step in range(len(channels))]
        made.append([send_request(channel.stream_id, user) for channel in turned])
    return made


def bare_send(
    url: str, channels: Sequence[Channel], topics: Sequence[int], people: Sequence[User], seconds: float, clients: int
) -> Bare:
    ids = [channel.stream_id for channel in channels]
    first = people[0].user_id
    assert ids == list(range(ids[0], ids[0] + len(ids))), "pgbench draws from a range of ids"
    assert list(topics) == list(range(topics[0], topics[0] + len(topics))), "and finds the topic by the channel's place"
    head = f"\\set channel random({ids[0]}, {ids[-1]})\n\\set topic :channel - {ids[0]} + {topics[0]}\n"
    head += f"\\set sender random({first}, {first + len(people) - 1})\n"
    least = store_messages(":channel", ":topic", ":sender", 1)
    text, variables = script([Statement(least.sql, least.arguments)])
    return run_pgbench(url, text, variables, clients=clients, seconds=seconds, head=head)
