"""What needs no server: format, lint, imports, types, the web client, and that all tests can be collected.

Each of them uses one core: all at once they take as long as the type check and the web client alone. mypy and ruff keep what
they know from run to run. With --fast the audit is left out, which asks a network, and the collecting, which the suites do; and
the web client, when it is as it was when it last passed.
"""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.check.plan import has_node
from tests.check.processes import Ended, Processes, Stopped
from tests.check.quick import state_of_web
from tests.check.suite import ROOT, Command

VENV = ROOT / ".venv" / "bin"
COLLECT = ["bin/test", "-p", "no:cacheprovider", "--collect-only", "-q", "tests"]
# bin/setup has built it already, unless it was changed since.
BUILT = "bin/setup --web"
WEB = f"{BUILT} && cd web && npm run -s types && npm run -s lint && npm run -s test"
WEB_FAST = WEB.replace("run -s lint", "run -s lint -- --cache --cache-strategy content")  # the last of it is prettier
PASSED = "web-passed"
"""A file with the state of the web client that was good."""


@dataclass(frozen=True)
class Check:
    name: str
    words: list[str]
    hint: str
    is_quick: bool = True
    """Whether --fast has it."""


CHECKS = [
    Check("format", [f"{VENV}/ruff", "format", "--check", "."], ".venv/bin/ruff format . mends it"),
    Check("lint", [f"{VENV}/ruff", "check", "."], ".venv/bin/ruff check --fix . mends some of it"),
    Check(
        "imports",
        [f"{VENV}/lint-imports", "--no-cache", "--no-logo"],
        "the layers are in pyproject.toml, section tool.importlinter; docs/explanation/architecture.md says why",
    ),
    Check("types", [f"{VENV}/mypy"], "mypy --strict, on what tool.mypy in pyproject.toml names"),
    Check("collected", COLLECT, f"{' '.join(COLLECT)} repeats it", is_quick=False),
    Check("sbom", ["bin/sbom", ".check/sbom.cdx.json"], "tests/check/sbom.py makes it of the lock files"),
    Check(
        "audit",
        ["bin/audit"],
        "take a newer version (bin/lock --upgrade), or say in tests/check/audit.py why not",
        is_quick=False,
    ),
    Check("web", ["bash", "-c", WEB], "npm run check in web/; npm run format mends the format"),
]


def run_static_checks(processes: Processes, folder: Path, say: Callable[[str], None], *, fast: bool = False) -> bool:
    """Whether all of them are good."""
    passed, web = folder / PASSED, state_of_web(ROOT, WEB)
    checks = [check for check in CHECKS if check.is_quick or not fast]
    if not has_node():
        say("Not on this machine: Node.js 20.19 with npm: the web client is neither checked nor built")
        checks = [check for check in checks if check.name != "web"]
    elif fast:
        is_known = bool(web) and passed.exists() and passed.read_text() == web
        words = ["bash", "-c", f"{BUILT} && echo It passed as it is" if is_known else WEB_FAST]
        checks = [replace(check, words=words) if check.name == "web" else check for check in checks]
    ended: dict[str, Ended] = {}

    def run(check: Check) -> None:
        with contextlib.suppress(Stopped):
            ended[check.name] = processes.run(Command(check.words), folder / f"{check.name}.log")

    threads = [threading.Thread(target=run, args=[check]) for check in checks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for check in checks:
        text = (folder / f"{check.name}.log").read_text(errors="replace").strip()
        say(f"\n== {check.name}: {ended[check.name].seconds:.0f} s")
        if ended[check.name].code == 0:
            say(text.rpartition("\n")[2])
        else:
            say(f"{text}\n  -> {check.hint}")
    failed = [name for name, one in ended.items() if one.code != 0]
    if "web" in ended.keys() - failed:
        passed.write_text(web)
    if failed:
        say(f"\n== Checks failed before any test: {', '.join(failed)}")
    return not failed


def collected(folder: Path) -> set[str]:
    """The names of all tests in Python."""
    lines = (folder / "collected.log").read_text().splitlines()
    return {line for line in lines if "::" in line}
