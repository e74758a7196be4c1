"""What `tertulia doctor` finds: each mistake is made."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import psycopg2
import pytest

from tertulia.engines import Nats, Postgres, find_nats_server, find_postgres, free_port
from tertulia.engines import nats as nats_engine
from tertulia.kernel.form import own_form
from tertulia.kernel.settings import load_settings
from tertulia.migrations import migrate
from tests.cluster.disks import SmallDisk
from tests.harness.command import tertulia
from tests.harness.forwarder import Forwarder
from tests.harness.server import Engines, OwnServer, Server

SOURCE = Path(__file__).parents[3] / "src"


@pytest.fixture
def own(server: Server) -> OwnServer:
    if not isinstance(server, OwnServer):
        pytest.skip("the doctor looks at a machine that the server runs on")
    return server


def examine(settings: Mapping[str, object], **environment: str) -> tuple[int, dict[str, str]]:
    """The exit code, and what it says of each thing."""
    env = {f"TERTULIA_{name.upper()}": str(value) for name, value in settings.items()} | environment
    done = tertulia("doctor", env=env)
    assert done.stderr == "", done.stderr
    lines = [line[8:].partition(": ") for line in done.stdout.splitlines()]
    said = [line[:8].strip() for line in done.stdout.splitlines()]
    return done.returncode, {name: f"{how} {text}" for how, (name, _, text) in zip(said, lines, strict=True)}


def good(server: OwnServer, **more: object) -> dict[str, object]:
    kept = {"storage_folder": server.files, "sealing_key_file": server.sealing_keys, "mail_folder": server.folder}
    return {"postgres_url": server.postgres_url, "nats_url": server.nats_url, "port": free_port(), **kept, **more}


def test_a_good_installation_is_found_good_without_programs_that_only_trying_it_out_needs(own: OwnServer) -> None:
    code, said = examine(good(own, postgres_bin="/nowhere"))
    assert (code, [text for text in said.values() if text.startswith("WRONG")]) == (0, [])
    assert said["for `tertulia dev`"].startswith("ok not possible here")


def test_settings_that_no_process_could_use_are_named(own: OwnServer, tmp_path: Path) -> None:
    nobody = free_port()
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        code, said = examine(
            good(
                own,
                port=taken,
                mail_rate="often",
                smtp_url="smtp:/nowhere",
                external_host="chat.example.com",
                password_memory_mib=18,
            ),
            TERTULIA_POSTGRES_ULR="postgresql://misspelt",
        )
    assert code == 1
    assert "mail_rate: 'often' is not a rate" in said["settings"]
    assert "TERTULIA_POSTGRES_ULR is no setting, and has no effect; is TERTULIA_POSTGRES_URL meant?" in said["settings"]
    assert "set external_scheme to https" in said["settings"]
    assert "set password_memory_mib to 19 at least" in said["settings"]
    assert "smtp_url must look like" in said["mail"]
    assert said["ports"].startswith(f"WRONG port {taken} of 127.0.0.1 is used by another program")
    code, said = examine(good(own, smtp_url=f"smtp://127.0.0.1:{nobody}", external_host="https://chat.example.com/"))
    assert (code, "without https://" in said["settings"]) == (1, True)
    unanswered = {
        "smtp_url": f"smtp://127.0.0.1:{nobody}",
        "mail_in_port": nobody,
        "mail_in_address": "r+%s@example.com",
    }
    code, said = examine(good(own, **unanswered, storage_folder="/proc/files"))
    assert said["mail"].startswith(f"WRONG 127.0.0.1:{nobody} takes none from us")
    assert said["mail in"].startswith(f"WRONG `tertulia mail` does not answer at 127.0.0.1:{nobody}")
    assert code == 1
    code, said = examine(good(own, mail_folder="", storage_folder=tmp_path / "not" / "yet"))
    assert (code, said["mail"].startswith("WARNING none is sent")) == (0, True)
    assert not (tmp_path / "not").exists(), "it would belong to whoever ran the doctor"


def test_a_package_without_the_web_client_is_noticed(own: OwnServer, tmp_path: Path) -> None:
    left_out = shutil.ignore_patterns("built", "__pycache__")
    shutil.copytree(SOURCE / "tertulia", tmp_path / "tertulia", ignore=left_out)
    code, said = examine(good(own), PYTHONPATH=str(tmp_path))
    assert (code, said["web client"].startswith("WARNING this package has none")) == (0, True), said
    made = tmp_path / "tertulia" / "content" / "webclient" / "built"
    made.mkdir()
    (made / "index.html").touch()
    assert examine(good(own), PYTHONPATH=str(tmp_path))[1]["web client"] == "ok built"


@pytest.fixture
def weak_role(engines: Engines) -> Iterator[str]:
    """The address of a database whose owner may not replicate."""
    name = f"weak_{os.getpid()}"
    administer(engines, f"create role {name} login password 'secret'", f"create database {name} owner {name}")
    url = engines.postgres.url_of(name).split("@")[1]
    try:
        migrate(weak := f"postgresql://{name}:secret@{url}")
        yield weak
    finally:
        administer(engines, f"drop database {name} with (force)", f"drop role {name}")


def administer(engines: Engines, *statements: str, database: str = "postgres") -> None:
    with closing(psycopg2.connect(engines.postgres.url_of(database))) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


def test_a_database_that_the_relay_or_this_program_cannot_use_is_noticed(engines: Engines, weak_role: str) -> None:
    settings = {"postgres_url": weak_role, "nats_url": engines.nats.url}
    name = weak_role.rpartition("/")[2]
    administer(engines, "update schema_version set version_num = '0000'", database=name)
    said = examine(settings)[1]["PostgreSQL"]
    assert f'WRONG the account may not read the stream of changes: alter role "{name}" replication' in said
    assert f"the database has form 0000 and this program is for {own_form()}: run `tertulia migrate`" in said
    newer = "update schema_version set version_num = '9999'"
    administer(engines, newer, "update oldest_program set form = '9998'", database=name)
    administer(engines, f"alter role {name} replication", f"alter role {name} set synchronous_commit = off")
    said = examine(settings)[1]["PostgreSQL"]
    assert f"this program is too old: it is for form {own_form()}" in said
    assert "synchronous_commit is off" in said
    assert "stream of changes" not in said
    said = examine(settings | {"postgres_url": weak_role.replace("secret", "guess")})[1]["PostgreSQL"]
    assert said == f'WRONG password authentication failed for user "{name}"'


def test_a_nats_that_writes_to_disk_too_seldom_is_noticed(
    own: OwnServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor = free_port()
    told = nats_engine._CONFIGURATION + f'http: "127.0.0.1:{monitor}"\n'
    program = find_nats_server(load_settings())

    def said_of(configuration: str) -> str:
        monkeypatch.setattr(nats_engine, "_CONFIGURATION", configuration)
        with Nats(program, folder / "nats") as nats:
            settings = good(own, nats_url=nats.url, nats_monitor_url=f"http://127.0.0.1:{monitor}")
            return examine(settings)[1]["NATS"]

    assert "on disk within 10 s" in said_of(told)
    said = said_of(told.replace(', sync_interval: "{sync_seconds}s"', ""))
    assert said.startswith("WRONG NATS at 127.0.0.1 writes to disk every 120 s")
    assert said_of(nats_engine._CONFIGURATION.replace("http:", "# http:")).startswith("WARNING version")


def test_what_a_running_server_will_stumble_over_is_noticed(engines: Engines, weak_role: str) -> None:
    """Clocks apart, a slot that has lost its log, two relays of different versions."""
    name = weak_role.rpartition("/")[2]
    settings = {"postgres_url": weak_role, "nats_url": engines.nats.url, "slot": name}
    administer(engines, f"alter role {name} replication", f"alter role {name} set search_path = public, pg_catalog")
    later = "select pg_catalog.clock_timestamp() + interval '90 s'"
    clock = f"create function public.clock_timestamp() returns timestamptz language sql as $$ {later} $$"
    administer(engines, clock, database=name)
    old, new = (psycopg2.connect(weak_role, application_name=f"tertulia relay 0.{n}.0 form 0001") for n in (1, 2))
    with closing(old), closing(new):
        said = examine(settings)[1]["PostgreSQL"]
    assert "its clock is 90 s ahead of the one here: let both machines follow NTP" in said
    assert "relays of versions 0.1.0 and 0.2.0 run" in said
    administer(engines, f"select pg_create_logical_replication_slot('{name}', 'pgoutput')", database=name)
    try:
        assert "has lost" not in examine(settings)[1]["PostgreSQL"]
        lost = "create view public.pg_replication_slots as select slot_name, null::pg_lsn as restart_lsn, 'lost' as wal_status"
        administer(engines, f"{lost}, confirmed_flush_lsn from pg_catalog.pg_replication_slots", database=name)
        administer(engines, f"grant select on public.pg_replication_slots to {name}", database=name)
        assert f"the slot {name} has lost what it kept for the relay" in examine(settings)[1]["PostgreSQL"]
    finally:
        administer(engines, f"select pg_drop_replication_slot('{name}')", database=name)


def test_a_postgresql_that_keeps_too_little_for_the_relay_or_has_another_encoding_is_noticed(
    own: OwnServer, folder: Path
) -> None:
    with Postgres(find_postgres(load_settings()), folder / "postgres") as postgres:
        engines = Engines(postgres, Nats(Path(), folder))
        administer(engines, "create database latin encoding 'LATIN1' locale 'C' template template0")
        administer(engines, "alter system set wal_level = replica")
        postgres.restart()
        said = examine(good(own, postgres_url=postgres.url_of("latin")))[1]["PostgreSQL"]
    assert "set wal_level = logical and restart PostgreSQL" in said
    assert "the database's encoding is not UTF8: make it with `encoding 'UTF8' template template0`" in said


def test_engines_that_are_too_old_are_noticed(own: OwnServer) -> None:
    """None are to be had here, so these say on the way that they are older than they are."""
    with closing(psycopg2.connect(own.postgres_url)) as connection:
        number = str(connection.server_version).encode()
    with Forwarder(own.postgres_url, changed=(number, b"14" + number[2:])) as way:
        code, said = examine(good(own, postgres_url=way.url))
    assert (code, said["PostgreSQL"]) == (1, "WRONG version 14 is too old: 15 or newer is needed")
    parts = urlsplit(own.nats_url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10) as greeted:
        [minor] = re.findall(rb'"version":"2\.(\d\d)\.', greeted.recv(4096))
    with Forwarder(own.nats_url, changed=(b'"version":"2.%s' % minor, b'"version":"2.10')) as way:
        code, said = examine(good(own, nats_url=way.url))
    assert (code, said["NATS"]) == (1, "WRONG version 2.10 is too old: 2.11 or newer is needed")


def test_a_machine_with_too_few_open_files_is_noticed(own: OwnServer) -> None:
    env = {f"TERTULIA_{name.upper()}": str(value) for name, value in good(own).items()}
    command = f"ulimit -n 1000 && exec {shlex.quote(sys.executable)} -m tertulia doctor"
    done = subprocess.run(["bash", "-c", command], env=os.environ | env, capture_output=True, text=True, check=False)
    assert "WARNING machine: a process may have 1000 open files" in done.stdout, done


def test_a_disk_that_is_nearly_full_is_noticed(own: OwnServer) -> None:
    try:
        disk = SmallDisk(8)
    except (PermissionError, OSError) as problem:
        pytest.skip(f"no small disk can be made here: {problem}")
    try:
        assert examine(good(own, storage_folder=disk.place))[1]["machine"].startswith("ok")
        disk.fill()
        said = examine(good(own, storage_folder=disk.place))[1]["machine"]
        assert said.startswith(f"WARNING the disk of {disk.place} is nearly full")
    finally:
        disk.unmount()


def test_the_files_of_dev_that_nobody_has_uploaded_yet_are_no_mistake(own: OwnServer) -> None:
    done = tertulia("doctor", "--data", str(own.folder / "data"))
    assert re.search(r"^ok      files: ", done.stdout, re.MULTILINE), done.stdout
