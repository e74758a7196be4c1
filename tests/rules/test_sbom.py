"""The bill of materials is valid and complete (tests/check/sbom.py), and the audit says what it finds and what it cannot ask."""

import json
import re
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.check.audit import Index, NoAnswer, Report, audit_python, web_findings
from tests.check.locked import Package, read_requirements
from tests.check.sbom import bill_of_materials, problems_of

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    return bill_of_materials()


def test_the_bill_is_valid(bill: dict[str, Any]) -> None:
    assert problems_of(bill) == []


def test_a_wrong_bill_is_noticed(bill: dict[str, Any]) -> None:
    assert problems_of(bill | {"specVersion": 2})
    assert problems_of(bill | {"components": [*bill["components"], bill["components"][0]]})
    assert problems_of(bill | {"components": bill["components"][1:]}), "somebody needs the first"
    assert problems_of(bill | {"components": [{"type": "library"}]})


def test_everything_that_is_pinned_is_in_the_bill(bill: dict[str, Any]) -> None:
    """Counted in another way than the bill is made."""
    listed = {component["purl"] for component in bill["components"]}
    for file in ("base", "standalone", "dev", "node"):
        text = (ROOT / "requirements" / f"{file}.txt").read_text()
        for line in text.splitlines():
            if "==" in line and not line.startswith((" ", "#")):
                name, version = re.split(r"[\[=\s;\\]+", re.sub(r"\[[^\]]*\]", "", line))[:2]
                assert f"pkg:pypi/{name}@{version}" in listed
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())["packages"]
    for path, entry in lock.items():
        if path:
            name = path.split("node_modules/")[-1].replace("@", "%40")
            assert f"pkg:npm/{name}@{entry['version']}" in listed


def test_what_pyproject_asks_for_is_needed_by_us(bill: dict[str, Any]) -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[<>=\[ ]", line)[0] for line in asked}
    [own] = [line["dependsOn"] for line in bill["dependencies"] if line["ref"] == "tertulia"]
    assert names <= {ref.removeprefix("pkg:pypi/").partition("@")[0] for ref in own}
    reached, waiting = set(), ["tertulia"]
    needs = {line["ref"]: line["dependsOn"] for line in bill["dependencies"]}
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += needs[ref]
    assert reached == needs.keys(), "everything is needed by somebody"


def test_a_lock_says_what_is_pinned_and_who_needs_it() -> None:
    needed = "    # via\n    #   b\n    #   tertulia (pyproject.toml)\n"
    text = f"a==1 \\\n    --hash=sha256:00\n{needed}b[x]==2 ; python_version < '3'\n    # via a\n"
    first, second = read_requirements(text, "required")
    assert first == Package("a", "1", "pypi", "required", frozenset({"b", "tertulia"}))
    assert second == Package("b", "2", "pypi", "required", frozenset({"a"}))


BAD = {"id": "PYSEC-1", "aliases": ["CVE-1"], "summary": "Bad", "withdrawn": None}
PAGES = {
    "/pypi/good/1.0/json": json.dumps({"vulnerabilities": []}),
    "/pypi/bad-one/1.0/json": json.dumps({"vulnerabilities": [BAD, BAD | {"withdrawn": "2026-01-01"}]}),
    "/simple/good/": '<a href="x">good-1.0.tar.gz</a><a href="x" data-yanked="">good-0.9.tar.gz</a>',
    "/simple/bad-one/": '<a href="x" data-yanked="oh">bad_one-1.0-py3-none-any.whl</a><a href="x">bad_one-1.0.1.tar.gz</a>',
}


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        page = PAGES.get(self.path)
        self.send_response(404 if page is None else 200)
        self.end_headers()
        self.wfile.write((page or "").encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def _package(name: str) -> Package:
    return Package(name, "1.0", "pypi", "required")


def test_the_audit_finds_what_the_index_knows(address: str) -> None:
    report = Report()
    index = Index(f"{address}/simple", f"{address}/pypi")
    audit_python(index, [_package("good"), _package("bad-one"), _package("unheard")], report)
    assert report.found == ["bad-one 1.0: PYSEC-1 Bad", "bad-one 1.0: withdrawn by its authors"]
    assert [line.partition(":")[2] for line in report.not_asked] == [" unheard: HTTP 404"] * 2


def test_the_audit_says_what_it_could_not_ask(address: str) -> None:
    report = Report()
    audit_python(Index(f"{address}/nothing", "http://127.0.0.1:9/pypi"), [_package("good")], report)
    assert report.found == []
    assert [line.partition(":")[0] for line in report.not_asked] == [
        "known vulnerabilities of Python packages",
        "Python packages that were withdrawn",
    ]


def test_what_npm_says_is_a_finding_or_no_answer() -> None:
    found = {"vulnerabilities": {"left": {"severity": "high", "range": "<2"}}}
    assert web_findings(json.dumps(found)) == ["web left: high (<2)"]
    assert web_findings('{"vulnerabilities": {}}') == []
    for nothing in ("", "Oh", '{"message": "405 Method Not Allowed - POST somewhere"}'):
        with pytest.raises(NoAnswer):
            web_findings(nothing)
