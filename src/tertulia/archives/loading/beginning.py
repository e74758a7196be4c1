"""Where an import begins: which ids it has, and the organization that nobody sees yet; or where it goes on."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import msgspec

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form.kinds import Organization
from tertulia.archives.form.manifest import Manifest
from tertulia.archives.loading.shifts import TABLES, Shifts, Spans, shift_of
from tertulia.kernel.db import Database, Reader, Transaction

IMPORT_LOCK = 10
"""The class of the advisory lock that whoever imports holds (docs/explanation/architecture.md, Locks)."""
FIRST_STAGE = "organization"
_LOCK_MILLISECONDS = 700
"""Less than PostgreSQL waits before it looks for deadlocks: it is always we who give way."""
_TRIES = 30
_FOUND = """
select realm.id, source, digest, shifts::text, stage, lines, started, finished
from realm left join realm_import on realm_id = realm.id where subdomain = $1
"""
_HIGHEST = """
select coalesce((select max(id) from {table}), 0) as highest,
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('{table}', 'id')::regclass), 0) as given
"""
_ADVANCE = """
select setval(pg_get_serial_sequence('{table}', 'id')::regclass, greatest($1, {given}))
"""
_BEGIN = """
with made as (
    insert into realm (id, subdomain, name, description, date_created, is_active) overriding system value
    values ($1, $2, $3, $4, $5, false) returning id
)
insert into realm_import (realm_id, source, digest, shifts, stage) select id, $6, $7, $8::text::jsonb, $9 from made
"""


class Begun(msgspec.Struct, frozen=True):
    """An import under way."""

    realm_id: int
    shifts: Shifts
    stage: str
    lines: int
    """Of the stage, which are written."""
    goes_on: bool


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


async def find(reader: Reader, subdomain: str, manifest: Manifest) -> Begun | None:
    """The import of this archive at this address, if it has begun. ArchiveFailed if something else is there."""
    row = await reader.fetchrow(_FOUND, subdomain)
    if row is None:
        return None
    where = f"at the subdomain {subdomain!r}" if subdomain else "at the main address"
    if row["source"] is None:
        raise ArchiveFailed(f"There is an organization {where} already. Name another one with --subdomain.")
    if row["finished"] is not None:
        raise ArchiveFailed(
            f"The organization {where} was imported on {row['finished']:%Y-%m-%d %H:%M} UTC. To import"
            " an archive once more, name another subdomain."
        )
    if row["digest"] != digest_of(manifest):
        raise ArchiveFailed(
            f"Another archive is half imported {where}, since {row['started']:%Y-%m-%d %H:%M} UTC. Import that one"
            " to its end, or name another subdomain."
        )
    shifts = msgspec.json.decode(row["shifts"], type=Shifts)
    return Begun(row["id"], shifts, row["stage"], row["lines"], goes_on=True)


async def begin(
    database: Database, subdomain: str, organization: Organization, manifest: Manifest, spans: Spans
) -> Begun:
    """Reserve ids and make the organization, together: nobody else has these ids, or can ever get one."""
    for _ in range(_TRIES):
        try:
            async with database.transaction() as tx:
                return await _begin(tx, subdomain, organization, manifest, spans)
        except asyncpg.LockNotAvailableError:
            await asyncio.sleep(0.3)
        except asyncpg.UniqueViolationError as error:
            raise ArchiveFailed(
                f"There is an organization at the subdomain {subdomain!r} now. Name another."
            ) from error
    raise ArchiveFailed("The server is too busy to reserve ids: a long transaction holds its tables. Try again later.")


async def _begin(
    tx: Transaction, subdomain: str, organization: Organization, manifest: Manifest, spans: Spans
) -> Begun:
    tables = [TABLES[family] for family in spans.found]
    await tx.execute(f"set local lock_timeout = '{_LOCK_MILLISECONDS}ms'")
    # Whoever inserts waits for the moment that this takes, and then gets an id after ours.
    await tx.execute(f"lock table {', '.join([*tables, 'scheduled_message'])} in share row exclusive mode")
    shifts = await shifts_of(tx, spans)
    for family, (_, last) in spans.found.items():
        statement = _ADVANCE.format(table=TABLES[family], given=_given(TABLES[family]))
        await tx.fetchval(statement, last + getattr(shifts, family))
    realm_id = organization.id + shifts.realm
    about = (organization.name, organization.description, organization.created)
    encoded = msgspec.json.encode(shifts).decode()
    await tx.execute(_BEGIN, realm_id, subdomain, *about, manifest.source, digest_of(manifest), encoded, FIRST_STAGE)
    return Begun(realm_id, shifts, FIRST_STAGE, 0, goes_on=False)


async def shifts_of(reader: Reader, spans: Spans) -> Shifts:
    """As they would be at this moment."""
    found = {}
    for family, span in spans.found.items():
        row = await reader.fetchrow(_HIGHEST.format(table=TABLES[family]))
        assert row is not None
        highest, given = row["highest"], row["given"]
        if family == "message":
            highest = max(highest, await reader.fetchval("select coalesce(max(id), 0) from scheduled_message"))
        found[family] = shift_of(family, span, highest=highest, given=given)
    return Shifts(**found)


def _given(table: str) -> str:
    return f"coalesce(pg_sequence_last_value(pg_get_serial_sequence('{table}', 'id')::regclass), 1)"
