"""Many mails to a mail server that is slow, refuses one in ten, and is away for a while, by workers of which one is killed.

What arrives is counted by the mail server itself, which is a process of its own (aiosmtpd).
"""

import asyncio
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope, Session

from bench.processes import cpu_of
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tertulia.engines import ChildProcess, free_port

SLOW_SECONDS = 0.01
_QUEUE = """
insert into mail_outbox (recipient, subject, body)
select 'person' || n || '@example.com', 'Mail ' || n, repeat('A line of a mail that says something.' || chr(10), 20)
from generate_series(0, $1::int - 1) as n
"""


class Mailbox:
    """Takes mails slowly, from all but every tenth address, and counts them by their subject."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()

    async def handle_RCPT(  # noqa: N802
        self, _server: Any, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address.partition("@")[0].endswith("0"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 fine"

    async def handle_DATA(self, _server: Any, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        await asyncio.sleep(SLOW_SECONDS)
        content = envelope.content or b""
        text = content if isinstance(content, bytes) else content.encode()
        [subject] = [line for line in text.splitlines() if line.startswith(b"Subject: ")]
        self.taken[subject.decode()] += 1
        return "250 taken"


def serve(port: int, orders: Connection) -> None:
    """The mail server: `open`, `close`, or `count`, as it is told."""
    mailbox = Mailbox()
    controller: Controller | None = None
    while (order := orders.recv()) != "end":
        if order == "open":
            controller = Controller(mailbox, hostname="127.0.0.1", port=port)
            controller.start()
        elif order == "close" and controller is not None:
            controller.stop()
        orders.send(mailbox.taken if order == "count" else None)


class MailServer:
    """The same, from outside."""

    def __init__(self, port: int) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=serve, args=(port, theirs), daemon=True)
        self._process.start()

    def do(self, order: str) -> Any:
        self._ours.send(order)
        return self._ours.recv()

    def end(self) -> None:
        self._ours.send("end")
        self._process.join(10)


def measure(*, quick: bool) -> Report:
    count, away = (500, 3) if quick else (10_000, 60)
    port = free_port()
    server = MailServer(port)
    try:
        with open_stage(smtp_url=f"smtp://127.0.0.1:{port}") as stage, second_worker(stage) as worker:
            return asyncio.run(deliver(stage, worker, server, count, away))
    finally:
        server.end()


@contextmanager
def second_worker(stage: Stage) -> Iterator[ChildProcess]:
    """Beside the server's own: the one that is killed."""
    environment = os.environ | stage.server.environment(metrics_port=0)
    worker = ChildProcess([sys.executable, "-m", "tertulia", "worker"], stage.folder / "worker2.log", env=environment)
    worker.start()
    try:
        yield worker
    finally:
        with suppress(ProcessLookupError):
            worker.stop(signal.SIGTERM, 10)


async def deliver(stage: Stage, worker: ChildProcess, server: MailServer, count: int, away: int) -> Report:
    wanted = count - count // 10
    pids = {name: stage.pids[name] for name in ("worker", "postgres")} | {"second worker": worker.pid}
    server.do("open")
    await stage.sql(_QUEUE, count)
    before, began = cpu_of(pids), time.monotonic()
    await arrive(server, wanted // 4)
    server.do("close")
    await asyncio.sleep(away)
    server.do("open")
    await arrive(server, wanted // 2)
    used = cpu_of(pids)
    os.kill(worker.pid, signal.SIGKILL)
    while (await stage.sql("select count(*) as n from mail_outbox"))[0]["n"]:
        await asyncio.sleep(0.2)
    took = time.monotonic() - began - away
    used |= {name: value for name, value in cpu_of(pids).items() if name != "second worker"}
    taken: Counter[str] = server.do("count")
    cpu = {name: (used[name] - before[name]) / wanted * 1000 for name in pids}
    figures = [
        Figure("mails a minute, while the mail server was there", wanted / took * 60, "/min"),
        Figure("CPU of the workers for a mail", cpu["worker"] + cpu["second worker"], "ms"),
        Figure("CPU of PostgreSQL for a mail", cpu["postgres"], "ms"),
        Figure("lost", wanted - len(taken), "mails", target="0"),
        Figure("twice", taken.total() - len(taken), "mails", target="<= 4", note="one for each cut and worker"),
    ]
    parameters = {"mails": count, "refused": count // 10, "away": f"{away} s", "slow": f"{SLOW_SECONDS * 1000:.0f} ms"}
    return Report("bench mails", parameters, figures, ["two workers, one of which is killed in the middle"])


async def arrive(server: MailServer, count: int) -> None:
    """Wait until so many have arrived."""
    while server.do("count").total() < count:
        await asyncio.sleep(0.1)
