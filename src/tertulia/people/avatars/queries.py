"""SQL of avatars: one statement per function."""

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.settings import RealmFacts, decode_realm


class Avatar(msgspec.Struct, frozen=True):
    """What somebody's avatar is."""

    name: str | None
    version: int
    url: str

    @property
    def source(self) -> str:
        """As the protocol spells it: uploaded, or drawn."""
        return "J" if self.name is None else "U"


_COLUMNS = "avatar as name, avatar_version as version, avatar_url(account) as url"


async def hold_rights(tx: Transaction, user_id: int) -> tuple[int, RealmFacts]:
    """The role of an active account, held until the commit, and what the organization has settled."""
    sql = """
    select role, realm.settings::text as realm_facts from account join realm on realm.id = account.realm_id
    where account.id = $1 and account.is_active for no key update of account
    """
    row = await tx.fetchrow(sql, user_id)
    if row is None:
        raise Refusal("Insufficient permission")
    return row["role"], decode_realm(row["realm_facts"])


async def lock_avatar(tx: Transaction, user_id: int) -> Avatar:
    """The avatar of an active account, held until the commit."""
    row = await tx.fetchrow(f"select {_COLUMNS} from account where id = $1 and is_active for no key update", user_id)
    if row is None:
        raise Refusal("Insufficient permission")
    return Avatar(**row)


async def change_avatar(tx: Transaction, user_id: int, name: str | None) -> Avatar:
    """Write a user's avatar."""
    sql = f"""
    update account set avatar = $2, avatar_version = avatar_version + 1 where id = $1 returning {_COLUMNS}
    """
    row = await tx.fetchrow(sql, user_id, name)
    assert row is not None
    return Avatar(**row)


async def find_avatar(reader: Reader, realm_id: int, user_id: int) -> Avatar | None:
    """The avatar of somebody of a realm."""
    row = await reader.fetchrow(f"select {_COLUMNS} from account where realm_id = $1 and id = $2", realm_id, user_id)
    return Avatar(**row) if row else None


async def is_in_use(reader: Reader, realm_id: int, name: str) -> bool:
    """Whether it is somebody's avatar now."""
    sql = "select exists (select from account where avatar = $2 and realm_id = $1)"
    return bool(await reader.fetchval(sql, realm_id, name))
