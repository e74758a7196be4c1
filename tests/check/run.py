"""A run of a plan: suites three at a time, then those that must be alone, then a second try for what may have one.

The verdict: green if every test passed, some of them at the second try. Those are flaky, and listed for somebody to work on.
A suite with failures does not keep the others from running: one run tells everything.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.check.outcome import Outcome
from tests.check.processes import Processes, Stopped
from tests.check.suite import Suite, When

LANES = 3
"""For two cores: tests wait a fifth of their time, for what is due in a second and for each other. The last lines of a run
tell how much the cores were idle: if it is much, one more pays."""
MOST_TRIES = 20  # more failures than these are no chance: one screen or server that broke fails the tests that share it


@dataclass(frozen=True)
class Result:
    suite: Suite
    outcome: Outcome
    seconds: float
    processor_seconds: float = 0.0


@dataclass(frozen=True)
class Verdict:
    results: Sequence[Result]
    seconds_again: float
    flaky: Sequence[str]
    """Failed, and then passed alone."""
    failed: Sequence[str]
    """Findings, and what failed twice."""

    @property
    def passed(self) -> int:
        return sum(len(result.outcome.passed) for result in self.results) + len(self.flaky)

    @property
    def skipped(self) -> int:
        return sum(len(result.outcome.skipped) for result in self.results)


class Run:
    def __init__(self, processes: Processes, folder: Path, say: Callable[[str], None]) -> None:
        self._processes = processes
        self._folder = folder
        self._say = say

    def all(self, suites: Sequence[Suite]) -> Verdict:
        results = self._beside([suite for suite in suites if suite.when is When.BESIDE])
        results += [self._first(suite) for suite in suites if suite.when is When.ALONE]
        again = [result for result in results if result.outcome.again]
        tries = sum(len(result.outcome.again) for result in again)
        if tries > MOST_TRIES:
            self._say(f"\n== No second try: {tries} tests failed that could have one, and {MOST_TRIES} is the most")
        second = [self._again(result) for result in again] if tries <= MOST_TRIES else []
        flaky = {name for result in second for name in result.outcome.passed}
        failed = {name for result in results for name in result.outcome.findings | result.outcome.again} - flaky
        order = {suite.name: number for number, suite in enumerate(suites)}
        results.sort(key=lambda result: order[result.suite.name])
        return Verdict(results, sum(result.seconds for result in second), sorted(flaky), sorted(failed))

    def _beside(self, suites: Sequence[Suite]) -> list[Result]:
        waiting, results = deque(suites), []

        def lane() -> None:
            while waiting:
                try:
                    results.append(self._first(waiting.popleft()))
                except (IndexError, Stopped):
                    return

        lanes = [threading.Thread(target=lane) for _ in range(LANES)]
        for one in lanes:
            one.start()
        for one in lanes:
            one.join()
        return results

    def _first(self, suite: Suite) -> Result:
        self._say(f"   {suite.name} ... (begins after {self._processes.seconds:.0f} s)")
        report, log = self._files(suite.name)
        ended = self._processes.run(suite.first(report), log)
        result = Result(suite, suite.read(report, ended.code), ended.seconds, ended.processor_seconds)
        self._tell(result, log, suite.slowest(report))
        return result

    def _again(self, first: Result) -> Result:
        suite, wanted = first.suite, first.outcome.again
        report, log = self._files(f"{suite.name} again")
        ended = self._processes.run(suite.again(sorted(wanted), report), log)
        outcome = suite.read(report, ended.code)
        # Others may have run with them, and a test that was not run at all has not passed.
        result = Result(suite, Outcome(passed=wanted & outcome.passed, again=wanted - outcome.passed), ended.seconds)
        text = log.read_text(errors="replace").strip()
        self._say(f"\n== {suite.name}, second try of {len(wanted)}: {ended.seconds:.0f} s\n{text}")
        return result

    def _files(self, name: str) -> tuple[Path, Path]:
        plain = name.replace(" ", "-")
        return (self._folder / f"{plain}.json").absolute(), self._folder / f"{plain}.log"

    def _tell(self, result: Result, log: Path, slowest: str) -> None:
        """What failed, or only how it ended. A reader of CI may see a part only: the points of what passed are left out."""
        text = log.read_text(errors="replace").strip()
        if (start := _first_of(text, "= FAILURES =", "= ERRORS =", "slowest ")) is not None:
            text = text[text.rfind("\n", 0, start) + 1 :]
        elif not result.outcome.findings:
            text = "\n".join(text.splitlines()[-3:])
        lines = [f"\n== {result.suite.name}: {result.seconds:.0f} s", text, *([slowest] if slowest else [])]
        if result.outcome.again:
            lines += [
                "to be tried again:",
                *(f"   {name}" for name in sorted(result.outcome.again)),
            ]
        if result.outcome.findings:
            lines.append(f"  -> {result.suite.hint}")
        self._say("\n".join(lines))


def _first_of(text: str, *parts: str) -> int | None:
    return min((place for part in parts if (place := text.find(part)) >= 0), default=None)
