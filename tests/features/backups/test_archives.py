"""Archives of a running server: what is in them, what is refused, and what a process that dies leaves."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import psycopg2
import pytest

from tertulia.backups.encryption import new_identity, read_identities, read_recipients
from tertulia.backups.errors import BackupFailed, Damaged
from tertulia.backups.making import make_backup
from tertulia.backups.manifest import Manifest
from tertulia.backups.place import Place, open_place
from tertulia.backups.restoring import restore_backup
from tertulia.backups.retention import prune
from tertulia.backups.snapshot import open_session
from tertulia.backups.verifying import verify_backup, verify_sums
from tertulia.content.storage.orphans import OBJECTS_LOCK
from tests.features.backups.conftest import Source
from tests.harness.bucket import Bucket, s3_service
from tests.harness.command import said_once, tertulia
from tests.harness.files import upload
from tests.harness.forwarder import Forwarder
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import eventually

Archive = tuple[Path, Manifest]


def quiet(_: str) -> None:
    pass


def rows_of(url: str, statement: str) -> list[tuple[object, ...]]:
    connection = psycopg2.connect(url)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()
    finally:
        connection.close()


def is_empty(url: str) -> bool:
    return rows_of(url, "select count(*) from pg_class where relnamespace = 'public'::regnamespace") == [(0,)]


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_archive_is_restored_as_it_was_and_a_restore_can_be_repeated(
    source: Source, archive: Archive, empty_database: Callable[[], str], folder: Path
) -> None:
    place, manifest = archive
    url = empty_database()
    env = {"TERTULIA_POSTGRES_URL": url, "TERTULIA_STORAGE_FOLDER": str(folder / "files")}
    command = ("restore", f"{place}/latest", "--identity", str(source.key_file), "--json")
    (folder / "files").mkdir()
    half = next(path for path in Path(source.settings.storage_folder).rglob("*") if path.is_file())
    target = folder / "files" / half.relative_to(source.settings.storage_folder)
    target.parent.mkdir(parents=True)
    shutil.copy(half, target)  # of an attempt that was killed
    done = tertulia(*command, env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["name"] == manifest.name
    [(messages, newest)] = rows_of(url, "select count(*), max(id) from message")
    # The server goes on: its bots may have said something since.
    there = rows_of(source.settings.postgres_url, f"select count(*) from message where id <= {newest}")
    assert there == [(messages,)]
    copied = files_in(folder / "files")
    assert copied == {key: files_in(Path(source.settings.storage_folder))[key] for key in copied}
    assert len(copied) == manifest.objects >= 4
    assert "not empty" in said_once(tertulia(*command, env=env))


def test_nothing_in_an_archive_can_be_read_without_the_key(source: Source, archive: Archive) -> None:
    place, _ = archive
    stored = files_in(place)
    text = b"\n".join([*stored.values(), *(name.encode() for name in stored)])
    keys = [key for (key,) in rows_of(source.settings.postgres_url, "select key from attachment")]
    assert keys
    for secret in (b"content 1", b"PGDMP", b"public.message", *(str(key).encode() for key in keys)):
        assert secret not in text


def test_a_second_archive_copies_no_file_again_and_pruning_removes_what_nobody_needs(
    source: Source, archive: Archive, folder: Path
) -> None:
    place = folder / "place"
    shutil.copytree(archive[0], place)
    second = source.make(place)
    assert (second.copied, second.objects) == (0, archive[1].objects)
    other = Source(source.settings, new_identity()[1], source.key_file, source.identities)
    third = other.make(place)  # for somebody else, who could not open the copies that are there
    assert third.copied == third.objects
    (place / "2026-01-01T000000.000Z").mkdir()
    (place / "2026-01-01T000000.000Z" / "database").write_bytes(b"of a process that was killed")
    pruned = asyncio.run(prune(source.place(place), 1, 0))
    assert pruned.kept == [third.name]
    assert (sorted(pruned.removed), pruned.objects) == (sorted([archive[1].name, second.name]), second.objects)
    assert asyncio.run(verify_sums(source.place(place), third.name, quiet)) == third
    left = {path.name for path in place.iterdir() if files_in(path)} - {"erasures"}
    assert left == {third.name, "objects"}


def test_a_list_names_archives_and_verify_restores_one(source: Source, archive: Archive) -> None:
    place, manifest = archive
    done = tertulia("backup", "list", str(place))
    assert done.stdout.split("\t")[0] == manifest.name, done
    on = ("--on", source.settings.postgres_url)
    with open_session(source.settings.postgres_url) as session:  # of somebody who was killed
        session.ask("create database tertulia_verify_0123456789ab template template0")
    done = tertulia("backup", "verify", f"{place}/{manifest.name}", "-i", str(source.key_file), *on)
    assert (done.returncode, done.stdout.partition(":")[0]) == (0, f"{manifest.name} is good"), done
    left = rows_of(
        source.settings.postgres_url, "select datname from pg_database where datname like 'tertulia_verify%'"
    )
    assert left == []


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1000])


def swap(one: Path, other: Path) -> None:
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def is_noticed(work: Coroutine[Any, Any, object]) -> bool:
    try:
        asyncio.run(work)
    except Damaged:
        return True
    return False


def damages(place: Path, name: str) -> dict[str, Callable[[], object]]:
    """What can become of an archive. The larger files are left alone: it takes longer and shows no more."""
    archive = place / name
    one, other = sorted(
        path for path in (place / "objects").rglob("*") if path.is_file() and path.stat().st_size < 10**6
    )[:2]
    return {
        "a flipped bit in the manifest": lambda: flip(archive / "manifest.json"),
        "a flipped bit in the contents": lambda: flip(archive / "contents"),
        "a flipped bit in the database": lambda: flip(archive / "database"),
        "a database that is cut off": lambda: cut(archive / "database"),
        "a database that is gone": (archive / "database").unlink,
        "a flipped bit in a file": lambda: flip(one),
        "a file that is gone": one.unlink,
        "files that were swapped": lambda: swap(one, other),
    }


@pytest.mark.parametrize("is_encrypted", [True, False])
def test_what_was_damaged_is_refused_and_nothing_is_in_the_database(
    source: Source,
    archive: Archive,
    open_archive: Archive,
    empty_database: Callable[[], str],
    folder: Path,
    is_encrypted: bool,
) -> None:
    original, manifest = archive if is_encrypted else open_archive
    identities = source.identities if is_encrypted else []
    url = empty_database()
    settings = msgspec.structs.replace(source.settings, postgres_url=url, storage_folder=str(folder / "files"))
    for what in damages(original, manifest.name):
        place = folder / what.replace(" ", "-")
        shutil.copytree(original, place)
        damages(place, manifest.name)[what]()
        where = source.place(place)
        restoring = restore_backup(settings, where, manifest.name, identities, quiet, keep_files=False)
        assert is_noticed(restoring), what
        assert is_empty(url), what
        assert is_noticed(verify_sums(where, manifest.name, quiet)), what


@pytest.fixture(scope="session")
def open_archive(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """Not encrypted."""
    place = tmp_path_factory.mktemp("open")
    return place, source.make(place, is_encrypted=False)


def test_the_wrong_key_and_no_key_are_refused(
    source: Source, archive: Archive, empty_database: Callable[[], str], folder: Path
) -> None:
    url = empty_database()
    (folder / "other.txt").write_text(new_identity()[0])
    settings = msgspec.structs.replace(source.settings, postgres_url=url, storage_folder=str(folder / "files"))
    for identities in (read_identities(folder / "other.txt"), []):
        restoring = restore_backup(settings, source.place(archive[0]), "latest", identities, quiet, keep_files=False)
        with pytest.raises(BackupFailed, match="secret key"):
            asyncio.run(restoring)
    assert is_empty(url)
    assert not files_in(folder)["other.txt"].startswith(b"PGDMP")
    assert set(files_in(folder)) == {"other.txt"}


def test_an_open_archive_is_not_taken_for_an_encrypted_one(
    source: Source, open_archive: Archive, empty_database: Callable[[], str], folder: Path
) -> None:
    url = empty_database()
    settings = msgspec.structs.replace(source.settings, postgres_url=url, storage_folder=str(folder / "files"))
    place = source.place(open_archive[0])
    for work in (
        restore_backup(settings, place, "latest", source.identities, quiet, keep_files=False),
        verify_backup(source.settings, place, "latest", source.identities, quiet),
    ):
        with pytest.raises(BackupFailed, match="not encrypted"):
            asyncio.run(work)
    assert is_empty(url)


def test_nobody_else_on_the_machine_reads_an_archive(source: Source, folder: Path) -> None:
    folder.chmod(0o755)
    environment = os.environ | source.settings.environment()
    command = [sys.executable, "-m", "tertulia", "backup", "make", str(folder), "--no-encryption"]
    made = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    archive = Path(made.stdout.strip())
    assert archive.stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in folder.rglob("*"))


def test_a_storage_with_other_files_is_left_alone_unless_they_may_stay(
    source: Source, archive: Archive, empty_database: Callable[[], str], folder: Path
) -> None:
    (folder / "9").mkdir()
    (folder / "9" / "other").write_bytes(b"of another server")
    settings = msgspec.structs.replace(source.settings, postgres_url=empty_database(), storage_folder=str(folder))

    async def restore(*, keep_files: bool) -> None:
        await restore_backup(
            settings, source.place(archive[0]), "latest", source.identities, quiet, keep_files=keep_files
        )

    with pytest.raises(BackupFailed, match="1 files that are not in the archive"):
        asyncio.run(restore(keep_files=False))
    asyncio.run(restore(keep_files=True))
    assert len(files_in(folder)) == archive[1].objects + 1


def test_without_recipients_nothing_is_made_unless_it_is_said(source: Source, folder: Path) -> None:
    env = {"TERTULIA_POSTGRES_URL": source.settings.postgres_url}
    told = said_once(tertulia("backup", str(folder / "place"), env=env))
    assert "--recipient" in told
    assert "--no-encryption" in told
    assert not (folder / "place").exists()


@pytest.fixture
def held_table(source: Source) -> Iterator[None]:
    """pg_dump waits for it."""
    connection = psycopg2.connect(source.settings.postgres_url)
    connection.cursor().execute("lock table saved_snippet in access exclusive mode")
    yield
    connection.close()


def test_a_backup_that_is_killed_leaves_no_archive_and_a_second_one_at_the_same_time_is_refused(
    source: Source, held_table: None, folder: Path
) -> None:
    place = folder / "place"
    command = [sys.executable, "-m", "tertulia", "backup", str(place), "-r", source.public]
    first = subprocess.Popen(command, env=os.environ | source.settings.environment(), stderr=subprocess.DEVNULL)
    try:
        running = "select count(*) from pg_stat_activity where application_name = 'pg_dump' or query like 'LOCK TABLE%'"
        eventually(lambda: rows_of(source.settings.postgres_url, running)[0][0], 60)
        with pytest.raises(BackupFailed, match="Another backup"):
            source.make(place)
    finally:
        first.kill()
        first.wait()
    assert asyncio.run(open_place(str(place), source.settings, must_exist=False).archives()).whole == []
    held = f"select count(*) from pg_locks where locktype = 'advisory' and classid = {OBJECTS_LOCK} and objid = 1"
    eventually(lambda: rows_of(source.settings.postgres_url, held) == [(0,)])


def test_a_restore_that_is_killed_goes_on_in_no_program_and_can_be_repeated(
    source: Source, archive: Archive, empty_database: Callable[[], str], folder: Path
) -> None:
    env = {"TERTULIA_POSTGRES_URL": empty_database(), "TERTULIA_STORAGE_FOLDER": str(folder / "files")}
    command = ("restore", f"{archive[0]}/latest", "--identity", str(source.key_file))
    started = [sys.executable, "-m", "tertulia", *command]
    first = subprocess.Popen(started, env=os.environ | env, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: "pg_restore" in programs_of(first.pid).values(), 60)
        [program] = programs_of(first.pid)
        os.kill(program, signal.SIGSTOP)  # as one that builds indexes for an hour
    finally:
        first.kill()
        first.wait()
    eventually(lambda: not is_running(program))
    done = tertulia(*command, env=env)
    assert done.returncode == 0, done.stderr


def programs_of(parent: int) -> dict[int, str]:
    """Its children and what they are called."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            number, _, rest = stat.read_text().partition(" (")
            name, _, about = rest.rpartition(") ")
            if int(about.split()[1]) == parent:
                found[int(number)] = name
    return found


def is_running(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_what_a_backup_locks_is_free_when_it_has_ended_though_postgresql_hears_late_that_it_is_gone(
    source: Source,
) -> None:
    with Forwarder(source.settings.postgres_url, delay=0.3) as slow:
        with open_session(slow.url) as first:
            first.lock_alone()
        with open_session(source.settings.postgres_url) as second:
            second.lock_alone()


def test_no_file_is_deleted_while_a_backup_may_need_it(source: Source, stage: Stage) -> None:
    assert isinstance(stage.server, OwnServer)
    person = stage.speaker()
    upload(person)
    [attachment] = person.get("attachments")["attachments"]
    [(key,)] = stage.sql("select key from attachment where id = %s", attachment["id"])
    file = stage.server.files / key
    assert file.exists()
    with stage.session() as execute:
        execute("select pg_advisory_xact_lock(%s, 0)", OBJECTS_LOCK)
        person.delete(f"attachments/{attachment['id']}")
        time.sleep(2.5)
        assert file.exists()
    eventually(lambda: not file.exists())


def test_a_bucket_is_a_place_too(source: Source, folder: Path) -> None:
    with s3_service(folder) as endpoint:
        bucket = Bucket(endpoint, "backups")
        own = {f"backup_{name}": value for name, value in bucket.settings.items() if name.startswith("s3_")}
        own = {name: value for name, value in own.items() if name not in ("backup_s3_bucket", "backup_s3_prefix")}
        settings = msgspec.structs.replace(source.settings, **own)
        place = Place("s3://backups/chat", settings)

        async def make_and_look() -> list[str]:
            recipients = read_recipients([source.public])
            first, second = [await make_backup(settings, place, recipients, quiet) for _ in range(2)]
            assert (first.copied, second.copied) == (first.objects, 0)
            await verify_backup(settings, place, "latest", source.identities, quiet, on=settings.postgres_url)
            assert (await prune(place, 1, 1)).removed
            return (await place.archives()).whole

        assert len(asyncio.run(make_and_look())) == 1
