"""Sending: 64 clients, against pgbench with the very same two statements, one message per transaction."""

import asyncio
from collections.abc import Sequence

from bench.http_bytes import CONTENT, send_request
from bench.load import Load, Loaded, run_load
from bench.pgbench import Bare, Statement, run_pgbench, script
from bench.processes import cpu_of
from bench.report import Figure, Report
from bench.stage import Stage, bare_postgres, open_stage
from tertulia.events.log.record import Audience
from tertulia.kernel.auth import Caller
from tertulia.messaging.sending.actions import outgoing
from tertulia.messaging.sending.model import Composed, Place, SendRequest
from tertulia.messaging.sending.rules import ToChannel, render_plain
from tertulia.messaging.sending.statements import LOCK, SEND_PLAIN, plain_columns
from tertulia.organization.realms.settings import decode_realm
from tests.harness.server import Channel, User

CLIENTS = 64


def measure(*, quick: bool) -> Report:
    seconds = 3.0 if quick else 15.0
    figures: list[Figure] = []
    notes: list[str] = []
    with open_stage() as stage:
        channels = stage.fill(users=CLIENTS, channels=50)
        people = asyncio.run(stage.people(CLIENTS))
        ours = {count: send(stage, channels[:count], people, seconds, notes) for count in (1, 50)}
        with bare_postgres(stage) as postgres:
            for count, loaded in ours.items():
                bare = bare_send(postgres.url, channels[:count], people, seconds)
                name = f"messages, {count} channel{'s' if count > 1 else ''}"
                spread = f"p50 {loaded.percentile(0.5) * 1000:.1f} ms, p95 {loaded.percentile(0.95) * 1000:.1f} ms"
                note = f"{spread}; bare mean {bare.milliseconds:.1f} ms"
                figures.append(Figure(name, loaded.rate, "/s", bare.rate, "ratio 0.5", note))
    notes.append("bare: the server is stopped, pgbench sends one message per transaction and waits for locks")
    return Report("bench send", {"clients": CLIENTS, "seconds": seconds}, figures, notes)


def send(stage: Stage, channels: Sequence[Channel], people: Sequence[User], seconds: float, notes: list[str]) -> Loaded:
    newest = asyncio.run(stage.sql("select coalesce(max(id), 0) as id from message"))[0]["id"]
    before = cpu_of(stage.pids)
    loaded = run_load(Load(stage.port, send_requests(channels, people), seconds, warm_up=1.0))
    after = cpu_of(stage.pids)
    sql = "select count(*) as rows, count(distinct xmin::text) as batches from message where id > $1"
    row = asyncio.run(stage.sql(sql, newest))[0]
    used = {name: after[name] - before[name] for name in after}
    used["generator"] = loaded.cpu_seconds
    parts = [f"{name} {cpu * 1e6 / row['rows']:.0f}" for name, cpu in sorted(used.items(), key=lambda item: -item[1])]
    busy = f"{sum(used.values()) / (seconds + 1.0):.2f} cores used"
    notes.append(
        f"{len(channels)} channels: {row['rows'] / max(1, row['batches']):.1f} messages per commit; {busy}; "
        f"microseconds of CPU per message: {', '.join(parts)}"
    )
    return loaded


def send_requests(channels: Sequence[Channel], people: Sequence[User]) -> list[list[bytes]]:
    """For each person the requests of one connection, each starting with another channel."""
    made = []
    for number, user in enumerate(people):
        turned = [channels[(number + step) % len(channels)] for step in range(len(channels))]
        made.append([send_request(channel.stream_id, user) for channel in turned])
    return made


def bare_send(url: str, channels: Sequence[Channel], people: Sequence[User], seconds: float) -> Bare:
    ids = [channel.stream_id for channel in channels]
    first = people[0].user_id
    assert ids == list(range(ids[0], ids[0] + len(ids))), "pgbench draws from a range of ids"
    head = f"\\set channel random({ids[0]}, {ids[-1]})\n\\set sender random({first}, {first + len(people) - 1})\n"
    # Without the group commit there is nobody to hand a held conversation to: the lock waits.
    # One text for all channels cannot say what each of them is: the comparison is made, its outcome turned round.
    sending = SEND_PLAIN.replace("input.channel_seen = ", "input.channel_seen is distinct from ")
    statements = [Statement(LOCK, [":channel"]), Statement(sending, arguments_of(channels[0], people[0]))]
    text, variables = script(statements)
    text = text.replace(":channel::bigint[]", "array[:channel]::bigint[]").replace(":sender::", "array[:sender]::")
    return run_pgbench(url, text, variables, clients=CLIENTS, seconds=seconds, head=head)


def arguments_of(channel: Channel, user: User) -> list[object]:
    """The arguments of SEND_PLAIN as the lane makes them, with the ids left to pgbench."""
    caller = Caller(user.user_id, 1, 1, user.email, "Some Body", user.role, None, "", "", decode_realm("{}"))
    place = Place(
        channel.stream_id,
        Audience(channel=channel.stream_id, public=True),
        channel.name,
        "bench",
        "bench",
        channel_seen="",
    )
    asked = SendRequest(ToChannel(channel.stream_id, "bench"), CONTENT, "website", read=True)
    out = outgoing(caller, place, Composed(CONTENT, render_plain(CONTENT)), asked)
    first, second, *others = plain_columns([out], 1)
    assert (first, second) == ([channel.stream_id], [user.user_id])
    return [":channel", ":sender", *others[:7], ":sender", *others[8:]]
