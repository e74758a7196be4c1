"""PostgreSQL: whether it is set up for us, lets the relay in, and has the tables of this very program."""

import asyncio
import time
from typing import Any

from tertulia.cli.doctor import Advice, Several
from tertulia.cli.errors import CommandFailed
from tertulia.kernel.settings import Settings
from tertulia.kernel.urls import split_url

OLDEST = 15
CONNECT_SECONDS = 5
CLOCK_SECONDS = 5.0
"""Log-ins with codes, and links that expire, hang on the time."""
_RELAYS = r"""
select distinct substring(application_name from '^tertulia relay (\S+)') as version from pg_stat_activity
where datname = current_database() and application_name ~ '^tertulia relay \S+ form ' order by 1
"""
PROCESSES = 3
"""Connections that relay and worker and commands may need at once, beside those of a web process."""


def look_at_postgres(settings: Settings, *, is_dev: bool) -> str:
    """What holds. The one of `tertulia dev` is as small as it should be."""
    return asyncio.run(_ask(settings, is_dev=is_dev))


async def _ask(settings: Settings, *, is_dev: bool) -> str:

    from tertulia.kernel.engine_addresses import postgres_trust
    from tertulia.kernel.form import own_form
    from tertulia.kernel.postgres import Connector, Limits

    pg = await Connector(settings.postgres_url, Limits()).connect()
    try:
        version = int(await pg.fetchval("show server_version_num")) // 10_000
        if version < OLDEST:
            raise CommandFailed(f"version {version} is too old: {OLDEST} or newer is needed")
        trust = postgres_trust(settings.postgres_url)
        problems = [
            *await _bad_configuration(pg),
            *await _missing_extension(pg),
            *await _no_replication(pg, settings),
            *await _other_schema(pg),
        ]
        if trust.startswith("sslmode=") and trust != "sslmode=disable":
            problems.append(f"{trust} does not check whose certificate it is: write sslmode=verify-full, or disable")
        if problems:
            raise Several(problems)
        advice = [
            *await _frozen(pg),
            *await _apart(pg),
            *await _lost_slot(pg, settings),
            *([] if is_dev else await _advice(pg, settings)),
        ]
        state = f"version {version} ({trust}), form {own_form()}, relay {await _relay(pg, settings)}"
        if advice:
            raise Advice(f"{state}; {'; '.join(advice)}")
        return state
    finally:
        await pg.close()


async def _frozen(pg: Any) -> list[str]:
    """Organizations that nobody can write to: it may have been forgotten."""
    from tertulia.kernel.freezing import NOTE

    sql = "select subdomain, settings->>$1 as since from realm where is_active and settings ? $1 order by id"
    return [
        f"the organization {row['subdomain']!r} is frozen since {row['since']}: `tertulia move done`, or `tertulia move thaw`"
        for row in await pg.fetch(sql, NOTE)
    ]


async def _bad_configuration(pg: Any) -> list[str]:
    problems = []
    if await pg.fetchval("show wal_level") != "logical":
        problems.append("set wal_level = logical and restart PostgreSQL")
    problems += [
        f"{name} is off: a power failure would lose messages that were answered"
        for name in ("fsync", "full_page_writes", "synchronous_commit")
        if await pg.fetchval(f"show {name}") == "off"
    ]
    if await pg.fetchval("show server_encoding") != "UTF8":
        problems.append("the database's encoding is not UTF8: make it with `encoding 'UTF8' template template0`")
    return problems


async def _missing_extension(pg: Any) -> list[str]:
    if await pg.fetchval("select exists (select from pg_available_extensions where name = 'pg_trgm')"):
        return []
    return ["the extension pg_trgm is not installed: it is in PostgreSQL's contrib package"]


async def _no_replication(pg: Any, settings: Settings) -> list[str]:
    """Whether the relay would be let in: the account may, and pg_hba.conf says so."""
    import psycopg2
    import psycopg2.extras

    from tertulia.kernel.postgres import connect_libpq

    role = await pg.fetchval("select current_user")
    if not await pg.fetchval("select rolreplication or rolsuper from pg_roles where rolname = current_user"):
        return [f'the account may not read the stream of changes: alter role "{role}" replication']
    try:
        connection = await asyncio.to_thread(
            connect_libpq,
            settings.postgres_url,
            connection_factory=psycopg2.extras.LogicalReplicationConnection,
            connect_timeout=CONNECT_SECONDS,
        )
    except psycopg2.OperationalError as problem:
        return [f"the relay would not be let in: {' '.join(str(problem).split())}"]
    connection.close()
    return []


async def _other_schema(pg: Any) -> list[str]:
    from tertulia.kernel.form import WrongForm, check_form

    try:
        await check_form(pg)
    except WrongForm as problem:
        return [str(problem)]
    return []


async def _apart(pg: Any) -> list[str]:
    """Relays, or clocks, that do not agree."""
    advice = []
    rows = await pg.fetch(_RELAYS)
    if len(rows) > 1:
        versions = " and ".join(row["version"] for row in rows)
        advice.append(
            f"relays of versions {versions} run: as it is during an upgrade; if none is under way, end the older"
        )
    before = time.time()
    ahead = await pg.fetchval("select extract(epoch from clock_timestamp())::float8") - (before + time.time()) / 2
    if abs(ahead) > CLOCK_SECONDS:
        how = "ahead of" if ahead > 0 else "behind"
        advice.append(f"its clock is {abs(ahead):.0f} s {how} the one here: let both machines follow NTP")
    return advice


async def _lost_slot(pg: Any, settings: Settings) -> list[str]:
    sql = "select wal_status = 'lost' or restart_lsn is null from pg_replication_slots where slot_name = $1"
    if not await pg.fetchval(sql, settings.slot):
        return []
    told = f"the slot {settings.slot} has lost what it kept for the relay, which makes a new one; all clients load anew then"
    return [f"{told}. If the relay was away for less than a day, raise max_slot_wal_keep_size"]


async def _relay(pg: Any, settings: Settings) -> str:
    lag = await pg.fetchval(
        "select pg_size_pretty(pg_current_wal_lsn() - confirmed_flush_lsn) from pg_replication_slots where slot_name = $1",
        settings.slot,
    )
    return f"behind by {lag}" if lag else "has not run yet"


async def _advice(pg: Any, settings: Settings) -> list[str]:
    from tertulia.kernel.engine_addresses import is_on_this_machine

    advice = []
    if await pg.fetchval("show max_slot_wal_keep_size") == "-1":
        advice.append("set max_slot_wal_keep_size = 10GB, or a relay that is away for long fills the disk")
    room = int(await pg.fetchval("show max_connections")) - int(
        await pg.fetchval("show superuser_reserved_connections")
    )
    wanted = settings.pool_size + settings.shards + PROCESSES + 6
    if room < wanted:
        advice.append(f"max_connections leaves {room}, and one web process with relay and worker takes up to {wanted}")
    if await pg.fetchval("show shared_buffers") == "128MB" and is_on_this_machine(
        split_url(settings.postgres_url).hostname or ""
    ):
        advice.append("shared_buffers is as small as PostgreSQL's default: a quarter of the memory is usual")
    return advice
