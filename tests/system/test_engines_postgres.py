"""PostgreSQL as we run it: made once, never lost, dead with its parent."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg2
import psycopg2.extensions
import pytest

from tertulia.engines import EngineFailed, Postgres, find_postgres
from tertulia.kernel.settings import Settings, load_settings
from tests.harness.processes import is_running
from tests.harness.server import Engines

pytestmark = pytest.mark.system

DEBIAN_15 = Path("/usr/lib/postgresql/15/bin")


@contextmanager
def session(url: str) -> Iterator[psycopg2.extensions.cursor]:
    connection = psycopg2.connect(url)
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            yield cursor
    finally:
        connection.close()


def ask(url: str, sql: str) -> str:
    with session(url) as cursor:
        cursor.execute(sql)
        row = cursor.fetchone()
        assert row is not None
        return str(row[0])


@pytest.fixture(params=["Debian's 15", "the wheel's 18"])
def programs(request: pytest.FixtureRequest) -> Path:
    """The oldest and the newest that we support; one of them is the one of the other tests."""
    if request.param == "Debian's 15":
        if not DEBIAN_15.is_dir():
            pytest.skip("PostgreSQL 15 is not installed here")
        return DEBIAN_15
    return find_postgres(Settings(postgres_bin="wheel"))


def test_what_was_committed_survives_kill_9_and_comes_back_on_the_same_port(programs: Path, folder: Path) -> None:
    with Postgres(programs, folder / "postgres") as postgres:
        url = postgres.url
        with session(url) as cursor:
            cursor.execute("create table note (text text); insert into note values ('kept')")
        postgres.kill()
        postgres.start()
        assert postgres.url == url
        assert ask(url, "select text from note") == "kept"


def test_it_writes_a_log_that_can_be_decoded_and_forgets_nothing(programs: Path, folder: Path) -> None:
    with Postgres(programs, folder / "postgres") as postgres:
        wanted = {
            "wal_level": "logical",
            "fsync": "on",
            "synchronous_commit": "on",
            "full_page_writes": "on",
            "max_slot_wal_keep_size": "-1",
            "server_encoding": "UTF8",
            "listen_addresses": "127.0.0.1",
        }
        assert {name: ask(postgres.url, f"show {name}") for name in wanted} == wanted


def test_nobody_enters_without_the_password(engines: Engines) -> None:
    stranger = engines.postgres.url.replace("://tertulia:", "://tertulia:wrong")
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        psycopg2.connect(stranger)


def test_a_stop_and_a_new_start_keep_data_and_password(folder: Path) -> None:
    programs = find_postgres(load_settings())
    with Postgres(programs, folder) as first, session(first.url) as cursor:
        cursor.execute("create table note (text text); insert into note values ('kept')")
    with Postgres(programs, folder, port=first.port) as second:
        assert second.url == first.url
        assert ask(second.url, "select text from note") == "kept"


def test_a_process_id_that_now_belongs_to_somebody_else_does_not_stop_the_start(folder: Path) -> None:
    programs = find_postgres(load_settings())
    with Postgres(programs, folder) as postgres:
        postgres.kill()
        lock = postgres.cluster / "postmaster.pid"
        with subprocess.Popen(["sleep", "60"]) as stranger:
            lines = lock.read_text().splitlines(keepends=True)
            lock.write_text("".join([f"{stranger.pid}\n", *lines[1:]]))
            postgres.start()
            assert ask(postgres.url, "select 1") == "1"
            stranger.kill()


def test_a_second_server_in_the_same_folder_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tertulia.engines.postgres._LEFTOVER_SECONDS", 0.3)
    programs = find_postgres(load_settings())
    with Postgres(programs, folder) as postgres:
        with pytest.raises(EngineFailed, match="already runs"):
            Postgres(programs, folder).start()
        assert ask(postgres.url, "select 1") == "1"


def test_a_folder_of_another_version_is_refused_with_advice(folder: Path) -> None:
    programs = find_postgres(load_settings())
    with Postgres(programs, folder) as postgres:
        pass
    (postgres.cluster / "PG_VERSION").write_text("9\n")
    with pytest.raises(EngineFailed, match=r"made by PostgreSQL 9.*TERTULIA_POSTGRES_BIN"):
        Postgres(programs, folder).start()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal")
def test_engines_die_with_a_parent_that_was_killed(folder: Path) -> None:
    script = """
import sys, time
from pathlib import Path
from tertulia.engines import Nats, Postgres, find_nats_server, find_postgres
from tertulia.kernel.settings import load_settings
settings = load_settings()
with Postgres(find_postgres(settings), Path(sys.argv[1], "postgres")) as postgres, \
     Nats(find_nats_server(settings), Path(sys.argv[1], "nats")) as nats:
    print(postgres.process.pid, nats.process.pid, flush=True)
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", script, str(folder)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        children = [int(word) for word in parent.stdout.readline().split()]
        assert len(children) == 2
        assert all(is_running(pid) for pid in children)
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 15
    while any(is_running(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_running(pid) for pid in children)
    with Postgres(find_postgres(load_settings()), folder / "postgres") as postgres:
        assert ask(postgres.url, "select 1") == "1"
