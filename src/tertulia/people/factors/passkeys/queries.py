"""SQL of passkeys and their challenges: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.people.factors.passkeys.ceremony import Made
from tertulia.people.factors.passkeys.model import Passkey


class Known(msgspec.Struct, frozen=True):
    """What a ceremony needs to know of a passkey."""

    id: int
    user_id: int
    credential: bytes
    public_key: bytes
    sign_count: int
    label: str
    transports: list[str]
    is_verifying: bool
    handle: bytes | None
    """What authenticators know the account by."""


_KNOWN = """
select passkey.id, passkey.user_id, credential, public_key, sign_count, label, transports, is_verifying, handle
from passkey left join second_factor on second_factor.user_id = passkey.user_id
"""


async def find_owner(reader: Reader, realm_id: int, credential: bytes) -> int | None:
    """Whose passkey it is."""
    sql = "select user_id from passkey where realm_id = $1 and credential = $2"
    found: int | None = await reader.fetchval(sql, realm_id, credential)
    return found


async def hold_passkey(tx: Transaction, user_id: int, credential: bytes) -> Known | None:
    """One passkey of somebody, until the end of the transaction: nobody uses or removes it meanwhile."""
    row = await tx.fetchrow(
        f"{_KNOWN} where passkey.user_id = $1 and credential = $2 for update of passkey", user_id, credential
    )
    return Known(**row) if row else None


async def known_passkeys(reader: Reader, user_id: int) -> list[Known]:
    """All passkeys of somebody, for a ceremony."""
    return [
        Known(**row) for row in await reader.fetch(f"{_KNOWN} where passkey.user_id = $1 order by passkey.id", user_id)
    ]


async def passkeys_of(reader: Reader, user_id: int) -> list[Passkey]:
    """All passkeys of somebody, as they see them."""
    sql = """
    select id, label, extract(epoch from created)::bigint as created, extract(epoch from last_used)::bigint as last_used,
        is_verifying, is_synced
    from passkey where user_id = $1 order by id
    """
    return [Passkey(**row) for row in await reader.fetch(sql, user_id)]


async def insert_passkey(
    tx: Transaction, user_id: int, made: Made, label: str, transports: Sequence[str]
) -> int | None:
    """Insert a passkey; None if the organization knows it already."""
    sql = """
    insert into passkey (realm_id, user_id, credential, public_key, sign_count, label, transports, is_verifying, is_synced)
    select realm_id, id, $2, $3, $4, $5, $6, $7, $8 from account where id = $1
    on conflict do nothing returning id
    """
    values = (made.credential, made.public_key, made.sign_count, label, transports, made.is_verifying, made.is_synced)
    found: int | None = await tx.fetchval(sql, user_id, *values)
    return found


async def note_use(tx: Transaction, passkey_id: int, sign_count: int, *, is_synced: bool) -> bool:
    """A passkey was used; False if its count says that it was copied."""
    sql = """
    update passkey set sign_count = $2, is_synced = $3, last_used = now()
    where id = $1 and (sign_count < $2 or (sign_count = 0 and $2 = 0)) returning true
    """
    return bool(await tx.fetchval(sql, passkey_id, sign_count, is_synced))


async def rename_passkey(tx: Transaction, user_id: int, passkey_id: int, label: str) -> bool:
    """Rename a passkey of somebody; returns whether there was such a one."""
    sql = "update passkey set label = $3 where id = $2 and user_id = $1 returning true"
    return bool(await tx.fetchval(sql, user_id, passkey_id, label))


async def delete_passkey(tx: Transaction, user_id: int, passkey_id: int) -> str | None:
    """Delete a passkey of somebody; returns its label, None if there was no such one."""
    found: str | None = await tx.fetchval(
        "delete from passkey where id = $2 and user_id = $1 returning label", user_id, passkey_id
    )
    return found


async def delete_passkeys(tx: Transaction, user_id: int) -> int:
    """Delete all passkeys of somebody; returns how many."""
    return int((await tx.execute("delete from passkey where user_id = $1", user_id)).split()[-1])


async def get_handle(tx: Transaction, user_id: int, fresh: bytes) -> bytes:
    """What authenticators know somebody by, for whoever holds their factor; a fresh one if there is none yet."""
    sql = "update second_factor set handle = coalesce(handle, $2) where user_id = $1 returning handle"
    handle: bytes = await tx.fetchval(sql, user_id, fresh)
    return handle


async def hold_account(tx: Transaction, user_id: int) -> None:
    """Nobody deactivates the account before the end of the transaction. Taken before the locks of factors."""
    await tx.execute("select from account where id = $1 for share", user_id)


# Challenges


class Bound(msgspec.Struct, frozen=True):
    """What a challenge is good for."""

    realm_id: int
    purpose: str
    user_id: int | None = None
    """None: whoever signs it."""
    credential: int = 0
    """The session or key that asks, as `Caller.credential` has it; 0: none."""


async def insert_challenge(tx: Transaction, digest: bytes, bound: Bound, seconds: int) -> None:
    """Insert a challenge."""
    sql = """
    insert into passkey_challenge (digest, realm_id, user_id, credential, purpose, expires)
    values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
    """
    await tx.execute(sql, digest, bound.realm_id, bound.user_id, bound.credential, bound.purpose, seconds)


async def claim_challenge(tx: Transaction, digest: bytes, bound: Bound, ticket: bytes) -> bool:
    """Put a ticket in the place of a challenge, with what it is good for; returns whether there was such a one for that."""
    sql = """
    update passkey_challenge set digest = $6
    where digest = $1 and realm_id = $2 and user_id is not distinct from $3 and credential = $4 and purpose = $5
        and expires > now()
    returning true
    """
    values = (bound.realm_id, bound.user_id, bound.credential, bound.purpose, ticket)
    return bool(await tx.fetchval(sql, digest, *values))


async def take_challenge(tx: Transaction, digest: bytes, bound: Bound) -> bool:
    """Use a challenge up; returns whether there was such a one for that."""
    sql = """
    delete from passkey_challenge
    where digest = $1 and realm_id = $2 and user_id is not distinct from $3 and credential = $4 and purpose = $5
        and expires > now()
    returning true
    """
    return bool(await tx.fetchval(sql, digest, bound.realm_id, bound.user_id, bound.credential, bound.purpose))


async def drop_challenges(tx: Transaction, user_id: int, purpose: str) -> None:
    """What somebody has begun for that purpose is not to be finished."""
    await tx.execute("delete from passkey_challenge where user_id = $1 and purpose = $2", user_id, purpose)


async def drop_oldest_challenges(tx: Transaction, user_id: int, kept: int) -> None:
    """Delete the oldest challenges of somebody, but for so many."""
    sql = """
    delete from passkey_challenge where digest in (
        select digest from passkey_challenge where user_id = $1 order by expires desc, digest offset $2
        for update skip locked
    )
    """
    await tx.execute(sql, user_id, kept)


async def delete_expired(tx: Transaction, limit: int) -> int:
    """Forget challenges that nobody has signed in time; returns how many."""
    sql = """
    delete from passkey_challenge where digest in (
        select digest from passkey_challenge where expires < now() limit $1 for update skip locked
    )
    """
    return int((await tx.execute(sql, limit)).split()[-1])
