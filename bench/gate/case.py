"""A case: something that is asked of the server in rounds, in turns with the references, and then counted."""

import asyncio
import statistics
from collections import Counter
from typing import ClassVar

from bench.gate.bare_statements import BareStatement
from bench.gate.baseline import PARSED, PER_COMMIT, PLANNED, POSTGRES, ROWS, STATEMENTS, WAL, WEB, Figures
from bench.gate.counting import asked_by, lsn_number, written_by
from bench.gate.scene import SETTLING_SECONDS, Scene, Used

COUNTED, COUNTED_TOGETHER = 21, 3
"""Turns."""


class Case:
    name: ClassVar[str]
    rounds: ClassVar[int] = 9
    few_rounds: ClassVar[int] = 5
    """Enough to see that nothing is dearer; a doubt is measured anew, in all of them."""
    is_alone: ClassVar[bool] = True
    """One request at a time: what it costs in counts does not hang on how requests happen to meet."""
    units: ClassVar[int] = 1
    """Of one turn, which is what is counted."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.rows: Counter[str] = Counter()
        """Of the last count, by table and verb: they explain a figure."""

    async def begin(self) -> None:
        """Before each try."""

    async def round(self) -> Figures:
        """The ratios of one round."""
        raise NotImplementedError

    async def prepare_turn(self) -> None:
        """What a turn needs, and what is not counted."""

    async def turn(self) -> None:
        """What is counted, once."""
        raise NotImplementedError

    async def end(self) -> None:
        """After each try: what it left behind is taken away."""

    async def measure(self, *, briefly: bool = False) -> Figures:
        await self.scene.tidy_up()
        await self.begin()
        await self.round()  # connections are open, statements prepared, pages in memory
        rounds = [await self.round() for _ in range(self.few_rounds if briefly else self.rounds)]
        ratios = {kind: middle_mean([each[kind] for each in rounds]) for kind in rounds[0]}
        figures = ratios | await self.count()
        await self.end()
        self.scene.hang_up()
        return figures

    async def count(self) -> Figures:
        """Statements, rows and bytes of a unit: of one request the median of several, so that a stray does not count."""
        scene = self.scene
        await scene.log_statements(on=True)
        places = []
        try:
            for _ in range(1 + (COUNTED if self.is_alone else COUNTED_TOGETHER)):
                await self.prepare_turn()
                start = await scene.place()
                await self.turn()
                await asyncio.sleep(SETTLING_SECONDS)
                places.append((start, await scene.place()))
        finally:
            await scene.log_statements(on=False)
        del places[0]  # the settings of the log have arrived everywhere
        pids = await scene.backends()
        records = await scene.records(places[0][0].lsn, places[-1][1].lsn)
        tables = await scene.tables()
        found: list[Figures] = []
        self.rows = Counter()
        for start, end in places:
            asked = asked_by(scene.log_between(start, end), pids)
            written = written_by(records, tables, lsn_number(start.lsn), lsn_number(end.lsn))
            self.rows += written.rows
            each = {PARSED: asked.parsed, PLANNED: asked.planned, ROWS: written.rows.total(), WAL: written.bytes}
            per_unit = {kind: count / self.units for kind, count in each.items()}
            if self.is_alone:
                found.append({STATEMENTS: asked.statements / self.units} | per_unit)
            else:
                found.append({PER_COMMIT: asked.in_commits / asked.commits} | per_unit)
        return {kind: statistics.median(each[kind] for each in found) for kind in found[0]}


class RequestCase(Case):
    """Requests that are answered at once."""

    clients: ClassVar[int] = 1
    each: ClassVar[int] = 50
    """Requests of each client in a round."""
    slice: ClassVar[int] = 1
    """How many of them go before the references have their turn: what else the machine does then hits all alike."""
    bare: BareStatement

    def next_request(self, client: int) -> bytes:
        raise NotImplementedError

    async def finish(self, answers: list[bytes]) -> None:
        """After a round: what is left behind is taken away."""

    async def round(self) -> Figures:
        scene = self.scene
        answers: list[bytes] = []
        before = await scene.clocks()
        for _ in range(self.each // self.slice):
            requests = self._requests()
            answers += await scene.ask(scene.stage.port, requests)
            instead = [[bare_request(each, len(answers[0])) for each in own] for own in requests]
            await scene.ask(scene.bare_port, instead)
            await scene.run_bare(self.bare, self.clients * self.slice)
        await asyncio.sleep(SETTLING_SECONDS)
        used = Used.between(before, await scene.clocks())
        await self.finish(answers)
        return {WEB: used.web / used.bare_web, POSTGRES: used.postgres / used.bare_postgres}

    async def turn(self) -> None:
        await self.finish(await self.scene.ask(self.scene.stage.port, self._requests()))

    def _requests(self) -> list[list[bytes]]:
        """Of each client, those of one slice."""
        return [[self.next_request(client) for _ in range(self.slice)] for client in range(self.clients)]


def middle_mean(values: list[float]) -> float:
    """Of the middle half: strays do not count, and where cost grows step by step no single step decides."""
    cut = len(values) // 4
    return statistics.mean(sorted(values)[cut : len(values) - cut])


def bare_request(request: bytes, size: int) -> bytes:
    """The same one, for an answer of so many bytes from bare uvicorn."""
    method, target, rest = request.split(b" ", 2)
    _, mark, query = target.partition(b"?")
    return b" ".join((method, b"/bytes/%d" % size + mark + query, rest))
