"""Whether an archive can be restored: it is, into a throw-away database, and compared with what it says of itself."""

import asyncio
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import psycopg2.extensions
from psycopg2 import sql

from tertulia.backups.encryption import Identity, Key
from tertulia.backups.errors import BackupFailed, Damaged
from tertulia.backups.making import Progress
from tertulia.backups.manifest import Manifest, Table
from tertulia.backups.objects import check_stored, in_tasks
from tertulia.backups.place import Place
from tertulia.backups.reading import open_contents
from tertulia.backups.restoring import check_objects, load_database
from tertulia.backups.retention import objects_of
from tertulia.backups.snapshot import DatabaseSession, open_session
from tertulia.engines import Postgres, find_postgres
from tertulia.kernel.left_folders import forget_left_folders, temporary_folder
from tertulia.kernel.settings import Settings

_DATABASES = "tertulia_verify_"


async def verify_sums(place: Place, name: str, progress: Progress) -> Manifest:
    """Whether everything is as it was written. Needs no key."""
    manifest = await place.read_manifest(name)
    for part in ("database", "contents"):
        progress(f"checking {part}")
        await place.check_part(manifest, part)
    stored = iter(await objects_of(manifest, place))
    done = 0

    async def work() -> None:
        nonlocal done
        for one in stored:
            await check_stored(one, place)
            done += 1
            progress(f"files: {done:,} of {manifest.objects:,}")

    await in_tasks(work)
    return manifest


async def verify_backup(
    settings: Settings, place: Place, name: str, identities: Sequence[Identity], progress: Progress, *, on: str = ""
) -> Manifest:
    """Open every object, restore the database, and compare the rows and digest of each table. `on`: the address of a
    PostgreSQL to make the throw-away database in; otherwise one is started in a temporary folder."""
    manifest = await place.read_manifest(name)
    key = Key.of(identities, is_encrypted=manifest.is_encrypted)
    async with open_contents(manifest, place, key) as contents:
        await objects_of(manifest, place)  # whether the open list is what was written
        await place.check_part(manifest, "database")
        await check_objects(contents, place, key, progress)
        tables = contents.tables
    with throw_away(settings, on) as url, open_session(url) as session:
        await load_database(settings, session, url, manifest, place, key, progress)
        progress("comparing")
        found = await asyncio.to_thread(lambda: dict(session.tables()))
    compare(tables, found)
    return manifest


def compare(written: Mapping[str, Table], found: Mapping[str, Table]) -> None:
    """Table by table."""
    differing = [name for name in sorted(written.keys() | found.keys()) if written.get(name) != found.get(name)]
    if differing:
        raise Damaged(f"What was restored differs from what was written: {', '.join(differing)}.")


@contextmanager
def throw_away(settings: Settings, on: str) -> Iterator[str]:
    """The address of an empty database, which is gone afterwards."""
    if not on:
        forget_left_folders()
        with temporary_folder("verify") as folder:
            folder.chmod(0o711)  # as root, PostgreSQL runs as somebody else
            with Postgres(find_postgres(settings), folder / "postgres") as postgres:
                yield postgres.url
        return
    name = f"{_DATABASES}{secrets.token_hex(6)}"
    with open_session(on) as session:
        _forget_left(session)
        # Who else verifies sees that somebody has it.
        session.ask("select set_config('application_name', %s, false)", name)
        try:
            session.ask(sql.SQL("create database {} template template0").format(sql.Identifier(name)))
        except psycopg2.errors.InsufficientPrivilege as error:
            raise BackupFailed(
                "The account may not create databases. Use one that may (alter role NAME createdb)."
            ) from error
        try:
            yield psycopg2.extensions.make_dsn(on, dbname=name)
        finally:
            session.ask(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


def _forget_left(session: DatabaseSession) -> None:
    """Drop those that somebody who was killed has left: whoever is at work has a connection of that name."""
    left = """
    select datname from pg_database
    where starts_with(datname, %s) and pg_has_role(datdba, 'usage')
        and not exists (select from pg_stat_activity where application_name = datname)
    """
    for (name,) in session.ask(left, _DATABASES):
        with suppress(psycopg2.errors.ObjectInUse, psycopg2.errors.InvalidCatalogName):
            session.ask(sql.SQL("drop database {}").format(sql.Identifier(name)))
