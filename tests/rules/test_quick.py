"""bin/check --fast leaves out what takes long, always the same for the same difference, and says so."""

import subprocess
from pathlib import Path

from tests.check.plan import everything, quick
from tests.check.quick import ALWAYS, MOST_SECONDS, choose, choose_here, differing, state_of_web
from tests.check.seconds import recorded_seconds
from tests.check.suite import ROOT, Pytest

LOGINS, USERS, SENDING, SHORT = (
    f"tests/features/{name}.py"
    for name in ("people/test_logins", "people/test_users", "messaging/test_sending", "messaging/test_short")
)
FILES = [LOGINS, USERS, SENDING, SHORT]
SECONDS = {LOGINS: 100.0, USERS: 20.0, SENDING: 30.0}


def test_without_a_difference_only_short_files_run() -> None:
    assert choose(FILES, set(), SECONDS).files == [*ALWAYS, SHORT]


def test_what_differs_brings_the_files_of_its_area() -> None:
    chosen = choose(FILES, {"src/tertulia/people/logins/rules.py", "README.md"}, SECONDS)
    assert chosen.files == [*ALWAYS, SHORT, LOGINS, USERS]
    assert chosen.left_out == []


def test_a_file_of_tests_that_differs_runs_with_its_area() -> None:
    assert choose(FILES, {SENDING}, SECONDS).files == [*ALWAYS, SHORT, SENDING]
    assert choose(FILES, {"tests/features/people/conftest.py"}, SECONDS).files == [*ALWAYS, SHORT, LOGINS, USERS]


def test_what_lies_in_no_area_brings_none() -> None:
    others = {"src/tertulia/__main__.py", "tests/features/conftest.py", "docs/people/page.md"}
    assert choose(FILES, others, SECONDS).files == [*ALWAYS, SHORT]


def test_what_takes_too_long_is_left_out_and_named_and_what_differs_itself_comes_first() -> None:
    seconds = {**SECONDS, LOGINS: MOST_SECONDS - 25.0}
    chosen = choose(FILES, {LOGINS, "src/tertulia/messaging/sending/rules.py"}, seconds)
    assert chosen.files == [*ALWAYS, SHORT, LOGINS, USERS]
    assert chosen.left_out == [SENDING]


def test_the_choice_leaves_out_no_folder_that_has_quick_tests() -> None:
    folders = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    marked = {"tests/clients", "tests/system", "tests/upgrade"}
    ours = {"tests/rules", "tests/contract", "tests/cluster", *(f for f in folders if f.startswith("tests/features"))}
    assert folders == marked | ours
    here = choose_here()
    assert set(ALWAYS) <= set(here.files)
    assert all((ROOT / file).exists() for file in here.files)
    assert not {*here.left_out} - recorded_seconds().keys()


def test_the_quick_tests_are_a_part_and_everything_is_whole() -> None:
    assert all(isinstance(suite, Pytest) and SHORT in suite.selection for suite in quick(choose(FILES, set(), SECONDS)))
    whole = {word for suite in everything([]) if isinstance(suite, Pytest) for word in suite.selection}
    assert {"tests/features", "tests/contract", "tests/rules", "tests/system"} <= whole


def test_what_differs_is_what_the_branch_changed_and_what_is_not_committed(tmp_path: Path) -> None:
    assert differing(tmp_path) == set()
    _git(tmp_path, "init", "-q", "-b", "main")
    _commit(tmp_path, "landed")
    _git(tmp_path, "checkout", "-q", "-b", "branch")
    _commit(tmp_path, "ours")
    (tmp_path / "new").touch()
    (tmp_path / "landed").write_text("changed")
    assert differing(tmp_path) == {"ours", "new", "landed"}
    _git(tmp_path, "stash", "-q", "--include-untracked")
    assert differing(tmp_path) == {"ours"}
    _git(tmp_path, "checkout", "-q", "main")
    _commit(tmp_path, "theirs")
    _git(tmp_path, "checkout", "-q", "branch")
    assert differing(tmp_path) == {"ours"}


def test_the_state_of_the_web_client_is_of_its_files_alone(tmp_path: Path) -> None:
    assert state_of_web(tmp_path) == ""
    _git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "web").mkdir()
    _commit(tmp_path, "web/landed")
    _commit(tmp_path, ".gitignore", "node_modules")
    first = state_of_web(tmp_path, "word")
    (tmp_path / "other").write_text("beside it")
    (tmp_path / "web" / "node_modules").write_text("ignored")
    assert state_of_web(tmp_path, "word") == first != state_of_web(tmp_path, "another")
    (tmp_path / "web" / "new").write_text("")
    second = state_of_web(tmp_path, "word")
    (tmp_path / "web" / "landed").write_text("changed")
    third = state_of_web(tmp_path, "word")
    (tmp_path / "web" / "landed").unlink()
    assert len({first, second, third, state_of_web(tmp_path, "word")}) == 4


def _commit(folder: Path, name: str, text: str = "") -> None:
    (folder / name).write_text(text)
    _git(folder, "add", name)
    _git(folder, "commit", "-q", "-m", name)


def _git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)
