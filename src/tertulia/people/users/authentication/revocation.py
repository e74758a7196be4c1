"""The end of API keys and browser sessions: the one place where they are revoked (tests/rules/test_revocation.py).

Addresses that mail comes in at end with them: whoever knows one writes as that user.

A request that comes afterwards is refused, because the row is gone. One that waits already, a long poll, learns of it from
the event log, ahead of everything that was committed later.
"""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from tertulia.events.log.record import Audience, Record
from tertulia.kernel.db import Transaction
from tertulia.organization.audit_log import Act, note, user
from tertulia.people.users.authentication import queries
from tertulia.people.users.authentication.queries import EndedKey, EndedSession
from tertulia.people.users.model import KeyOrigin

GOT_BY_PASSWORD = (KeyOrigin.PASSWORD, KeyOrigin.SESSION, KeyOrigin.UNKNOWN)
"""Keys that a new password ends. A session may have begun with the old one; of what is not known, the worse is assumed."""
LOGINS_OF_APPS = (KeyOrigin.PASSWORD, KeyOrigin.PROVIDER)
PORTION = 5000
"""Credentials in one entry of the log, whose size has a limit."""


async def end_key(tx: Transaction, user_id: int, key_id: int) -> EndedKey | None:
    """End one key of a user; None if they have no such key."""
    ended = await queries.delete_keys(tx, [user_id], key_id, None)
    _tell(tx, ended, [])
    return ended[0] if ended else None


async def end_keys(tx: Transaction, user_id: int) -> None:
    """End all keys of a user, and the addresses by which anybody writes as them: a key made some, or could have."""
    await queries.delete_addresses(tx, user_id, answers=True)
    _tell(tx, await queries.delete_keys(tx, [user_id], None, None), [])


async def end_keys_by_password(tx: Transaction, user_id: int) -> None:
    """End what a user got by a password which is no longer theirs: keys, and mail addresses of channels."""
    await queries.delete_addresses(tx, user_id, answers=False)
    _tell(tx, await queries.delete_keys(tx, [user_id], None, GOT_BY_PASSWORD), [])


async def end_old_keys(tx: Transaction, idle_days: int, max_days: int, limit: int) -> int:
    """End keys that were not used for so many days, and log-ins of apps that are so many days old; 0: none. How many."""
    ended = await queries.delete_old_keys(tx, idle_days, max_days, LOGINS_OF_APPS, limit)
    _tell(tx, ended, [])
    return len(ended)


async def end_session(tx: Transaction, user_id: int, session_id: int) -> bool:
    """End one session of a user; returns whether there was such a one."""
    ended = await queries.delete_sessions(tx, [user_id], session_id, None)
    _tell(tx, [], ended)
    return bool(ended)


async def end_session_at(tx: Transaction, digest: bytes) -> None:
    """End the session of a browser."""
    _tell(tx, [], await queries.delete_session(tx, digest))


async def end_sessions(tx: Transaction, user_id: int, keep: bytes | None = None) -> None:
    """Log a user out of every browser, or of all but one."""
    _tell(tx, [], await queries.delete_sessions(tx, [user_id], None, keep))


async def end_provider_session(
    tx: Transaction, issuer: str, session: str, user_ids: Sequence[int] | None
) -> tuple[int, int]:
    """End what began with one session at a provider, keys of apps too; returns how many sessions and keys.

    `user_ids`: whose it was, if the provider said so.
    """
    sessions = await queries.delete_provider_sessions(tx, issuer, session, user_ids)
    keys = await queries.delete_provider_keys(tx, issuer, session, user_ids)
    _tell(tx, keys, sessions)
    return len(sessions), len(keys)


async def end_provider_access(tx: Transaction, issuer: str, user_ids: Sequence[int]) -> tuple[int, int]:
    """Log users out of every browser, and end the keys that apps got through the provider; returns how many of both."""
    sessions = await queries.delete_sessions(tx, user_ids, None, None)
    keys = await queries.delete_provider_keys(tx, issuer, None, user_ids)
    _tell(tx, keys, sessions)
    return len(sessions), len(keys)


async def end_everything_else(tx: Transaction, user_id: int, session: bytes | None, key_id: int) -> tuple[int, int]:
    """End all sessions and keys of a user but one of them, their mail addresses, and a wish for another address of their own;
    returns how many of the first two."""
    await queries.delete_addresses(tx, user_id, answers=True)
    await queries.delete_email_change(tx, user_id)
    sessions = await queries.delete_sessions(tx, [user_id], None, session)
    keys = await queries.delete_other_keys(tx, user_id, key_id)
    _tell(tx, keys, sessions)
    return len(sessions), len(keys)


async def end_oldest_sessions(tx: Transaction, user_id: int, kept: int) -> None:
    """Log a user out of the browsers that were not in use for the longest time, but for so many."""
    _tell(tx, [], await queries.delete_oldest_sessions(tx, user_id, kept))


async def end_access(tx: Transaction, user_ids: Sequence[int]) -> None:
    """End all that opens these accounts, which are switched off. Their queues end as well: nothing waits that must be told."""
    await queries.delete_access(tx, user_ids)


def _tell(tx: Transaction, keys: Sequence[EndedKey], sessions: Sequence[EndedSession]) -> None:
    ended: defaultdict[int, list[int]] = defaultdict(list)
    for key in keys:
        ended[key.realm_id].append(key.id)
    for session in sessions:
        ended[session.realm_id].append(-session.id)  # as `Caller.credential` has it
    for one in keys:
        note(tx, one.realm_id, Act.KEY_ENDED, user(one.user_id), key=(one.id, None))
    for (realm_id, user_id), ids in _by_user(sessions).items():
        note(tx, realm_id, Act.SESSION_ENDED, user(user_id), sessions=(ids, None))
    for realm_id, numbers in ended.items():
        for start in range(0, len(numbers), PORTION):
            portion = tuple(numbers[start : start + PORTION])
            tx.emit(realm_id, Record(Audience(), "revoked", msgspec.Raw(b"{}"), revokes=portion))


def _by_user(sessions: Sequence[EndedSession]) -> dict[tuple[int, int], list[int]]:
    found: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for session in sessions:
        found[session.realm_id, session.user_id].append(session.id)
    return found
