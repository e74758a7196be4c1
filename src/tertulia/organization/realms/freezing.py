"""Freezing an organization before it moves to another server, and what comes after. The rule itself is in kernel/freezing.py."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.freezing import IS_FROZEN_AT, NOTE, frozen
from tertulia.organization.audit_log import Act, note, realm
from tertulia.organization.realms.queries import lock_realm
from tertulia.organization.realms.settings import notes_of

POLL_SECONDS = 0.05
_NOTED = "update realm set settings = settings || jsonb_build_object($2::text, $3::text) where id = $1"
_FORGOTTEN = "update realm set settings = settings - $2::text[] where id = $1"
# Transactions of this database by their own name, which none gets again. Whoever only copies changes nothing.
_UNDER_WAY = """
select virtualtransaction, coalesce(nullif(application_name, ''), backend_type) as program
from pg_locks join pg_stat_activity using (pid)
where locktype = 'virtualxid' and mode = 'ExclusiveLock' and granted and pid <> pg_backend_pid()
    and datname = current_database() and backend_type = 'client backend'
    and application_name not in ('tertulia export', 'tertulia backup', 'pg_dump')
"""


def freeze_hook(database: Database) -> Callable[[Call], Awaitable[bool]]:
    """Whether the organization of a call is frozen. Who calls has brought that along; of others it is asked."""

    async def is_frozen(call: Call) -> bool:
        if call.caller is not None:
            return bool(notes_of(call.caller).frozen)
        async with database.reader() as reader:
            return bool(await reader.fetchval(IS_FROZEN_AT, None, call.subdomain))

    return is_frozen


async def check_not_frozen(reader: Reader, realm_id: int) -> None:
    """Refuse to go on, for what is changed by a request that may be made while the organization is frozen."""
    if await reader.fetchval(IS_FROZEN_AT, realm_id, None):
        raise frozen()


async def freeze(tx: Transaction, realm_id: int) -> bool:
    """Let nobody write from the commit on; returns whether that is new. Who began before may still (`wait_for_writers`)."""
    held = await lock_realm(tx, realm_id)
    if held.facts.notes.frozen:
        return False
    await tx.execute(_NOTED, realm_id, NOTE, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    note(tx, realm_id, Act.REALM_CHANGED, realm(realm_id), is_frozen=(False, True))
    return True


async def thaw(tx: Transaction, realm_id: int) -> bool:
    """Let people write again; returns whether that is new."""
    held = await lock_realm(tx, realm_id)
    if not held.facts.notes.frozen:
        return False
    await tx.execute(_FORGOTTEN, realm_id, [NOTE, "_moved_to"])
    note(tx, realm_id, Act.REALM_CHANGED, realm(realm_id), is_frozen=(True, False))
    return True


async def note_new_home(tx: Transaction, realm_id: int, url: str) -> None:
    """Where it has gone: whoever still comes is told."""
    await tx.execute(_NOTED, realm_id, "_moved_to", url)


async def wait_for_writers(database: Database, seconds: float) -> list[str]:
    """Until all transactions have ended that are under way now. Returns the programs whose transactions have not by then.

    A transaction that begins after the freeze sees it. One that had begun may have looked before, so it is waited for,
    whatever it does: that it will write cannot be seen before it has.
    """
    async with database.reader() as reader:
        asked = {row["virtualtransaction"]: row["program"] for row in await reader.fetch(_UNDER_WAY)}
        deadline = time.monotonic() + seconds
        while asked and time.monotonic() < deadline:
            await asyncio.sleep(POLL_SECONDS)
            now = {row["virtualtransaction"] for row in await reader.fetch(_UNDER_WAY)}
            asked = {name: program for name, program in asked.items() if name in now}
    return sorted(asked.values())
