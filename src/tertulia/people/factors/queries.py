"""SQL of the factors feature: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction


class Factor(msgspec.Struct, frozen=True):
    """What is known of somebody's second factors."""

    role: int
    secret: bytes | None
    """As it is stored."""
    is_confirmed: bool
    last_step: int
    is_due: bool
    """The time that the organization gives people has passed."""
    due: int | None
    codes_left: int
    passkeys: int

    @property
    def has_totp(self) -> bool:
        """Whether there is an authenticator for codes."""
        return self.secret is not None and self.is_confirmed

    @property
    def is_on(self) -> bool:
        """Whether a login by a password needs something more."""
        return self.has_totp or self.passkeys > 0


SETUP_MINUTES = 15
"""How long a secret waits for the code that confirms it; then it is as if there were none."""

_FACTOR = f"""
select account.role,
    case when is_confirmed or begun > now() - interval '{SETUP_MINUTES} minutes' then secret end as secret,
    coalesce(is_confirmed, false) as is_confirmed, coalesce(last_step, 0) as last_step,
    coalesce(due < now(), false) as is_due, extract(epoch from due)::bigint as due,
    (select count(*) from recovery_code where recovery_code.user_id = account.id) as codes_left,
    (select count(*) from passkey where passkey.user_id = account.id) as passkeys
from account left join second_factor on second_factor.user_id = account.id where account.id = $1
"""


async def get_factor(reader: Reader, user_id: int) -> Factor:
    """The factor of an account that exists."""
    row = await reader.fetchrow(_FACTOR, user_id)
    assert row is not None
    return Factor(**row)


async def lock_factor(tx: Transaction, user_id: int) -> Factor:
    """The same, until the end of the transaction: nobody uses or changes it meanwhile."""
    await tx.execute("insert into second_factor (user_id) values ($1) on conflict do nothing", user_id)
    await tx.execute("select from second_factor where user_id = $1 for update", user_id)
    return await get_factor(tx, user_id)


async def begin_grace(tx: Transaction, user_id: int, days: int) -> None:
    """From now on somebody has so many days, unless that began before."""
    sql = """
    insert into second_factor (user_id, due) values ($1, now() + make_interval(days => $2))
    on conflict (user_id) do update set due = excluded.due where second_factor.due is null
    """
    await tx.execute(sql, user_id, days)


async def put_secret(tx: Transaction, user_id: int, stored: bytes) -> None:
    """Store a secret that is to be confirmed by a code."""
    sql = "update second_factor set secret = $2, is_confirmed = false, last_step = 0, begun = now() where user_id = $1"
    await tx.execute(sql, user_id, stored)


async def confirm(tx: Transaction, user_id: int) -> None:
    """The secret counts from now on."""
    await tx.execute("update second_factor set is_confirmed = true where user_id = $1", user_id)


async def use_step(tx: Transaction, user_id: int, step: int) -> bool:
    """Use the code of a step up; False if it, or a later one, was used before."""
    sql = "update second_factor set last_step = $2 where user_id = $1 and last_step < $2 returning true"
    return bool(await tx.fetchval(sql, user_id, step))


async def use_recovery_code(tx: Transaction, user_id: int, digest: bytes) -> bool:
    """Use a recovery code up; returns whether there was such a one."""
    sql = "delete from recovery_code where user_id = $1 and digest = $2 returning true"
    return bool(await tx.fetchval(sql, user_id, digest))


async def put_recovery_codes(tx: Transaction, user_id: int, digests: Sequence[bytes]) -> None:
    """Give somebody these codes, in place of all others."""
    await tx.execute("delete from recovery_code where user_id = $1", user_id)
    sql = "insert into recovery_code (user_id, digest) select $1, digest from unnest($2::bytea[]) as digest"
    await tx.execute(sql, user_id, digests)


async def delete_totp(tx: Transaction, user_id: int) -> None:
    """Take the authenticator away; what else there is stays."""
    sql = "update second_factor set secret = null, is_confirmed = false, last_step = 0 where user_id = $1"
    await tx.execute(sql, user_id)


async def end_factor(tx: Transaction, user_id: int) -> None:
    """Take the authenticator and the recovery codes away, as their owner wants it: the days somebody has go on."""
    await put_recovery_codes(tx, user_id, [])
    await delete_totp(tx, user_id)


async def delete_factor(tx: Transaction, user_id: int) -> bool:
    """Take the authenticator and the recovery codes away; returns whether there was one. The days somebody has begin anew."""
    await tx.execute("delete from recovery_code where user_id = $1", user_id)
    sql = "delete from second_factor where user_id = $1 returning is_confirmed"
    return bool(await tx.fetchval(sql, user_id))


async def realm_of(reader: Reader, user_id: int) -> int:
    """The organization of an account."""
    realm_id: int = await reader.fetchval("select realm_id from account where id = $1", user_id)
    return realm_id
