"""What `bin/bench gate` does: measure, compare with what is recorded, try again what has failed, and say what to do."""

import asyncio
import statistics
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import uvloop

from bench.gate.baseline import FILE, Baseline, Figures, Verdict, best, judge
from bench.gate.case import Case
from bench.gate.cases import CASES
from bench.gate.scene import open_scene
from bench.load import ROOT
from bench.report import number
from bench.stage import open_stage

TRIES = 3
TRIES_TO_RECORD = 5

_WHAT_TO_DO = """
What to do:
  Find what made it dearer since {commit}; bin/bench gate --only "{case}" measures that case alone.
  If it has to cost that much, say why in the commit, with the baseline that bin/bench gate --record writes.
  Processor time may deceive on a machine that has much else to do; statements, rows and bytes do not."""


class NoSuchCase(Exception):
    def __init__(self) -> None:
        super().__init__("There is no such case. There are: " + ", ".join(case.name for case in CASES) + ".")


def run_gate(machine: dict[str, Any], *, only: str, within: float) -> bool:
    """Whether nothing costs more than it may."""
    chosen = choose(only)
    if not FILE.exists():
        print(f"bin/bench gate: there is no {FILE.relative_to(ROOT)}; bin/bench gate --record writes it.")
        return False
    baseline = Baseline.read()
    started = time.monotonic()
    print(
        f"The gate for cost, beside {baseline.commit} of {baseline.date}; load before: {machine['load before']}",
        flush=True,
    )
    for name in ("python", "postgresql"):
        if machine[name] != baseline.machine[name]:
            print(f"  It was recorded with {name} {baseline.machine[name]}, and this is {machine[name]}.")
    failed = _run(_judge_all(chosen, baseline, within / 100))
    seconds = f"{time.monotonic() - started:.0f} s"
    if failed:
        print(f"bin/bench gate: costs more than recorded, in the best of {TRIES} tries ({seconds}):")
        for verdict in failed:
            print(f"  {verdict.words}")
        print(_WHAT_TO_DO.format(commit=baseline.commit, case=failed[0].case))
    else:
        print(f"The gate is passed: nothing costs more than it may ({seconds}).")
    return not failed


def record_baseline(machine: dict[str, Any], *, only: str) -> None:
    """Write what is measured now; cases that were not chosen stay as they are."""
    found = _run(_measure_all(choose(only)))
    kept = Baseline.read().cases if FILE.exists() else {}
    known = kept | found
    cases = {case.name: known[case.name] for case in CASES if case.name in known}
    Baseline(datetime.now(UTC).date().isoformat(), _commit(), machine, cases).write()
    print(f"{FILE.relative_to(ROOT)} is written.")


def choose(only: str) -> list[type[Case]]:
    chosen = [case for case in CASES if only in case.name]
    if not chosen:
        raise NoSuchCase
    return chosen


def _run(work: Any) -> Any:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


async def _judge_all(chosen: Sequence[type[Case]], baseline: Baseline, within: float) -> list[Verdict]:
    """What has failed, try after try."""
    failed: list[Verdict] = []
    left = chosen
    tries: dict[str, list[Figures]] = {case.name: [] for case in chosen}
    for attempt in range(1, TRIES + 1):
        failed = []
        async with _open(left) as cases:
            for case in cases:
                tries[case.name].append(await case.measure(briefly=attempt == 1))
                figures = best(tries[case.name])
                verdicts = judge(case.name, figures, baseline, is_alone=case.is_alone, within=within)
                _show(case, verdicts)
                failed += [verdict for verdict in verdicts if verdict.has_failed]
        names = {verdict.case for verdict in failed}
        left = [case for case in left if case.name in names]
        if not left:
            break
        if attempt < TRIES:
            print(f"  Once more: {', '.join(case.name for case in left)}", flush=True)
    return failed


async def _measure_all(chosen: Sequence[type[Case]]) -> dict[str, Figures]:
    """Of each figure the median of the tries: the best may be a stroke of luck that no later run has."""
    tries: dict[str, list[Figures]] = {case.name: [] for case in chosen}
    for _ in range(TRIES_TO_RECORD):
        async with _open(chosen) as cases:
            for case in cases:
                tries[case.name].append(await case.measure())
                _show_recorded(case, tries[case.name][-1])
    return {
        name: {kind: float(f"{statistics.median(each[kind] for each in found):.4g}") for kind in found[0]}
        for name, found in tries.items()
    }


@asynccontextmanager
async def _open(chosen: Sequence[type[Case]]) -> AsyncIterator[list[Case]]:
    """Cases on a server of their own for each try: one that has served for minutes needs some percent more.

    What a worker does about messages, and when, is no part of a request.
    """
    with open_stage() as stage, stage.server.paused("worker"):
        async with open_scene(stage) as scene:
            yield [case(scene) for case in chosen]


def _show(case: Case, verdicts: Sequence[Verdict]) -> None:
    has_failed = any(verdict.has_failed for verdict in verdicts)
    parts = [f"{verdict.kind} {number(verdict.found)}{verdict.change}" for verdict in verdicts]
    print(f"  {'DEAR' if has_failed else 'ok  '}  {case.name:<26} {', '.join(parts)}", flush=True)
    for verdict in verdicts:
        if verdict.is_much_better:
            print(f"        {verdict.kind} is better: bin/bench gate --record keeps it so.")
    if any(verdict.has_failed and verdict.is_of_rows for verdict in verdicts):
        print(f"        rows: {', '.join(f'{name} {count:g}' for name, count in sorted(case.rows.items()))}")


def _show_recorded(case: Case, figures: Figures) -> None:
    parts = [f"{kind} {number(figure)}" for kind, figure in figures.items()]
    print(f"  {case.name:<26} {', '.join(parts)}", flush=True)


def _commit() -> str:
    """The last one that changed the server, not the gate; marked if the server was changed since."""
    last = _git("log", "-1", "--format=%h", "--", "src") or "unknown"
    return last + ("-dirty" if _git("status", "--porcelain", "--", "src") else "")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
