"""bin/check: everything that must hold before a commit lands, in one run.

    bin/check          all of it (the plan is tests/check/plan.py)
    bin/check --fast   format, lint, types, imports, the web client if it differs, and the quick tests (tests/check/quick.py)

What needs no server comes first, and a failure there ends the run. Everything else runs to its end, and the last lines are the
verdict: a table of the suites, what failed, what is flaky. Logs and the list of flaky tests stay in .check/.
"""

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Set
from pathlib import Path

from tests.check.plan import everything, quick
from tests.check.processes import Processes
from tests.check.quick import MOST_SECONDS, choose_here
from tests.check.run import Run, Verdict
from tests.check.static import PASSED, collected, run_static_checks
from tests.check.suite import ROOT

FOLDER = ROOT / ".check"
KEPT = {PASSED, "ready-made"}
"""What --fast keeps of the run before: each says itself what it is of, and is made anew when that is another."""
_printing = threading.Lock()


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--fast"]):
        say((__doc__ or "").strip())
        return 2
    missing: list[str] = []
    fast = bool(arguments)
    choice = choose_here() if fast else None
    suites = quick(choice) if choice else everything(missing)
    for lack in missing:
        say(f"Not on this machine: {lack}")
    if missing and os.environ.get("CI") == "true":
        say("  -> in CI this is an error")
        return 1
    if choice and choice.left_out:
        say(f"Of what differs, and of its areas, these are left out: together they take more than {MOST_SECONDS} s")
        say("\n".join(f"   {file}" for file in choice.left_out))
    clear(FOLDER, KEPT if fast else set())
    began, idle = time.monotonic(), idle_seconds()
    processes = Processes()
    # A shell starts what is to run in the background with the first of them ignored, and so would all suites.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        if not run_static_checks(processes, FOLDER, say, fast=fast):
            return 1
        verdict = Run(processes, FOLDER, say).all(suites)
    except KeyboardInterrupt:
        say("\n== Interrupted")
        return 130
    finally:
        processes.stop()
    lost = [] if fast or missing else lost_tests(verdict, collected(FOLDER))
    took = time.monotonic() - began
    say(f"\n== The cores were idle for {100 * (idle_seconds() - idle) / took:.0f}% of the time")
    return tell(verdict, lost, FOLDER, took)


def clear(folder: Path, kept: Set[str]) -> None:
    """Empty it, but for these."""
    folder.mkdir(exist_ok=True)
    for each in folder.iterdir():
        if each.name not in kept:
            shutil.rmtree(each) if each.is_dir() else each.unlink()


def idle_seconds() -> float:
    """Since the machine started, the mean of its cores. Waiting for a disk counts as idle."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0
    _, _, _, _, idle, waiting, *_ = stat.read_text().split("\n", 1)[0].split()
    return (int(idle) + int(waiting)) / os.sysconf("SC_CLK_TCK") / (os.cpu_count() or 1)


def say(text: str) -> None:
    with _printing:
        print(text, flush=True)


def lost_tests(verdict: Verdict, known: set[str]) -> list[str]:
    """Tests that no suite ran: in a folder or with a mark that the plan does not know, or without a lasting name."""
    if not all(result.outcome.is_whole for result in verdict.results):
        return []
    ran = {name for result in verdict.results for name in result.outcome.tests}
    return sorted(known - ran)


def tell(verdict: Verdict, lost: list[str], folder: Path, seconds: float) -> int:
    """The last lines; the closing one is for machines."""
    say(f"\n== {'Suite':<20}{'seconds':>8}{'of cpu':>8}{'passed':>8}{'failed':>8}{'skipped':>8}")
    for result in verdict.results:
        counts = (len(result.outcome.passed), result.outcome.failed, len(result.outcome.skipped))
        took = f"{result.seconds:>8.0f}{result.processor_seconds:>8.0f}"
        say(f"   {result.suite.name:<20}{took}" + "".join(f"{count:>8}" for count in counts))
    if verdict.seconds_again:
        say(f"   {'second try':<20}{verdict.seconds_again:>8.0f}{'':>8}{len(verdict.flaky):>8}")
    for title, names in (
        ("No suite ran these (tests/check/plan.py), or their names are others in each run", lost),
        ("Failed", verdict.failed),
        ("Flaky: failed, and passed alone at the end; work these off (.check/flaky.txt)", verdict.flaky),
    ):
        if names:
            say("\n".join([f"\n== {title}", *(f"   {name}" for name in names)]))
    if verdict.flaky:
        (folder / "flaky.txt").write_text("".join(f"{name}\n" for name in verdict.flaky))
    failed = len(verdict.failed) + len(lost)
    say(f"\n== {'Checks failed' if failed else 'All checks passed'} in {seconds:.0f} s")
    say(f"{verdict.passed} passed, {failed} failed, {verdict.skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
