"""What a suite is: how it is run, how those of its tests that failed are run again, and how to read what came of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from tests.check.outcome import Outcome, read_code, read_playwright, read_pytest, slowest_of_playwright

ROOT = Path(__file__).parents[2]


class When(Enum):
    BESIDE = "beside another: most tests wait for a server most of the time, so three suites share two cores well"
    ALONE = "alone, when all others are done: it measures"


@dataclass(frozen=True)
class Command:
    words: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    folder: Path = ROOT


@dataclass(frozen=True)
class Suite(ABC):
    when: When
    name: str

    @abstractmethod
    def first(self, report: Path) -> Command:
        """All of it; `report` is the file to write."""

    @abstractmethod
    def again(self, tests: Sequence[str], report: Path) -> Command:
        """These tests of it alone."""

    @abstractmethod
    def read(self, report: Path, code: int) -> Outcome: ...

    def slowest(self, report: Path) -> str:
        """Its ten slowest tests, if it does not print them itself."""
        return ""

    @property
    @abstractmethod
    def hint(self) -> str:
        """How a developer repeats it."""


@dataclass(frozen=True)
class Pytest(Suite):
    """Tests in Python."""

    selection: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    program: Sequence[str] = ("bin/test",)
    folder: Path = ROOT

    def first(self, report: Path) -> Command:
        return self._command(report, [*self.selection, "--durations=10", "--durations-min=0.5"])

    def again(self, tests: Sequence[str], report: Path) -> Command:
        return self._command(report, tests)

    def read(self, report: Path, code: int) -> Outcome:
        return read_pytest(self.name, report, code)

    @property
    def hint(self) -> str:
        given = "".join(f"{name}={value} " for name, value in self.env.items())
        return f"{given}bin/test PATH::NAME runs one test alone"

    def _command(self, report: Path, arguments: Sequence[str]) -> Command:
        # The cache of pytest is one for all, and several suites run at a time.
        plugins = ["-p", "no:cacheprovider", "-p", "tests.check.second_try", "--outcome", str(report)]
        return Command([*self.program, *plugins, *arguments], self.env, self.folder)


@dataclass(frozen=True)
class Playwright(Suite):
    """The tests of the web client in browsers. The client was built by the checks before."""

    def first(self, report: Path) -> Command:
        # A trace is a record of every moment, made for all tests and kept of those that fail: the second try makes it.
        return self._command(report, ["--trace=off"])

    def again(self, tests: Sequence[str], report: Path) -> Command:
        places = sorted({test.partition(" ")[0].removeprefix("web/") for test in tests})
        # What the first try left to look at (screenshots) stays.
        return self._command(report, ["--workers=1", "--trace=on", "--output=test-results/again", *places])

    def read(self, report: Path, code: int) -> Outcome:
        return read_playwright(self.name, report, code)

    def slowest(self, report: Path) -> str:
        return slowest_of_playwright(report)

    @property
    def hint(self) -> str:
        return "npm run e2e -- FILE:LINE in web/ runs one test alone"

    def _command(self, report: Path, arguments: Sequence[str]) -> Command:
        env = {"PLAYWRIGHT_JSON_OUTPUT_FILE": str(report)}
        return Command(["npm", "run", "-s", "e2e", "--", "--reporter=line,json", *arguments], env, ROOT / "web")


@dataclass(frozen=True)
class Program(Suite):
    """A command that counts as one test, good if it ends with code 0."""

    words: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    is_finding: bool = False
    """Whether it is not to be tried again, as it does that itself."""

    def first(self, report: Path) -> Command:
        return Command(self.words, self.env)

    def again(self, tests: Sequence[str], report: Path) -> Command:
        return self.first(report)

    def read(self, report: Path, code: int) -> Outcome:
        return read_code(self.name, code, self.is_finding)

    @property
    def hint(self) -> str:
        return f"{' '.join(self.words)} repeats it"
