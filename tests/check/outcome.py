"""How a suite went: which tests passed, which were skipped, and of the failed ones which may have a second try.

Tests are named as one would name them to run them alone. What cannot be read counts as a finding: a suite that broke off is red.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Outcome:
    passed: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    findings: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()
    is_whole: bool = True
    """False if it broke off, so that it is not known which tests it ran."""

    @property
    def tests(self) -> frozenset[str]:
        return self.passed | self.skipped | self.findings | self.again

    @property
    def failed(self) -> int:
        return len(self.findings) + len(self.again)


def read_pytest(name: str, file: Path, code: int) -> Outcome:
    """What tests.check.second_try wrote."""
    if not file.exists():
        return _broke_off(name, code)
    said = json.loads(file.read_text())
    passed, skipped, findings, again = (frozenset(said[kind]) for kind in ("passed", "skipped", "findings", "again"))
    outcome = Outcome(passed, skipped, findings, again)
    return outcome if (code == 0) == (outcome.failed == 0) else _broke_off(name, code)


def read_playwright(name: str, file: Path, code: int) -> Outcome:
    """What Playwright's own reporter `json` wrote. Every failure may have a second try: browsers are programs of others."""
    if not file.exists():
        return _broke_off(name, code)
    report = json.loads(file.read_text())
    found: dict[str, set[str]] = {"expected": set(), "skipped": set(), "unexpected": set(), "flaky": set()}
    for test, status, _ in _playwright_tests(report["suites"]):
        found[status].add(test)
    again = found["unexpected"] | found["flaky"]
    if (code == 0) == bool(again) or (report["errors"] and not again):
        return _broke_off(name, code)
    return Outcome(frozenset(found["expected"] - again), frozenset(found["skipped"]), again=frozenset(again))


def slowest_of_playwright(file: Path) -> str:
    if not file.exists():
        return ""
    tests = sorted(_playwright_tests(json.loads(file.read_text())["suites"]), key=lambda test: test[2], reverse=True)
    return "\n".join(["slowest 10 tests", *(f"{seconds:.2f}s {name}" for name, _, seconds in tests[:10])])


def read_code(name: str, code: int, is_finding: bool) -> Outcome:
    """Of a command that is one test."""
    names = frozenset([name])
    if code == 0:
        return Outcome(passed=names)
    return Outcome(findings=names) if is_finding else Outcome(again=names)


def _broke_off(name: str, code: int) -> Outcome:
    return Outcome(findings=frozenset([f"{name} as a whole: it ended with code {code}"]), is_whole=False)


def _playwright_tests(suites: list[dict[str, Any]]) -> Iterator[tuple[str, str, float]]:
    """The name of each test, how it went, and the seconds it took."""
    for suite in suites:
        for spec in suite.get("specs", []):
            for test in spec["tests"]:
                seconds = sum(result["duration"] for result in test["results"]) / 1000
                yield f"web/e2e/{spec['file']}:{spec['line']} {spec['title']}", test["status"], seconds
        yield from _playwright_tests(suite.get("suites", []))
