"""bin/check gives a second try to what depends on time or on other programs, and to nothing else."""

import json
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.check.__main__ import lost_tests, tell
from tests.check.outcome import read_playwright
from tests.check.plan import everything
from tests.check.processes import Processes, Stopped
from tests.check.run import MOST_TRIES, Run, Verdict
from tests.check.second_try import AGAIN
from tests.check.suite import ROOT, Command, Program, Pytest, Suite, When
from tests.harness.processes import is_running
from tests.harness.talk import eventually

MARKERS = "[pytest]\nmarkers =\n    cluster:\n    system:\n    clients:\n    timed:\n    finding:\n"

# Says on its first run that it ran, so that it can fail then and pass later.
BEGINNING = """
import os, pathlib, pytest

def runs(name):
    file = pathlib.Path(__file__).with_name(name)
    file.write_text(file.read_text() + "." if file.exists() else ".")
    return len(file.read_text())

def test_good():
    runs("good")
"""


# The plugins of this machine would take longer than the tests.
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


class Stage:
    """A small plan over one file of tests, run as bin/check would."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.said: list[str] = []
        self._capsys = capsys

    def suite(self, name: str, text: str, when: When = When.BESIDE) -> Suite:
        place = self.folder / name
        place.mkdir()
        (place / "pytest.ini").write_text(MARKERS)
        (place / "test_some.py").write_text(BEGINNING + text)
        program = [sys.executable, "-m", "pytest", "-q"]
        return Pytest(when, name, ["test_some.py"], ENVIRONMENT, program, place)

    def check(self, *suites: Suite) -> tuple[int, Verdict, list[str]]:
        """The code, the verdict, and the last lines."""
        verdict = Run(Processes(), self.folder, self.said.append).all(suites)
        code = tell(verdict, [], self.folder, 1)
        return code, verdict, self._capsys.readouterr().out.splitlines()

    def runs(self, suite: Suite, name: str) -> int:
        return len((self.folder / suite.name / name).read_text())


@pytest.fixture
def stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Stage:
    return Stage(tmp_path, capsys)


def test_what_fails_once_and_passes_alone_is_flaky_and_the_run_is_green(stage: Stage) -> None:
    late = "".join(f"@pytest.mark.{mark}\ndef test_{mark}():\n    assert runs('{mark}') == 2\n" for mark in AGAIN)
    suite = stage.suite("one", late)
    names = [f"test_some.py::test_{mark}" for mark in AGAIN]
    code, verdict, lines = stage.check(suite)
    assert (code, verdict.flaky, verdict.failed) == (0, names, [])
    assert [stage.runs(suite, name) for name in (*AGAIN, "good")] == [*[2] * len(AGAIN), 1]
    assert lines[-1] == f"{len(AGAIN) + 1} passed, 0 failed, 0 skipped"
    assert {f"   {name}" for name in names} < set(lines)
    assert (stage.folder / "flaky.txt").read_text().splitlines() == names


def test_whoever_reads_a_clock_has_a_second_try_without_a_mark(stage: Stage) -> None:
    texts = [
        "def test_itself():\n    import time\n    assert time.thread_time() > 0\n    assert runs('itself') == 2\n",
        "def test_inside():\n    import time\n    took = [time.perf_counter() for _ in 'ab']\n    assert runs('inside') == 2\n",
        "def test_none():\n    import time\n    assert time.time() > 0\n    assert runs('none') == 2\n",
    ]
    suite = stage.suite("one", "\n".join(texts))
    code, verdict, _ = stage.check(suite)
    assert (code, verdict.flaky, verdict.failed) == (
        1,
        ["test_some.py::test_inside", "test_some.py::test_itself"],
        ["test_some.py::test_none"],
    )


def test_what_talks_to_a_server_may_fail_once_and_the_failure_is_shown(stage: Stage) -> None:
    late = "@pytest.fixture\ndef server(): pass\n\ndef test_late(server):\n    assert runs('late') == 2"
    code, verdict, _ = stage.check(stage.suite("one", late))
    assert (code, verdict.flaky) == (0, ["test_some.py::test_late"])
    first = next(said for said in stage.said if said.startswith("\n== one:"))
    assert "assert 1 == 2" in first


def test_many_failures_are_no_chance_and_have_no_second_try(stage: Stage) -> None:
    each = f"@pytest.mark.timed\n@pytest.mark.parametrize('n', range({MOST_TRIES + 1}))\n"
    suite = stage.suite("one", f"{each}def test_n(n):\n    assert runs(str(n)) == 2")
    code, verdict, _ = stage.check(suite)
    assert (code, verdict.flaky, len(verdict.failed)) == (1, [], MOST_TRIES + 1)
    assert stage.runs(suite, "0") == 1


def test_a_run_tells_the_processor_time_of_a_suite_and_of_what_it_started(stage: Stage) -> None:
    busy = "import time; end = time.process_time() + 0.6\nwhile time.process_time() < end: pass"
    text = (
        f"import subprocess, sys\n\ndef test_busy():\n    subprocess.run([sys.executable, '-c', {busy!r}], check=True)"
    )
    _, verdict, lines = stage.check(stage.suite("one", text))
    used = verdict.results[0].processor_seconds
    assert 0.6 <= used < 30
    assert any(line.split()[:1] == ["one"] and line.split()[2] == f"{used:.0f}" for line in lines)


def test_what_fails_twice_is_red(stage: Stage) -> None:
    suite = stage.suite("one", "@pytest.mark.timed\ndef test_wrong():\n    assert not runs('wrong')")
    code, verdict, lines = stage.check(suite)
    assert (code, verdict.flaky, verdict.failed) == (1, [], ["test_some.py::test_wrong"])
    assert stage.runs(suite, "wrong") == 2
    assert lines[-1] == "1 passed, 1 failed, 0 skipped"
    assert not (stage.folder / "flaky.txt").exists()


@pytest.mark.parametrize("marks", ["", "@pytest.mark.system\n@pytest.mark.finding\n"])
def test_anything_else_that_fails_is_red_and_never_run_again(stage: Stage, marks: str) -> None:
    suite = stage.suite("one", f"{marks}def test_wrong():\n    assert runs('wrong') == 2")
    code, verdict, lines = stage.check(suite)
    assert (code, verdict.failed, stage.runs(suite, "wrong")) == (1, ["test_some.py::test_wrong"], 1)
    assert lines[-1] == "1 passed, 1 failed, 0 skipped"


def test_a_second_try_comes_when_all_else_is_done_and_a_failure_keeps_no_suite_from_running(stage: Stage) -> None:
    late = "@pytest.mark.timed\ndef test_late():\n    assert (pathlib.Path(__file__).parents[1] / 'last/good').exists()"
    first = stage.suite("first", late)
    wrong = stage.suite("wrong", "def test_wrong():\n    assert not runs('wrong')")
    last = stage.suite("last", "", When.ALONE)
    code, verdict, lines = stage.check(first, wrong, last)
    assert (code, verdict.flaky) == (1, ["test_some.py::test_late"])
    assert [result.suite.name for result in verdict.results] == ["first", "wrong", "last"]
    assert lines[-1] == "4 passed, 1 failed, 0 skipped"


@pytest.mark.parametrize("end", ["os._exit(0)", "os._exit(1)", "pytest.exit('enough')"])
def test_a_suite_that_breaks_off_is_red_whatever_its_code(stage: Stage, end: str) -> None:
    code, verdict, _ = stage.check(stage.suite("one", f"@pytest.mark.timed\ndef test_end():\n    {end}"))
    assert code == 1
    assert verdict.failed[0].startswith("one as a whole")


@pytest.mark.parametrize(("is_finding", "runs", "code"), [(False, 2, 0), (True, 1, 1)])
def test_a_program_is_tried_again_unless_it_knows_better(stage: Stage, is_finding: bool, runs: int, code: int) -> None:
    file = stage.folder / "ran"
    words = ["sh", "-c", f"echo >>{file}; [ $(wc -l <{file}) = 2 ]"]
    assert stage.check(Program(When.ALONE, "one", words, is_finding=is_finding))[0] == code
    assert file.read_text() == "\n" * runs


def test_the_end_of_a_run_ends_all_that_runs(tmp_path: Path) -> None:
    processes, file = Processes(), tmp_path / "pid"
    # The first passes over the interrupt, the second is a child of the suite's.
    command = Command(["sh", "-c", f"trap '' INT; sleep 60 & echo $! >{file}.new; mv {file}.new {file}; wait"])
    with ThreadPoolExecutor() as pool:
        running = pool.submit(processes.run, command, tmp_path / "log")
        while not file.exists():
            assert not running.done()
            time.sleep(0.01)
        processes.stop(grace=0.1)
        with pytest.raises(Stopped):
            running.result(10)
        with pytest.raises(Stopped):
            processes.run(command, tmp_path / "log")
    # Killed, it is gone in a moment: nobody waits for a child's child.
    eventually(lambda: not is_running(int(file.read_text())), seconds=10)


def test_a_run_that_takes_too_long_ends_what_runs_and_still_has_a_verdict(tmp_path: Path) -> None:
    processes, said = Processes(most_seconds_of_all=0.5), list[str]()
    suites = [Program(When.BESIDE, "hangs", ["sleep", "60"]), Program(When.ALONE, "too late", ["sleep", "60"])]
    verdict = Run(processes, tmp_path, said.append).all(suites)
    assert processes.seconds < 30
    assert verdict.failed == ["hangs", "too late"]
    assert "bin/check: ended after" in (tmp_path / "hangs.log").read_text()


def test_shares_are_all_of_it_and_a_file_is_in_one_of_them(stage: Stage) -> None:
    suite = stage.suite("one", "")
    for number in range(4):
        (stage.folder / "one" / f"test_{number}.py").write_text(
            "def test_a(): pass\n" + "def test_b(): pass\n" * (number % 2)
        )
    assert isinstance(suite, Pytest)
    shares = [
        Pytest(When.BESIDE, f"share {number}", [".", f"--share={number}/2"], suite.env, suite.program, suite.folder)
        for number in (1, 2)
    ]
    _, verdict, _ = stage.check(*shares)
    one, other = (result.outcome.passed for result in verdict.results)
    assert (len(one), len(other)) in ((3, 4), (4, 3))
    assert not {name.partition("::")[0] for name in one} & {name.partition("::")[0] for name in other}


def test_a_test_that_no_suite_runs_is_lost_unless_a_suite_broke_off(stage: Stage) -> None:
    known = {"test_some.py::test_good", "test_other.py::test_unknown"}
    _, verdict, _ = stage.check(stage.suite("one", ""))
    assert lost_tests(verdict, known) == ["test_other.py::test_unknown"]
    assert tell(verdict, lost_tests(verdict, known), stage.folder, 1) == 1
    _, verdict, _ = stage.check(stage.suite("two", "def test_end():\n    os._exit(1)"))
    assert lost_tests(verdict, known) == []


def test_tests_in_browsers_are_known_by_their_place(tmp_path: Path) -> None:
    def spec(line: int, status: str) -> dict[str, object]:
        tests = [{"status": status, "results": [{"duration": 1200}]}]
        return {"title": f"line {line}", "file": "talk.spec.ts", "line": line, "tests": tests}

    inner = {"specs": [spec(9, "unexpected"), spec(12, "skipped")]}
    report = {"suites": [{"specs": [spec(3, "expected")], "suites": [inner]}], "errors": []}
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report))
    outcome = read_playwright("browsers", file, 1)
    assert outcome.again == {"web/e2e/talk.spec.ts:9 line 9"}
    assert outcome.passed == {"web/e2e/talk.spec.ts:3 line 3"}
    assert outcome.skipped == {"web/e2e/talk.spec.ts:12 line 12"}
    assert not read_playwright("browsers", file, 0).is_whole
    assert not read_playwright("browsers", tmp_path / "none.json", 1).is_whole


def test_rules_contract_and_matrices_are_not_marked_as_a_matter_of_time() -> None:
    places = [*ROOT.glob("tests/rules/**/*.py"), *ROOT.glob("tests/contract/**/*.py")]
    places += [
        path for path in ROOT.glob("tests/features/**/*.py") if re.search("matrix|test_endpoints|model", path.name)
    ]
    marked = re.compile(rf"pytest\.mark\.({'|'.join(AGAIN)})\b")
    own = Path(__file__)
    assert [path.name for path in places if path != own and marked.search(path.read_text())] == []


def test_random_histories_are_findings() -> None:
    drawing = [path for path in ROOT.glob("tests/system/**/test_*.py") if "TERTULIA_SEED" in path.read_text()]
    assert len(drawing) >= 4
    assert [path.name for path in drawing if "pytest.mark.finding" not in path.read_text()] == []


def test_what_is_measured_is_measured_alone_and_names_are_files() -> None:
    suites = everything([])
    assert len({suite.name for suite in suites}) == len(suites)
    whens = [suite.when for suite in suites]
    assert whens == sorted(whens, key=[When.BESIDE, When.ALONE].index)
