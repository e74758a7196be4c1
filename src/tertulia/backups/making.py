"""Make an archive while the server runs."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import msgspec

from tertulia import __version__
from tertulia.backups.encryption import Recipient, encrypt
from tertulia.backups.erasures import write_list
from tertulia.backups.manifest import Contents, Entry, Manifest, Part, Table
from tertulia.backups.objects import Copied, copy_object, in_tasks, number_in, number_of, stored_objects
from tertulia.backups.place import Place, name_of
from tertulia.backups.programs import dump_command, running
from tertulia.backups.snapshot import DatabaseSession, Taken, open_session
from tertulia.backups.streams import PIECE, written_by
from tertulia.content.storage import Store
from tertulia.engines import find_postgres_clients
from tertulia.kernel.settings import Settings

Progress = Callable[[str], None]
"""Told often what is being done, and how far it is."""


async def make_backup(
    settings: Settings, place: Place, recipients: Sequence[Recipient], progress: Progress
) -> Manifest:
    """One archive of the database and all objects. If this is killed, there is none."""
    with open_session(settings.postgres_url) as session:
        clients = find_postgres_clients(settings, session.major)
        session.lock_alone()
        session.hold_still()
        taken = session.take()
        name = name_of(taken.moment)
        dump, tables = await _copy_database(settings, session, taken, clients, place, recipients, progress)
        session.let_go()
        entries, copied = await _copy_objects(Store(settings), place, recipients, progress)
        lines = _lines(Contents(tables), entries)
        parts = {
            "database": dump,
            "contents": await place.write_part(
                name, "contents", written_by(lambda target: _encrypt_lines(lines, target, recipients))
            ),
            "objects": await place.write_part(name, "objects", _list_of(entries)),
        }
        manifest = Manifest(
            name=name,
            begun_at=taken.moment,
            ended_at=datetime.now(UTC),
            program=__version__,
            form=taken.form,
            postgres=session.major,
            recipients=[str(one) for one in recipients],
            tables=len(tables),
            rows=sum(table.rows for table in tables.values()),
            objects=len(entries),
            object_bytes=sum(entry.size for entry in entries),
            copied=len(copied),
            copied_bytes=sum(one.written for one in copied),
            parts=parts,
        )
        await place.write_manifest(manifest)
    # Also those from before: another place has them, or none was reached when they were made.
    await write_list(settings, place)
    return manifest


async def _copy_database(
    settings: Settings,
    session: DatabaseSession,
    taken: Taken,
    clients: Path,
    place: Place,
    recipients: Sequence[Recipient],
    progress: Progress,
) -> tuple[Part, dict[str, Table]]:
    """pg_dump, and the digests of all tables beside it, of the same snapshot."""
    digests = asyncio.create_task(asyncio.to_thread(_read_tables, settings.postgres_url, taken.id))
    command = dump_command(clients, taken.id)
    url = settings.postgres_url
    try:
        with running(command, session, url, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as dumping:

            def work(target: IO[bytes]) -> None:
                encrypt(dumping.stdout, target, recipients)
                target.flush()
                dumping.finish()  # before the last piece is handed on: half a dump must not look whole

            async with aclosing(written_by(work)) as chunks:
                part = await place.write_part(name_of(taken.moment), "database", _watched(chunks, progress))
        progress("counting rows")
        return part, await digests
    finally:
        await asyncio.wait([digests])


def _read_tables(url: str, snapshot: str) -> dict[str, Table]:
    with open_session(url) as session:
        return dict(session.tables(snapshot))


async def _watched(chunks: AsyncIterator[bytes], progress: Progress) -> AsyncIterator[bytes]:
    done = 0
    async for chunk in chunks:
        done += len(chunk)
        progress(f"database: {done / 1e6:,.0f} MB")
        yield chunk


async def _copy_objects(
    files: Store, place: Place, recipients: Sequence[Recipient], progress: Progress
) -> tuple[list[Entry], list[Copied]]:
    """Those that the place does not have yet."""
    there = {number_in(key): key async for key, _ in stored_objects(place)}
    entries: list[Entry] = []
    copied: list[Copied] = []
    waiting = files.listed()

    async def work() -> None:
        async for key, size in shared:
            stored = there.get(number_of(key, recipients))
            if stored is None:
                copied.append(await copy_object(key, files, place, recipients))
                stored = copied[-1].stored
            entries.append(Entry(key, size, stored))
            progress(f"files: {len(entries):,}, of them {len(copied):,} new")

    shared = _Shared(waiting)
    await in_tasks(work)
    return sorted(entries, key=lambda entry: entry.key), copied


class _Shared:
    """One iterator for several tasks: each element goes to one of them."""

    def __init__(self, source: AsyncIterator[tuple[str, int]]) -> None:
        self._source = source
        self._lock = asyncio.Lock()

    def __aiter__(self) -> "_Shared":
        return self

    async def __anext__(self) -> tuple[str, int]:
        async with self._lock:
            return await anext(self._source)


def _lines(contents: Contents, entries: Iterable[Entry]) -> Iterator[bytes]:
    for part in (contents, *entries):
        yield msgspec.json.encode(part) + b"\n"


def _encrypt_lines(lines: Iterator[bytes], target: IO[bytes], recipients: Sequence[Recipient]) -> None:
    encrypt(_Reading(lines), target, recipients)  # type: ignore[arg-type]


class _Reading:
    """Lines as a file that is read from its beginning."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self._rest = b""

    def read(self, size: int) -> bytes:
        while len(self._rest) < size and (line := next(self._lines, None)) is not None:
            self._rest += line
        head, self._rest = self._rest[:size], self._rest[size:]
        return head


async def _list_of(entries: Sequence[Entry]) -> AsyncIterator[bytes]:
    """What the archive needs, for those who cannot read it."""
    text = bytearray()
    for entry in entries:
        text += entry.stored.encode() + b"\n"
        if len(text) > PIECE:
            yield bytes(text)
            text.clear()
    yield bytes(text)
