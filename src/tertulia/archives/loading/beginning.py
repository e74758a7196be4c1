"""Where an import begins: which ids it has, and the organization that nobody sees yet; or where it goes on."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import datetime

import asyncpg
import msgspec

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form.kinds import Organization
from tertulia.archives.form.manifest import Manifest
from tertulia.archives.loading.shifts import TABLES, Shifts, Spans, reserved_for, shift_of
from tertulia.kernel.db import Database, Reader, Transaction

IMPORT_LOCK = 10
"""The class of the advisory lock that whoever imports holds (docs/explanation/architecture.md, Locks)."""
FIRST_STAGE = "organization"
REMOVING = "removing"
"""The stage of an import that is being taken away (removing.py): it does not go on."""
_LOCK_MILLISECONDS = 700
"""Less than PostgreSQL waits before it looks for deadlocks: it is always we who give way."""
_TRIES = 30
_FOUND = """
select realm.id, realm.is_active, source, digest, shifts::text, stage, lines, started, finished, moment, scope,
    reserved::text, renews
from realm left join realm_import on realm_id = realm.id where subdomain = $1
"""
_HIGHEST = """
select coalesce((select max(id) from {table}), 0) as highest,
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('{table}', 'id')::regclass), 0) as given
"""
_RESERVED = "select coalesce(max((reserved->>$1)::bigint), 0) from realm_import"
_ADVANCE = """
select setval(pg_get_serial_sequence('{table}', 'id')::regclass, greatest($1, {given}))
"""
_BEGIN = """
with made as (
    insert into realm (id, subdomain, name, description, date_created, is_active) overriding system value
    values ($1, $2, $3, $4, $5, false) returning id
)
insert into realm_import (realm_id, source, digest, shifts, stage, moment, scope, reserved)
select id, $6, $7, $8::text::jsonb, $9, $10, $11, $12::text::jsonb from made
"""


class Begun(msgspec.Struct, frozen=True):
    """An import under way."""

    realm_id: int
    shifts: Shifts
    stage: str
    lines: int
    """Of the stage, which are written."""
    goes_on: bool
    renews: bool = False
    """A newer archive takes the place of one that was whole."""


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """An organization that came from an archive and is whole."""

    realm_id: int
    is_active: bool
    source: str
    digest: bytes
    shifts: Shifts
    finished: datetime
    moment: datetime | None
    scope: str | None
    reserved: dict[str, int] | None
    """None: a program imported it that did not keep ids free."""


def digest_of(manifest: Manifest) -> bytes:
    """Which archive it is: the manifest has the sums of all its lines."""
    return hashlib.sha256(msgspec.json.encode(manifest)).digest()


@asynccontextmanager
async def alone(database: Database) -> AsyncIterator[None]:
    """One import at a time. One that was killed holds the lock until PostgreSQL has noticed."""
    connection = await database.own_connection(answer=60.0)
    try:
        for _ in range(_TRIES):
            if await connection.fetchval("select pg_try_advisory_lock($1::int, 0)", IMPORT_LOCK):
                break
            await asyncio.sleep(0.5)
        else:
            raise ArchiveFailed("Another import is at work on this server. Begin again when it has ended.")
        yield
    finally:
        await connection.close()


async def find(reader: Reader, subdomain: str, manifest: Manifest) -> Begun | Whole | None:
    """The import of this archive at this address, if it has begun, or what came from one. ArchiveFailed if there is
    something else.
    """
    row = await reader.fetchrow(_FOUND, subdomain)
    if row is None:
        return None
    where = f"at the subdomain {subdomain!r}" if subdomain else "at the main address"
    if row["source"] is None:
        raise ArchiveFailed(f"There is an organization {where} already. Name another one with --subdomain.")
    if row["finished"] is not None:
        return _whole(row)
    if row["stage"] == REMOVING:
        raise ArchiveFailed(
            f"A half import {where} is being removed. Give `tertulia import remove` again until it ends."
        )
    if row["digest"] != digest_of(manifest):
        raise ArchiveFailed(
            f"Another archive is half imported {where}, since {row['started']:%Y-%m-%d %H:%M} UTC. Import that one"
            " to its end, remove it with `tertulia import remove`, or name another subdomain."
        )
    shifts = msgspec.json.decode(row["shifts"], type=Shifts)
    return Begun(row["id"], shifts, row["stage"], row["lines"], goes_on=True, renews=row["renews"])


def _whole(row: asyncpg.Record) -> Whole:
    return Whole(
        realm_id=row["id"],
        is_active=row["is_active"],
        source=row["source"],
        digest=row["digest"],
        shifts=msgspec.json.decode(row["shifts"], type=Shifts),
        finished=row["finished"],
        moment=row["moment"],
        scope=row["scope"],
        reserved=None if row["reserved"] is None else msgspec.json.decode(row["reserved"], type=dict[str, int]),
    )


async def begin(
    database: Database, subdomain: str, organization: Organization, manifest: Manifest, spans: Spans
) -> Begun:
    """Reserve ids and make the organization, together: nobody else has these ids, or can ever get one."""
    try:
        return await reserving(database, lambda tx: _begin(tx, subdomain, organization, manifest, spans))
    except asyncpg.UniqueViolationError as error:
        raise ArchiveFailed(f"There is an organization at the subdomain {subdomain!r} now. Name another.") from error


async def reserving(database: Database, work: Callable[[Transaction], Awaitable[Begun]]) -> Begun:
    """In a transaction that gives way to everybody else and is tried again."""
    for _ in range(_TRIES):
        try:
            async with database.transaction() as tx:
                return await work(tx)
        except asyncpg.LockNotAvailableError:
            await asyncio.sleep(0.3)
    raise ArchiveFailed("The server is too busy to reserve ids: a long transaction holds its tables. Try again later.")


async def _begin(
    tx: Transaction, subdomain: str, organization: Organization, manifest: Manifest, spans: Spans
) -> Begun:
    await hold_ids(tx, spans.found)
    shifts = await shifts_of(tx, spans)
    reserved = await reserve(tx, spans, shifts)
    realm_id = organization.id + shifts.realm
    about = (organization.name, organization.description, organization.created)
    archive = (manifest.source, digest_of(manifest), msgspec.json.encode(shifts).decode(), FIRST_STAGE)
    room = (manifest.moment, manifest.scope, msgspec.json.encode(reserved).decode())
    await tx.execute(_BEGIN, realm_id, subdomain, *about, *archive, *room)
    return Begun(realm_id, shifts, FIRST_STAGE, 0, goes_on=False)


async def hold_ids(tx: Transaction, families: Iterable[str]) -> None:
    """Whoever inserts waits for the moment that this takes, and then gets an id after ours."""
    tables = ", ".join([*(TABLES[family] for family in families), "scheduled_message"])
    await tx.execute(f"set local lock_timeout = '{_LOCK_MILLISECONDS}ms'")
    await tx.execute(f"lock table {tables} in share row exclusive mode")


async def reserve(tx: Transaction, spans: Spans, shifts: Shifts) -> dict[str, int]:
    """Take these ids, and room for those of newer archives; returns the last one of each family."""
    found = {family: reserved_for(family, span, getattr(shifts, family)) for family, span in spans.found.items()}
    for family, last in found.items():
        await tx.fetchval(_ADVANCE.format(table=TABLES[family], given=_given(TABLES[family])), last)
    return found


async def shifts_of(reader: Reader, spans: Spans) -> Shifts:
    """As they would be at this moment."""
    found = {}
    for family, span in spans.found.items():
        row = await reader.fetchrow(_HIGHEST.format(table=TABLES[family]))
        assert row is not None
        # Ids that are kept free for newer archives of others are as good as taken.
        highest, given = max(row["highest"], await reader.fetchval(_RESERVED, family)), row["given"]
        if family == "message":
            highest = max(highest, await reader.fetchval("select coalesce(max(id), 0) from scheduled_message"))
        found[family] = shift_of(family, span, highest=highest, given=given)
    return Shifts(**found)


def _given(table: str) -> str:
    return f"coalesce(pg_sequence_last_value(pg_get_serial_sequence('{table}', 'id')::regclass), 1)"
