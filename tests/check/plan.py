"""The whole plan of bin/check: one line for each suite.

Those BESIDE run three at a time, in this order, the longest first, so that no lane is left alone with a long one; those that
wait much begin beside those that compute. Those ALONE follow one by one. What may have a second try gets it after all of them.

CI has 40 minutes on two cores. A new suite takes its place by its length; whatever measures is ALONE.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.check.quick import Choice
from tests.check.suite import ROOT, Playwright, Program, Pytest, Suite, When

BESIDE, ALONE = When.BESIDE, When.ALONE


def everything(missing: list[str]) -> list[Suite]:
    """What this machine lacks is added to `missing`."""
    return [
        *shared("features", 3, "tests/features"),
        *shared("system", 2, "tests/system", "tests/upgrade", "-m", "system and not finding"),
        *browsers(missing),
        *installs(missing),
        Pytest(BESIDE, "histories", ["tests/system", "-m", "finding"]),
        *cluster(missing),
        contract(missing),
        Pytest(BESIDE, "clients", ["tests/clients", "-m", "clients"]),  # installs them on first use, into .clients/
        Pytest(BESIDE, "rules", ["tests/rules"]),
        Program(BESIDE, "site", ["bin/docs", ".check/site"]),  # of the docs; its pages are listed in docs/site/conf.py
        *first_steps(missing),
        *gate(),
    ]


def quick(choice: Choice) -> list[Suite]:
    """What a developer waits for before a commit."""
    return shared("quick", 3, *choice.files, "-m", "not slow and not system")


def shared(name: str, parts: int, *selection: str) -> list[Suite]:
    """A suite that is too long for one lane, dealt out by the seconds that its files took (seconds.py)."""
    return [
        Pytest(BESIDE, f"{name} {number}", [*selection, f"--share={number}/{parts}"]) for number in range(1, parts + 1)
    ]


def browsers(missing: list[str]) -> list[Suite]:
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    if has_node() and os.access(chromium, os.X_OK):
        return [Playwright(BESIDE, "browsers")]
    missing.append("Chromium with Node.js: apt-get install chromium (.ci/run does it as root)")
    return []


def cluster(missing: list[str]) -> list[Suite]:
    """The topology of docs/how-to/high-availability.md, hurt in its most telling ways. The long form is bin/soak --cluster."""
    if shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None:
        missing.append("HAProxy: apt-get install haproxy (.ci/run does it as root)")
        return []
    return [Pytest(BESIDE, "cluster", ["tests/cluster", "-m", "cluster"])]


def installs(missing: list[str]) -> list[Suite]:
    """The three pages by which the server is installed, from a bare Debian on. The long forms are those of bin/soak."""
    programs = ["debootstrap", "buildah", "caddy"]
    absent = [each for each in programs if shutil.which(each, path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None]
    if absent and os.geteuid() == 0:  # who is not root is told by the tests, which are skipped
        missing.append(f"Bare roots: apt-get install {' '.join(absent)} (.ci/run does it as root)")
        return []
    return [Pytest(BESIDE, "installs", ["tests/system", "-m", "installs"])]


def contract(missing: list[str]) -> Suite:
    """What a stranger could ask any server, and what only old ones do, is asked of the oldest PostgreSQL that we support;
    everything else, and on a developer's machine this, of the newest."""
    place, env = Path("/usr/lib/postgresql/15/bin"), {}
    if (place / "initdb").exists():
        env["TERTULIA_POSTGRES_BIN"] = str(place)
    else:
        missing.append("PostgreSQL 15: apt-get install postgresql-15 (.ci/run does it as root)")
    return Pytest(BESIDE, "contract", ["tests/contract", "tests/system/test_relay_copied_slot.py"], env)


def first_steps(missing: list[str]) -> list[Suite]:
    """The suites run on one version of Python. The others get the wheel, installed as a user would, and take the first steps."""
    suites: list[Suite] = []
    for version in ("3.11", "3.12", "3.13"):
        if version == f"{sys.version_info.major}.{sys.version_info.minor}":
            continue
        if python := _find_python(version):
            suites.append(Program(BESIDE, f"Python {version}", ["bin/smoke", python]))
        else:
            missing.append(f"Python {version}: install it, or put it on PATH or under pyenv")
    return suites


def gate() -> list[Suite]:
    """What the hot paths cost. It has three tries of its own."""
    if not (ROOT / "bench" / "gate.py").exists() and not (ROOT / "bench" / "gate").is_dir():
        return []
    return [Program(ALONE, "gate", ["bin/bench", "gate"], is_finding=True)]


def has_node() -> bool:
    if shutil.which("npm") is None or shutil.which("node") is None:
        return False
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    numbers = version.strip().removeprefix("v").split(".")
    return len(numbers) == 3 and (int(numbers[0]), int(numbers[1])) >= (20, 19)


def _find_python(version: str) -> str | None:
    places = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [shutil.which(f"python{version}"), *map(str, sorted(places.glob(f"{version}*/bin/python3")))]
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    for candidate in filter(None, candidates):
        # What is found may be a shim that knows no such version.
        said = subprocess.run([candidate, "-c", asked], capture_output=True, text=True, check=False)
        if said.stdout.strip() == version:
            return candidate
    return None
