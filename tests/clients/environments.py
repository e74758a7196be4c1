"""Environments of other people's programs, made on first use in `.clients/` and kept until what they are made from changes.

Each has exactly the pinned packages, checked by hash; nothing of ours is in them, and nothing of them in our `.venv`.
`python -m tests.clients.environments` makes them all.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
PLACE = HERE.parents[1] / ".clients"
REQUIREMENTS = HERE / "requirements"
NODE = HERE / "node"
PYTHON_OF_THE_TERMINAL = "3.10"


class Missing(Exception):
    """This machine lacks something that an environment needs; the text says what."""


def programs_of_bots() -> Path:
    """The folder of programs with PyPI's zulip, zulip_bots and zulip_botserver."""
    return _python_environment("bots", sys.executable)


def programs_of_apprise() -> Path:
    return _python_environment("apprise", sys.executable)


def programs_of_terminal() -> Path:
    """The terminal client. Some of what it needs comes as source: what builds it is pinned as well."""
    return _python_environment("terminal", find_python(PYTHON_OF_THE_TERMINAL), build=True)


def programs_of_schemathesis() -> Path:
    """Generates requests from the API description."""
    return _python_environment("schemathesis", sys.executable)


def programs_of_patroni() -> Path:
    """Watches over PostgreSQL in tests/cluster. It needs a package that comes as source."""
    return _python_environment("patroni", sys.executable, build=True)


def node_modules() -> Path:
    """The folder to run Node's programs in."""
    npm = shutil.which("npm")
    if npm is None:
        raise Missing("npm (Node.js)")
    made_from = [NODE / name for name in ("package.json", "package-lock.json", ".npmrc")]
    with _made("node", made_from, npm) as (folder, is_new):
        if is_new:
            for file in made_from:
                shutil.copy(file, folder)
            _run(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder)
    return folder


def versions() -> dict[str, str]:
    """Every pinned package of Python and Node, with its version; those of npm are called `npm <name>`."""
    found: dict[str, str] = {}
    for file in REQUIREMENTS.glob("*.txt"):
        found |= dict(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", file.read_text(), re.MULTILINE))
    lock = msgspec.json.decode((NODE / "package-lock.json").read_bytes())
    return found | {
        f"npm {path.removeprefix('node_modules/')}": package["version"]
        for path, package in lock["packages"].items()
        if path
    }


@cache
def find_python(version: str) -> str:
    """On PATH or under pyenv, where a program of that name may also be a shim that leads nowhere."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [f"python{version}", *map(str, sorted(pyenv.glob(f"versions/{version}*/bin/python3")))]
    for candidate in candidates:
        program = shutil.which(candidate)
        if program and _said_by(program) == version:
            return program
    raise Missing(f"Python {version}, on PATH or under pyenv")


def _said_by(program: str) -> str:
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([program, "-c", question], capture_output=True, text=True, check=False).stdout.strip()


def _python_environment(name: str, python: str, *, build: bool = False) -> Path:
    pinned, tools = REQUIREMENTS / f"{name}.txt", REQUIREMENTS / "build.txt"
    with _made(name, [pinned, tools] if build else [pinned], python) as (folder, is_new):
        program = str(folder / "bin" / "python")
        install = (program, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--require-hashes")
        if is_new:
            _run(python, "-m", "venv", str(folder))
            if build:
                _run(*install, "--only-binary", ":all:", "-r", str(tools))
                _run(*install, "--no-build-isolation", "--use-pep517", "-r", str(pinned))
            else:
                _run(*install, "--only-binary", ":all:", "-r", str(pinned))
    return folder / "bin"


@contextmanager
def _made(name: str, made_from: list[Path], program: str) -> Iterator[tuple[Path, bool]]:
    """The folder, and whether it is still to be filled. Whoever comes meanwhile waits."""
    PLACE.mkdir(exist_ok=True)
    folder, stamp = PLACE / name, PLACE / f"{name}.stamp"
    wanted = hashlib.sha256(b"".join([program.encode(), *(file.read_bytes() for file in made_from)])).hexdigest()
    with (PLACE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists() and stamp.read_text() == wanted:
            yield folder, False
            return
        stamp.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        yield folder, True
        stamp.write_text(wanted)


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


MAKERS = (
    programs_of_bots,
    programs_of_apprise,
    programs_of_schemathesis,
    programs_of_terminal,
    programs_of_patroni,
    node_modules,
)


def main() -> None:
    missing = []
    for make in MAKERS:
        try:
            print(make())
        except Missing as error:
            missing.append(str(error))
    if missing:
        sys.exit(f"Not on this machine: {'; '.join(missing)}")


if __name__ == "__main__":
    main()
