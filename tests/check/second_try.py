"""The part of bin/check inside pytest, loaded by `-p tests.check.second_try`.

`--outcome FILE` writes how each test went. A failed test may have a second try if it depends on time or on another program:
its marks say so (AGAIN), it reads a clock itself (CLOCKS), or it talks to processes that share two cores with all other tests
(SERVERS). Anywhere else, and wherever a test is marked `finding`, a failure is a finding: it is never run again. A suite that
broke off writes nothing, so that it can never be taken for a good one.

`--share 2/3` keeps the second of three parts of what was selected, by the seconds that files took when they were last recorded
(seconds.py). A file is never divided, for the sake of its fixtures, nor is a folder of those TOGETHER.
"""

import json
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from types import CodeType

import pytest

from tests.check.seconds import recorded_seconds

AGAIN = ("clients", "cluster", "installs", "system", "timed")
SERVERS = {"server", "own_server", "engines"}
"""The fixtures that start them."""
CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time"}
"""Of the module `time`. Where several processes share two cores, the time of one processor is not what it is alone, either."""
WEIGHTS = {"server": 0.5, "timed": 2, "engines": 2.5, "slow": 6, "own_server": 17}
"""Seconds of a test with such a fixture or mark, in a file that is new; others take OTHERS."""
OTHERS = 0.1
TOGETHER = ("tests/features/archives", "tests/features/backups")
"""Folders whose files share a world that takes long to make."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--outcome", type=Path, metavar="FILE", help="write how each test went, as JSON")
    parser.addoption("--share", metavar="N/M", help="run the Nth of M parts")


def pytest_configure(config: pytest.Config) -> None:
    if file := config.getoption("--outcome"):
        config.pluginmanager.register(_Tally(file))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if share := config.getoption("--share"):
        number, parts = map(int, share.split("/"))
        known = recorded_seconds()
        files = {item.path: item.path.relative_to(config.rootpath).as_posix() for item in items}
        estimates: dict[str, float] = defaultdict(float)
        for item in items:
            estimates[files[item.path]] += weight(item)
        sizes: dict[str, float] = defaultdict(float)
        for file, estimate in estimates.items():
            sizes[_whole(file)] += known.get(file, estimate)
        filled = [0.0] * parts
        mine = set()
        # The largest goes first, each to the part that has the least to do: the same in every run.
        for whole in sorted(sizes, key=lambda whole: (-sizes[whole], whole)):
            part = filled.index(min(filled))
            filled[part] += sizes[whole]
            if part == number - 1:
                mine.add(whole)
        others = [item for item in items if _whole(files[item.path]) not in mine]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if _whole(files[item.path]) in mine]


def _whole(file: str) -> str:
    """What is dealt out as one: the file, or its folder."""
    folder = file.rpartition("/")[0]
    return folder if folder in TOGETHER else file


def weight(item: pytest.Item) -> float:
    """How long it will take, about."""
    known = {*getattr(item, "fixturenames", ()), *(mark.name for mark in item.iter_markers())}
    return max((WEIGHTS[name] for name in known & WEIGHTS.keys()), default=OTHERS)


class _Tally:
    def __init__(self, file: Path) -> None:
        self._file = file
        self._passed: set[str] = set()
        self._skipped: set[str] = set()
        self._failed: dict[str, bool] = {}
        """Whether it may be run again."""
        self._seconds: dict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        self._seconds[item.nodeid.partition("::")[0]] += report.duration
        if report.failed:
            self._failed[item.nodeid] = may_run_again(item)
        elif report.skipped:
            self._skipped.add(item.nodeid)
        elif report.when == "call":
            self._passed.add(item.nodeid)
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._failed[report.nodeid] = False

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        outcome: dict[str, object] = {
            "passed": sorted(self._passed - self._failed.keys()),
            "skipped": sorted(self._skipped - self._failed.keys()),
            "findings": sorted(name for name, again in self._failed.items() if not again),
            "again": sorted(name for name, again in self._failed.items() if again),
            "seconds": dict(sorted(self._seconds.items())),
        }
        self._file.write_text(json.dumps(outcome))


def may_run_again(item: pytest.Item) -> bool:
    if item.get_closest_marker("finding") is not None:
        return False
    if any(map(item.get_closest_marker, AGAIN)) or not SERVERS.isdisjoint(getattr(item, "fixturenames", ())):
        return True
    return isinstance(item, pytest.Function) and not CLOCKS.isdisjoint(_names_in(item.function.__code__))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)
