"""What bin/check --fast leaves out: its choice of tests, and whether the web client has passed as it is.

The tests, none of them marked slow or system:
- all of tests/rules and tests/contract: most of what can break, at a tenth of a second each;
- of the other folders every file that takes less than two seconds (it has no line in seconds.json);
- of what takes longer, the files that differ from what landed last, then those of the same area (tests/features/people for
  src/tertulia/people), the shortest first, while they take MOST_SECONDS altogether.

What landed last is where the branch left origin/main, or main if nothing is there; what is not committed differs too. The
same files and the same difference always give the same choice, and a run says what it left out. bin/check leaves out nothing.
"""

import hashlib
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from tests.check.seconds import recorded_seconds
from tests.check.suite import ROOT

ALWAYS = ("tests/rules", "tests/contract")
CHOSEN_FROM = ("tests/features", "tests/cluster")
"""The other folders have nothing that is neither slow nor of the system."""
MOST_SECONDS = 150
LANDED = ("origin/main", "main")


@dataclass(frozen=True)
class Choice:
    files: list[str]
    """And folders."""
    left_out: list[str]
    """Of what differs, or of its areas."""


def choose(files: Iterable[str], differing: set[str], seconds: Mapping[str, float]) -> Choice:
    """Of these files of tests, beside those that always run."""
    long = {file for file in files if file in seconds}
    own = long & differing
    of_areas = {file for file in long - own if _area("tests/features/", file) in _areas(differing)}
    wanted = [*_shortest_first(own, seconds), *_shortest_first(of_areas, seconds)]
    filled = accumulate(seconds[file] for file in wanted)
    chosen = {file for file, most in zip(wanted, filled, strict=True) if most <= MOST_SECONDS}
    return Choice([*ALWAYS, *sorted(set(files) - long), *sorted(chosen)], sorted({*wanted} - chosen))


def choose_here() -> Choice:
    """As the checkout is."""
    files = {file.relative_to(ROOT).as_posix() for folder in CHOSEN_FROM for file in (ROOT / folder).rglob("test_*.py")}
    return choose(files, differing(ROOT), recorded_seconds())


def differing(root: Path) -> set[str]:
    """The files of a checkout that are others than what landed last; none if that cannot be known."""
    base = next((said[0] for name in LANDED if (said := _git(root, "merge-base", "HEAD", name))), "HEAD")
    changed = _git(root, "diff", "--name-only", "--no-renames", "-z", base)
    return {*changed, *_git(root, "ls-files", "--others", "--exclude-standard", "-z")}


def state_of_web(root: Path, *words: str) -> str:
    """One text for all files of the web client and these words; none if it cannot be known."""
    names = _git(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z", "web")
    state = hashlib.sha256(repr(words).encode())
    for name in sorted(names):
        if (file := root / name).is_file():  # not deleted, nor a link to a folder
            state.update(f"{name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return state.hexdigest() if names else ""


def _shortest_first(files: set[str], seconds: Mapping[str, float]) -> list[str]:
    return sorted(files, key=lambda file: (seconds[file], file))


def _areas(files: Iterable[str]) -> set[str]:
    return {area for file in files for root in ("src/tertulia/", "tests/features/") if (area := _area(root, file))}


def _area(root: str, file: str) -> str:
    """The folder below it that the file is in; none for a file that lies there itself, or elsewhere."""
    return file.removeprefix(root).rpartition("/")[0].partition("/")[0] if file.startswith(root) else ""


def _git(root: Path, *words: str) -> list[str]:
    """The names it says; none if it is not there, or does not know."""
    try:
        ended = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except OSError:
        return []
    return [name for name in ended.stdout.replace("\0", "\n").split("\n") if name] if ended.returncode == 0 else []
