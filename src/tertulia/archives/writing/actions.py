"""Write an organization into an archive."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Protocol

import asyncpg
import msgspec

from tertulia import __version__
from tertulia.archives.errors import ArchiveFailed, ServerBusy
from tertulia.archives.form.container import ArchiveWriter, WrongSize
from tertulia.archives.form.kinds import Picture
from tertulia.archives.form.manifest import Manifest
from tertulia.archives.form.moving import kinds_in
from tertulia.archives.writing import credentials, statements
from tertulia.archives.writing.mine import statements as mine
from tertulia.archives.writing.scope import Allowed, Asked, find_allowed
from tertulia.content.storage import NotStored, Store
from tertulia.content.storage.orphans import EXPORT, OBJECTS_LOCK
from tertulia.kernel.db import Connection, Database
from tertulia.kernel.sealing import Sealer
from tertulia.organization.custom_emoji.actions import key_of as emoji_key
from tertulia.organization.custom_emoji.model import still_name
from tertulia.organization.realms.pictures.actions import key_of as picture_key
from tertulia.organization.realms.queries import is_half
from tertulia.people.avatars.actions import key_of as avatar_key

Progress = Callable[[str, int, int], None]
"""Told often what is being done, in words, and how many of how many messages are written."""
Through = Callable[[IO[bytes]], AbstractContextManager[IO[bytes]]]
ROWS_AT_ONCE = 2000
LOCK_SECONDS = 60


class Outlet(Protocol):
    """Where an archive goes."""

    def write(self, data: bytes, /) -> object:
        """All of it, at once."""

    async def drain(self) -> None:
        """Wait until there is room for more. Called after each line and each piece of a blob."""


_SESSION = {
    "application_name": "tertulia export",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "timezone": "UTC",
    "jit": "off",
}


async def export_realm(
    database: Database, store: Store, asked: Asked, target: Path, progress: Progress, through: Through = nullcontext
) -> Manifest:
    """One archive in a file. There is none under its name until it is whole. All bytes go `through` something, such as what
    encrypts them."""
    half = target.with_name(target.name + ".part")
    try:
        half.unlink(missing_ok=True)  # of one that was killed
        handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as problem:
        raise ArchiveFailed(f"{half} cannot be written: {problem.strerror}.") from problem
    try:
        with os.fdopen(handle, "wb", buffering=0) as file:
            with through(file) as written:
                manifest = await write_archive(database, store, asked, WrittenFile(written), progress)
            os.fsync(file.fileno())
        half.rename(target)
    except BaseException:
        half.unlink(missing_ok=True)
        raise
    return manifest


async def write_archive(database: Database, store: Store, asked: Asked, outlet: Outlet, progress: Progress) -> Manifest:
    """One archive, of the moment at which it begins, from front to back."""
    async with _one_moment(database) as (connection, moment):
        if await connection.fetchval(f"select {is_half('$1')}", asked.realm_id):
            raise ServerBusy("A newer archive of this organization is being imported. Try again when it has ended.")
        return await _Export(connection, store, asked, outlet, progress, database.sealer).write(moment)


@asynccontextmanager
async def _one_moment(database: Database) -> AsyncIterator[tuple[Connection, datetime]]:
    """A snapshot, and no object that it refers to is deleted meanwhile."""
    # However long a statement takes: it is one connection, which nobody else waits for.
    connection = await database.own_connection(answer=float(sys.maxsize), **_SESSION)
    try:
        await connection.execute(f"set lock_timeout = '{LOCK_SECONDS}s'")
        try:
            await connection.execute("select pg_advisory_lock($1::int, $2::int)", OBJECTS_LOCK, EXPORT)
        except asyncpg.LockNotAvailableError as error:
            raise ServerBusy("Another export of this server is running. Try again when it has ended.") from error
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            yield connection, await connection.fetchval("select clock_timestamp()")
    finally:
        await connection.close()


class WrittenFile:
    """Says of what cannot be written why; whatever else fails meanwhile is not its fault."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, data: bytes) -> int:
        """All of it."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as problem:
            raise ArchiveFailed(f"The archive cannot be written: {problem.strerror}.") from problem
        return len(data)

    async def drain(self) -> None:
        """It is written already."""


class _Export:
    def __init__(
        self,
        connection: Connection,
        store: Store,
        asked: Asked,
        outlet: Outlet,
        progress: Progress,
        sealer: Sealer,
    ) -> None:
        self._sealer = sealer
        self._connection = connection
        self._store = store
        self._asked = asked
        self._realm_id = asked.realm_id
        self._outlet = outlet
        self._writer = ArchiveWriter(outlet)
        self._progress = progress
        self._allowed = Allowed(None, None, None)
        self._messages = 0

    async def write(self, moment: datetime) -> Manifest:
        self._allowed = await find_allowed(self._connection, self._asked)
        self._messages = await self._count_messages()
        special = {
            "organization": self._write_organization,
            "people": self._write_people,
            "emoji": self._write_emoji,
            "files": self._write_files,
            "messages": self._write_messages,
            "credentials": self._write_credentials,
        }
        plain = statements.PLAIN | credentials.PLAIN | (mine.PLAIN if self._is_mine else {})
        for kind in kinds_in(self._asked.scope):
            self._writer.begin(kind)
            if kind in special:
                await special[kind]()
            else:
                await self._write_lines(kind, plain[kind])
        uuid = await self._connection.fetchval("select uuid from realm where id = $1", self._realm_id)
        return self._writer.finish(
            Manifest(
                made_by=f"tertulia {__version__}",
                source=f"tertulia:{uuid}",
                moment=moment,
                scope=self._asked.scope,
                counts={},
                blobs=0,
                blob_bytes=0,
                parts=[],
            )
        )

    async def _write_organization(self) -> None:
        if self._is_mine:
            await self._write_lines("organization", mine.ORGANIZATION)
            return
        pictures = {}
        for row in await self._connection.fetch(statements.REALM_PICTURES, self._realm_id):
            key = picture_key(self._realm_id, row["kind"], row["name"])
            pictures[row["kind"]] = await self._copy(f"blobs/organization/{row['kind']}", key)
        async for row in self._rows(statements.ORGANIZATION):
            self._add(row["line"], pictures)

    async def _write_people(self) -> None:
        async for row in self._rows(statements.PEOPLE):
            if row["avatar"] is None:
                self._writer.add(row["line"].encode())
                continue
            key = avatar_key(self._realm_id, row["avatar"], medium=True)
            self._add(row["line"], {"avatar": await self._copy(f"blobs/avatar/{row['id']}", key)})
        if self._is_mine:
            await self._write_lines("people", mine.OTHERS)

    async def _write_emoji(self) -> None:
        async for row in self._rows(statements.EMOJI):
            pictures = {"picture": await self._copy(f"blobs/emoji/{row['id']}", self._emoji_key(row["file_name"]))}
            if row["moves"]:
                key = self._emoji_key(still_name(row["file_name"]))
                pictures["still"] = await self._copy(f"blobs/still/{row['id']}", key)
            self._add(row["line"], pictures)

    def _emoji_key(self, file_name: str) -> str:
        return emoji_key(self._realm_id, file_name)

    async def _write_files(self) -> None:
        async for row in self._rows(statements.FILES):
            self._add(row["line"], {"content": await self._copy(f"blobs/file/{row['id']}", row["key"])})
            self._tell(f"files: {self._writer.counts['files']:,}, {self._writer.blob_bytes / 1e6:,.0f} MB")

    async def _write_messages(self) -> None:
        await self._write_lines("messages", statements.messages_of(is_everything=self._is_everything))

    async def _count_messages(self) -> int:
        statement = statements.PARAMETERS + statements.count_messages(is_everything=self._is_everything)
        return int(await self._connection.fetchval(statement, self._realm_id, *self._allowed))

    @property
    def _is_mine(self) -> bool:
        return self._asked.scope == "mine"

    @property
    def _is_everything(self) -> bool:
        return self._allowed.conversations is None

    async def _write_credentials(self) -> None:
        async for row in self._rows(credentials.CREDENTIALS):
            self._writer.add(credentials.line_of(row, self._sealer))

    async def _write_lines(self, kind: str, statement: str) -> None:
        async for row in self._rows(statement):
            self._writer.add(row["line"].encode())
        self._tell(f"{kind}: {self._writer.counts[kind]:,}")

    async def _rows(self, statement: str) -> AsyncIterator[Any]:
        cursor = await self._connection.cursor(statements.PARAMETERS + statement, self._realm_id, *self._allowed)
        while rows := await cursor.fetch(ROWS_AT_ONCE):
            for row in rows:
                yield row
                await self._outlet.drain()
            written = self._writer.counts["messages"]
            self._tell(f"{sum(self._writer.counts.values()):,} lines, {written:,} of {self._messages:,} messages")

    def _tell(self, text: str) -> None:
        self._progress(text, self._writer.counts["messages"], self._messages)

    def _add(self, line: str, pictures: dict[str, Picture | None]) -> None:
        self._writer.add(msgspec.json.encode(msgspec.json.decode(line) | pictures))

    async def _copy(self, name: str, key: str) -> Picture | None:
        """None: the object is lost, and nobody could see it before either."""
        try:
            stored = await self._store.get(key)
        except NotStored:
            return None
        try:
            return await self._writer.add_blob(name, stored.size, self._paced(stored.chunks))
        except WrongSize as problem:
            raise ArchiveFailed(f"The storage does not give an object whole: {problem}") from problem

    async def _paced(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            yield chunk
            await self._outlet.drain()
