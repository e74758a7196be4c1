"""Bring an archive back: into an empty database and a store that has nothing else. If it is killed, it can be repeated.

Objects come first: a repeated attempt finds those that are there. Then the database, in one transaction. Then it is migrated, and
whoever was erased since is erased again. Until that is done no process works on the database, and a repeated attempt goes on
there: otherwise people who were erased would be back, and nobody would know.
"""

import asyncio
import re
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import IO, Final, NamedTuple

import psycopg2

from tertulia.backups.encryption import Identity, Key, decrypt
from tertulia.backups.erasures import Repeated, repeat
from tertulia.backups.errors import BackupFailed
from tertulia.backups.making import Progress
from tertulia.backups.manifest import Manifest, check_form
from tertulia.backups.objects import bring_back, in_tasks
from tertulia.backups.place import Place
from tertulia.backups.programs import restore_command, running
from tertulia.backups.reading import OpenContents, open_contents
from tertulia.backups.snapshot import DatabaseSession, open_session
from tertulia.backups.streams import read_by
from tertulia.content.storage import Store
from tertulia.engines import find_postgres_clients
from tertulia.kernel.form import own_form
from tertulia.kernel.settings import Settings
from tertulia.migrations import migrate

PATIENCE_SECONDS: Final = 60.0
PAUSE_SECONDS: Final = 0.25
_NOT_YET = re.compile("Connection refused|starting up|not yet accepting connections")
_NOT_YET_OWN = re.compile(f"{_NOT_YET.pattern}|authentication failed|does not exist")
"""One that the server runs itself is there a moment before our role and database are."""
_SLOT = "select database = current_database(), active, database from pg_replication_slots where slot_name = %s"


class Restored(NamedTuple):
    manifest: Manifest
    objects: int
    migrated: bool
    slot_elsewhere: str
    """Another database of the same PostgreSQL that our replication slot belongs to; empty: none."""
    repeated: Repeated
    """Erasures from after the archive was made."""


async def restore_backup(
    settings: Settings,
    place: Place,
    name: str,
    identities: Sequence[Identity],
    progress: Progress,
    *,
    keep_files: bool,
) -> Restored:
    """Everything is checked before anything is written, save for the objects, each of which is checked before it is."""
    manifest = await place.read_manifest(name)
    key = Key.of(identities, is_encrypted=manifest.is_encrypted)
    check_form(manifest, own_form())
    await _await_database(settings, progress)
    with open_session(settings.postgres_url) as session:
        session.lock_alone()
        is_loaded = session.find_loaded() == manifest.name
        _check_target(session, manifest, is_loaded=is_loaded)
        files = Store(settings)
        async with open_contents(manifest, place, key) as contents:
            there = await _check_store(files, contents, keep_files=keep_files)
            progress("checking the database's sum")
            await place.check_part(manifest, "database")
            slot_elsewhere = _drop_slot(session, settings.slot)
            await _bring_objects(contents, there, place, key, files, progress)
        if not is_loaded:
            session.begin_restore(manifest.name)
            await load_database(settings, session, settings.postgres_url, manifest, place, key, progress)
            session.note_loaded()
        progress("gathering statistics")
        await asyncio.to_thread(session.ask, "analyze")
        if is_older := manifest.form < own_form():
            progress("migrating")
            await asyncio.to_thread(migrate, settings.postgres_url)
        repeated = await repeat(settings, place, progress)
        session.end_restore()
    return Restored(manifest, manifest.objects, is_older, slot_elsewhere, repeated)


async def _await_database(settings: Settings, progress: Progress) -> None:
    """Who has just started PostgreSQL need not look when it is there. What will not change by waiting is told at once."""
    until = time.monotonic() + PATIENCE_SECONDS
    not_yet = _NOT_YET_OWN if settings.standalone_folder else _NOT_YET
    while True:
        try:
            with open_session(settings.postgres_url):
                return
        except psycopg2.OperationalError as problem:
            if time.monotonic() > until or not not_yet.search(str(problem)):
                raise
        progress("waiting for PostgreSQL")
        await asyncio.sleep(PAUSE_SECONDS)


async def load_database(
    settings: Settings,
    session: DatabaseSession,
    url: str,
    manifest: Manifest,
    place: Place,
    key: Key,
    progress: Progress,
) -> None:
    """pg_restore in one transaction. The part's sum has been checked; the decryption is checked on the way."""
    clients = find_postgres_clients(settings, session.major)
    with running(restore_command(clients), session, url, stdin=subprocess.PIPE) as restoring:

        def work(source: IO[bytes]) -> None:
            try:
                decrypt(source, restoring.stdin, key)
                restoring.stdin.close()
            except Exception:
                restoring.check_alive()
                raise
            restoring.finish()

        async with aclosing(place.read_part(manifest, "database")) as chunks:
            await read_by(work, _watched(chunks, manifest.database_bytes, progress))


async def _watched(chunks: AsyncIterator[bytes], total: int, progress: Progress) -> AsyncIterator[bytes]:
    done = 0
    async for chunk in chunks:
        done += len(chunk)
        progress(f"database: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")
        yield chunk


def _check_target(session: DatabaseSession, manifest: Manifest, *, is_loaded: bool) -> None:
    if not is_loaded and not session.is_empty():
        raise BackupFailed(
            "The database is not empty. An archive is restored into a new one: stop the server, then `dropdb` and `createdb`,"
            " or name another database with TERTULIA_POSTGRES_URL."
        )
    if session.major < manifest.postgres:
        raise BackupFailed(
            f"The archive is of PostgreSQL {manifest.postgres}, and this server is {session.major}: restore it into"
            f" {manifest.postgres} or newer."
        )


async def _check_store(files: Store, contents: OpenContents, *, keep_files: bool) -> set[str]:
    """What is there already: of an attempt that was killed, or of the server whose database was lost."""
    wanted = {entry.key: entry.size for entry in contents.entries()}
    there = set()
    others = 0
    async for key, size in files.listed():
        if wanted.get(key) == size:
            there.add(key)
        else:
            others += 1
    if others and not keep_files:
        where = files.settings.s3_bucket or files.settings.storage_folder
        raise BackupFailed(
            f"The storage ({where}) has {others:,} files that are not in the archive. Restore into an empty one, or say"
            " --keep-files: then they stay, and do no harm."
        )
    return there


def _drop_slot(session: DatabaseSession, slot: str) -> str:
    """A slot that stands in the old past would hide from the relay that the past has changed."""
    for is_here, is_active, database in session.ask(_SLOT, slot):
        if not is_here:
            return str(database)
        if is_active:
            raise BackupFailed("A relay is connected to this database. Stop the server first.")
        session.ask("select pg_drop_replication_slot(%s)", slot)
    return ""


async def _bring_objects(
    contents: OpenContents, there: set[str], place: Place, key: Key, files: Store | None, progress: Progress
) -> None:
    waiting = (entry for entry in contents.entries() if entry.key not in there)
    done = 0

    async def work() -> None:
        nonlocal done
        for entry in waiting:
            await bring_back(entry, place, key, files)
            done += 1
            progress(f"files: {done:,}")

    await in_tasks(work)


async def check_objects(contents: OpenContents, place: Place, key: Key, progress: Progress) -> None:
    """Decrypt all of them, and keep none."""
    await _bring_objects(contents, set(), place, key, None, progress)
