"""Asks about every pinned package whether something is known against it.

A finding ends with 1; a question that nobody answers does not.

Three questions, because a machine may reach no more than a mirror of the packages:
- known vulnerabilities of Python packages: the JSON interface of the index;
- versions that their authors withdrew (yanked): the plain index, which every mirror has;
- known vulnerabilities of the web client's packages: `npm audit`.
What could not be asked is said by name. `--strict` ends with 1 then too: for a machine that reaches everything.
"""

import json
import re
import ssl
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.check.locked import Package, python_packages
from tests.check.suite import ROOT

ACCEPTED: dict[str, str] = {}
"""By number of the advisory: why it does not matter here. Each has a date after which it is looked at again."""
SECONDS = 20
AT_ONCE = 8
PROBE = 3
"""So many packages in a row without an answer: nobody answers."""


@dataclass
class Report:
    """What was found, and what could not be asked."""

    found: list[str] = field(default_factory=list)
    not_asked: list[str] = field(default_factory=list)


class NoAnswer(Exception):
    """The index does not say."""


@dataclass(frozen=True)
class Index:
    """An index of Python packages, at the two addresses it answers at."""

    simple: str
    api: str

    def vulnerabilities(self, package: Package) -> list[str]:
        """Numbers and short descriptions of what is known."""
        known = json.loads(_get(f"{self.api}/{package.name}/{package.version}/json"))
        if "vulnerabilities" not in known:
            raise NoAnswer("the answer has no vulnerabilities in it")
        return [
            f"{package.name} {package.version}: {each['id']} {(each.get('summary') or '')[:100]}".rstrip()
            for each in known["vulnerabilities"]
            if not each.get("withdrawn") and not {each["id"], *each.get("aliases", ())} & ACCEPTED.keys()
        ]

    def withdrawn(self, package: Package) -> list[str]:
        """That its authors withdrew it, if all files of the version are marked so."""
        page = _get(f"{self.simple}/{package.name}/")
        links = re.findall(r"<a\b([^>]*)>([^<]*)</a>", page)
        stem = re.compile(rf"^{_loose(package.name)}-{re.escape(package.version)}(?:-|\.tar|\.zip)", re.IGNORECASE)
        own = [attributes for attributes, file in links if stem.match(file)]
        if not own:
            raise NoAnswer("the index does not list this version")
        return (
            [f"{package.name} {package.version}: withdrawn by its authors"]
            if all("data-yanked" in a for a in own)
            else []
        )


def audit_python(index: Index, packages: list[Package], report: Report) -> None:
    """Both questions to the index."""
    _ask("known vulnerabilities of Python packages", index.vulnerabilities, packages, report)
    _ask("Python packages that were withdrawn", index.withdrawn, packages, report)


def _ask(question: str, ask: Callable[[Package], list[str]], packages: list[Package], report: Report) -> None:
    def one(package: Package) -> list[str] | str:
        try:
            return ask(package)
        except (NoAnswer, OSError, ValueError, KeyError) as problem:
            return f"{package.name}: {problem}"

    first = [one(package) for package in packages[:PROBE]]
    if first and all(isinstance(answer, str) for answer in first):
        report.not_asked.append(f"{question}: {first[0]}")
        return
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for answer in [*first, *pool.map(one, packages[PROBE:])]:
            if isinstance(answer, str):
                report.not_asked.append(f"{question}: {answer}")
            else:
                report.found += answer


def audit_web(report: Report) -> None:
    """What npm knows."""
    try:
        command = ["npm", "audit", "--json", "--package-lock-only"]
        said = subprocess.run(
            command, cwd=ROOT / "web", capture_output=True, text=True, check=False, timeout=120
        ).stdout
        report.found += web_findings(said)
    except (NoAnswer, OSError, subprocess.TimeoutExpired) as problem:
        report.not_asked.append(f"known vulnerabilities of the web client's packages: {problem}")


def web_findings(said: str) -> list[str]:
    """What `npm audit --json` found; raises if it could not ask."""
    try:
        known = json.loads(said)
    except ValueError as error:
        raise NoAnswer("npm said nothing") from error
    if "vulnerabilities" not in known:
        raise NoAnswer(str(known.get("message", "npm could not ask"))[:200].split(" - ")[0])
    return [
        f"web {name}: {each['severity']} ({each.get('range', '')})" for name, each in known["vulnerabilities"].items()
    ]


def _get(address: str) -> str:
    try:
        asked = Request(address, headers={"Accept": "application/json, text/html"})
        with urlopen(asked, timeout=SECONDS, context=_tls()) as answer:
            text: str = answer.read().decode("utf-8", "replace")
            return text
    except HTTPError as error:
        raise NoAnswer(f"HTTP {error.code}") from None


@cache
def _tls() -> ssl.SSLContext:
    """One for all: to read the certificates of the world takes longer than anything else here."""
    return ssl.create_default_context()


def _loose(name: str) -> str:
    return "[-_.]+".join(re.escape(part) for part in re.split("[-_.]+", name))


def usual_index() -> Index:
    """Where pip goes when nobody says otherwise: its own constants, so that no address stands here."""
    from pip._internal.models.index import PyPI

    return Index(PyPI.simple_url.rstrip("/"), PyPI.pypi_url.rstrip("/"))


def main() -> int:
    """Ask, and say what was said."""
    report, packages = Report(), python_packages()
    audit_python(usual_index(), packages, report)
    audit_web(report)
    for line in report.not_asked:
        print(f"NOT ASKED  {line}")
    for line in sorted(report.found):
        print(f"FOUND      {line}")
    print(
        f"{len(packages)} Python packages: {len(report.found)} findings, {len(report.not_asked)} questions without an answer"
    )
    return 1 if report.found or (report.not_asked and "--strict" in sys.argv) else 0


if __name__ == "__main__":
    raise SystemExit(main())
