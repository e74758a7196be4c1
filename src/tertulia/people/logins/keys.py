"""API keys: each device has its own, and can be shut out alone. Of their use only the hour is kept.

A key knows how it was got: a new password ends those that were got by the old one. One that replaces another was got as the
other one was.
"""

import asyncio

import structlog

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import LOST, Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.tasks import end_tasks
from tertulia.people.logins import queries
from tertulia.people.logins.queries import Account
from tertulia.people.users.actions import create_api_key
from tertulia.people.users.authentication.holding import hold_access
from tertulia.people.users.authentication.revocation import end_key
from tertulia.people.users.model import KeyOrigin
from tertulia.people.users.notices import tell_owner

log = structlog.get_logger()

FLUSH_SECONDS = 60.0


async def revoke_key(tx: Transaction, caller: Caller, key_id: int) -> None:
    """End one of the caller's keys. Somebody else's looks like one that does not exist."""
    if await end_key(tx, caller.user_id, key_id) is None:
        raise Refusal("You have no such API key.")


async def regenerate_key(tx: Transaction, caller: Caller, label: str) -> str:
    """A new key in place of the one the caller used, with the age of that one, so that nobody stays for ever by replacing it; a
    caller without a key (in a browser) gets one more."""
    if (issuer := await queries.issuer_of_key(tx, caller.key_id)) is not None:
        await queries.lock_provider(tx, issuer, alone=False)
    await hold_access(tx, caller)
    past = await queries.past_of_key(tx, caller.key_id)
    old = await end_key(tx, caller.user_id, caller.key_id)
    made_by = KeyOrigin.SESSION if old is None else KeyOrigin(old.made_by)
    key = await create_api_key(tx, caller.user_id, (old.label if old else "") or label, made_by)
    if past is not None:
        await queries.put_past(tx, digest_of_key(key), past)
    if caller.is_bot:
        await tell_owner(tx, caller.realm_id, caller.user_id, "itself")
    return key


async def fetch_key(tx: Transaction, account: Account, label: str) -> str | None:
    """A new key for who knew the password; None if it was changed meanwhile, or the account deactivated."""
    if not await queries.hold_password(tx, account.id, account.password_hash):
        return None
    return await create_api_key(tx, account.id, label, KeyOrigin.PASSWORD)


class KeyUse:
    """Notes which keys are in use: one statement a minute, and none that changes what is less than an hour old."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen: set[int] = set()
        self._task: asyncio.Task[None] | None = None

    def note(self, key_id: int) -> None:
        """A request was made with this key."""
        self._seen.add(key_id)

    def start(self) -> None:
        """Begin to write now and then."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Write what is left, and end."""
        if self._task is not None:
            await end_tasks([self._task])
        await self.flush()

    async def flush(self) -> None:
        """Write what was noted. If PostgreSQL is away, the keys will be seen again."""
        seen, self._seen = self._seen, set()
        seen.discard(0)  # callers without a key
        if not seen:
            return
        try:
            async with self._database.transaction() as tx:
                await queries.write_last_used(tx, sorted(seen))
        except LOST as error:
            log.warning("the use of keys was not noted", keys=len(seen), error=repr(error))

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            await self.flush()
