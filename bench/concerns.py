"""A mention of everybody in a large channel: what it costs its sender, and how long until all of them are decided about."""

import asyncio
import statistics
import time

from bench.http_bytes import send_request
from bench.load import Load, run_load
from bench.report import Figure, Report
from bench.stage import Stage, open_stage
from tests.harness.server import Channel, User

COUNTED = 5


def measure(*, quick: bool) -> Report:
    size = 2_000 if quick else 20_000
    rounds = 5 if quick else 15
    with open_stage() as stage:
        [channel] = stage.fill(users=size, channels=1, subscribers=size)
        sender = stage.server.owner  # who may mention everybody
        texts = {"plain": "hello", "@all": "@**all** hello"}
        for text in texts.values():
            burst(stage, channel, sender, text)
        asyncio.run(decided(stage))
        medians: dict[str, list[float]] = {name: [] for name in texts}
        for _ in range(rounds):
            for name, text in texts.items():
                medians[name].append(burst(stage, channel, sender, text))
                asyncio.run(decided(stage))  # what the worker does for one text is not measured with the other
        seconds = {name: statistics.median(found) for name, found in medians.items()}
        burst(stage, channel, sender, texts["@all"], count=1)
        began = time.monotonic()
        asyncio.run(decided(stage))
        waited = time.monotonic() - began
    ratio = seconds["@all"] / seconds["plain"]
    figures = [
        Figure("a plain message", seconds["plain"] * 1000, "ms"),
        Figure(
            "a message to all", seconds["@all"] * 1000, "ms", target="<= 1.1 of plain", note=f"{ratio:.2f} of plain"
        ),
        Figure("until everybody is decided about", waited, "s", target="<= 60"),
    ]
    notes = ["time: median of the medians of rounds, one sender, the two kinds taking turns"]
    return Report("bench concerns", {"subscribers": size, "rounds": rounds, "messages": COUNTED}, figures, notes)


def burst(stage: Stage, channel: Channel, sender: User, text: str, count: int = COUNTED) -> float:
    request = send_request(channel.stream_id, sender, content=text)
    return run_load(Load(stage.port, [[request] * count])).percentile(0.5)


async def decided(stage: Stage) -> None:
    """Wait until no message waits to be decided about."""
    while (await stage.sql("select count(*) as n from push_due"))[0]["n"]:
        await asyncio.sleep(0.1)
