"""docs/reference/clients.md, written by the tests themselves: one line for each that works.

A run of all of them compares: a table that was committed before the last change is written anew, and the run fails, so
that it cannot be forgotten.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clients import environments

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "reference" / "clients.md"
INTRODUCTION = """\
# Existing clients

<!-- Written by tests/clients (acceptance.py): run `bin/test -m clients` and commit. -->

Programs written for this protocol by others, unmodified, run against Tertulia in CI. Each line is a test in `tests/clients`.
"As raw requests" means that the program itself is not run: its requests are repeated to the letter.
"""

PHONES = """
## Phone apps

The protocol's own app for phones is not among them. It reads and writes through the API, but it is notified only through a
relay of its maker: stores give one sender key to each app, and the app encrypts its address to a key of that relay, which is
compiled in. A server has to be registered there, and is paid for above ten people. Tertulia is not registered with it and
does not speak to it: `push_notifications_enabled` in `GET /server_settings` is false, so that nobody waits for notifications
that cannot come. On phones there is the installed web client, and UnifiedPush for apps that know it
([how to have it on a phone](../how-to/phones.md)).
"""


class Line(NamedTuple):
    client: str
    version: str
    exercised: str


_ends: dict[tuple[Path, int, Line], set[str]] = {}
_ran: set[str] = set()


def note(item: pytest.Item, report: pytest.TestReport) -> None:
    """Remember how a test ended. Its mark says what it is about: `client(name, what, package=...)`."""
    _ran.add(item.nodeid)
    mark = item.get_closest_marker("client")
    if mark is None:
        return
    name, exercised = mark.args
    package = mark.kwargs.get("package")
    line = Line(name, environments.versions()[package] if package else "-", exercised)
    ends = _ends.setdefault((item.path, item.location[1] or 0, line), set())
    if report.when == "call" or not report.passed:
        ends.add(report.outcome)


def finish(session: pytest.Session) -> None:
    """Compare with what is committed, if every test of this folder ran and passed."""
    items = [item for item in session.items if HERE in item.path.parents]
    is_whole = {item.path for item in items} == set(HERE.glob("test_*.py")) and not session.config.option.keyword
    if not is_whole or not _ran.issuperset(item.nodeid for item in items):
        return
    if any(ends != {"passed"} for ends in _ends.values()):
        return  # a failure speaks for itself, and may be over at its second try
    page = written()
    if not PAGE.exists() or PAGE.read_text() != page:
        PAGE.write_text(page)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line("docs/reference/clients.md was old and has been written anew: commit it", red=True)


def written() -> str:
    """The page. Lines stand in the order of the tests."""
    rows = ["| Client | Version | Exercised | Result |", "|---|---|---|---|"]
    for _, _, line in sorted(_ends):
        rows.append(f"| {line.client} | {line.version} | {line.exercised} | works |")
    return INTRODUCTION + "\n" + "\n".join(rows) + "\n" + PHONES
