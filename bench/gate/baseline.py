"""What was recorded, and how a new figure is judged by it. No I/O but the one file."""

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

FILE = Path(__file__).parents[1] / "baseline.json"

WEB, POSTGRES = "web CPU", "PostgreSQL CPU"
STATEMENTS, PER_COMMIT, PARSED, PLANNED = "statements", "statements per commit", "parsed", "planned"
ROWS, WAL = "rows", "WAL bytes"
REFERENCES = {WEB: "bare uvicorn takes to answer", POSTGRES: "a bare statement takes for the rows"}

ALLOWED = {STATEMENTS: 0.0, PARSED: 0.0, PLANNED: 0.0, ROWS: 0.0, WAL: 0.03}
"""By which part a count of a single client's requests may be more. Some records of the log are a few bytes longer."""
ALLOWED_TOGETHER = {PER_COMMIT: 0.05}
"""The same where requests meet: how many go into a commit, and with that what each of them costs, differs each time."""
LOOSER_TOGETHER = 2.5
"""How many times as far processor time may be off where requests meet: the same commit was at 2.9 on one machine, at 3.9 in
the best of three tries on the next."""
NEGLIGIBLE = 0.01
"""Per unit: a statement that is parsed once in a hundred messages is one that a new connection has to learn."""

Figures = dict[str, float]
"""Of one case, by kind: ratios of processor time, and counts per unit."""


class Baseline(msgspec.Struct):
    date: str
    commit: str
    machine: dict[str, Any]
    cases: dict[str, Figures]

    @classmethod
    def read(cls, file: Path = FILE) -> "Baseline":
        return msgspec.json.decode(file.read_bytes(), type=cls)

    def write(self, file: Path = FILE) -> None:
        file.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")


class Verdict(NamedTuple):
    """A figure beside the recorded one."""

    case: str
    kind: str
    found: float
    recorded: float | None
    allowed: float
    """By which part of the recorded figure it may be worse."""

    @property
    def worse_by(self) -> float:
        """As a part of the recorded figure; below zero: better."""
        if self.recorded is None:
            return float("inf")
        if abs(self.found - self.recorded) <= NEGLIGIBLE:
            return 0.0
        return self.found / self.recorded - 1 if self.recorded else float("inf")

    @property
    def has_failed(self) -> bool:
        return self.worse_by > self.allowed

    @property
    def is_much_better(self) -> bool:
        """So much that it is worth recording: otherwise it may become as bad as before, and nobody notices."""
        return self.worse_by < -1.5 * self.allowed

    @property
    def is_of_rows(self) -> bool:
        return self.kind in (ROWS, WAL)

    @property
    def change(self) -> str:
        """In short; nothing if there is none."""
        if self.recorded is None:
            return " (new)"
        if not self.worse_by:
            return ""
        return f" ({self.worse_by:+.0%})" if self.recorded else f" ({self.found:+.2g})"

    @property
    def words(self) -> str:
        if self.recorded is None:
            return f"{self.case}, {self.kind}: {self.found:.4g}, and nothing is recorded to compare it with"
        compared = f" times what {REFERENCES[self.kind]}" if self.kind in REFERENCES else ""
        allowed = f"{self.allowed:+.0%} would pass" if self.allowed else "none more would pass"
        return f"{self.case}, {self.kind}: {self.found:.4g}{compared}, recorded {self.recorded:.4g}{self.change}; {allowed}"


def judge(case: str, found: Figures, baseline: Baseline, *, is_alone: bool, within: float) -> list[Verdict]:
    recorded = baseline.cases.get(case, {})
    allowed = dict.fromkeys((WEB, POSTGRES), within if is_alone else within * LOOSER_TOGETHER)
    allowed |= ALLOWED if is_alone else ALLOWED_TOGETHER
    return [
        Verdict(case, kind, figure, recorded.get(kind), allowed.get(kind, within)) for kind, figure in found.items()
    ]


def best(tries: list[Figures]) -> Figures:
    """The lowest of each figure."""
    return {kind: min(each[kind] for each in tries) for kind in tries[0]}
