"""Constant cost: rows and time of one channel message at 10, 1,000 and 100,000 subscribers."""

import asyncio
import statistics

from bench.http_bytes import send_request
from bench.load import Load, run_load
from bench.report import Figure, Report
from bench.rows import count_rows, rows_since
from bench.stage import Stage, open_stage
from tests.harness.server import Channel, User

SIZES = (10, 1_000, 100_000)
QUICK_SIZES = (10, 1_000, 10_000)
COUNTED = 20


def measure(*, quick: bool) -> Report:
    sizes = QUICK_SIZES if quick else SIZES
    rounds = 10 if quick else 40
    figures: list[Figure] = []
    with open_stage() as stage:
        stage.fill(users=sizes[-1])
        channels = {size: stage.fill(channels=1, subscribers=size)[0] for size in sizes}
        [sender] = stage.server.members[:1]
        for channel in channels.values():
            burst(stage, channel, sender)  # the topic is there, statements are prepared
        times = send_times(stage, channels, sender, rounds)
        smallest = times[sizes[0]]
        for size, seconds in times.items():
            rows = asyncio.run(count(stage, channels[size], sender))
            touched = sum(inserted + updated + deleted for inserted, updated, deleted in rows.values()) / COUNTED
            figures.append(Figure(f"rows, {size:,} subscribers", touched, "rows", target="<= 8", note=_words(rows)))
            note = f"{seconds / smallest:.2f} of {sizes[0]}'s"
            target = "" if size == sizes[0] else "<= 1.2"
            figures.append(Figure(f"time, {size:,} subscribers", seconds * 1000, "ms", target=target, note=note))
    figures.sort(key=lambda figure: figure.unit)
    notes = ["time: median of the medians of rounds, one sender, the sizes taking turns"]
    return Report("bench cost", {"rounds": rounds, "messages per round": COUNTED}, figures, notes)


def send_times(stage: Stage, channels: dict[int, Channel], sender: User, rounds: int) -> dict[int, float]:
    """Taking turns, so that whatever else the machine does hits all sizes alike."""
    medians: dict[int, list[float]] = {size: [] for size in channels}
    for _ in range(rounds):
        for size, channel in channels.items():
            medians[size].append(burst(stage, channel, sender))
    return {size: statistics.median(found) for size, found in medians.items()}


def burst(stage: Stage, channel: Channel, sender: User) -> float:
    return run_load(Load(stage.port, [[send_request(channel.stream_id, sender)] * COUNTED])).percentile(0.5)


async def count(stage: Stage, channel: Channel, sender: User) -> dict[str, tuple[int, int, int]]:
    await asyncio.sleep(1.5)  # what was counted late belongs to the messages before
    before = await settled(stage)
    await asyncio.to_thread(burst, stage, channel, sender)
    return await rows_since(stage, before, COUNTED)


async def settled(stage: Stage) -> dict[str, tuple[int, int, int]]:
    """The counters once they stand still."""
    known = -1
    stood = 0
    total = int((await stage.sql("select count(*) as n from message"))[0]["n"])
    while True:
        counts = await count_rows(stage)
        stood = stood + 1 if counts["message"][0] == known else 0
        known = counts["message"][0]
        if known >= total or stood > 60:
            return counts
        await asyncio.sleep(0.2)


def _words(rows: dict[str, tuple[int, int, int]]) -> str:
    parts = []
    for name, counts in sorted(rows.items()):
        for verb, number in zip(("inserted", "updated", "deleted"), counts, strict=True):
            if number:
                parts.append(f"{number / COUNTED:g} {name} {verb}")
    return ", ".join(parts)
