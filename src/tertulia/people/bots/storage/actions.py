"""What bots remember: a small store of texts for each account, its own and nobody else's.

Invariant: whoever writes holds the account, so that two writers together do not get past the limit.
"""

from collections.abc import Sequence

from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_bytes, check_count, full, hold_count
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.people.bots.bounds import OWNED_CHARACTERS, OWNED_KEYS, STORED_CHARACTERS, STORED_KEYS
from tertulia.people.users.handover import Handed

MAX_KEY_LENGTH = 500
"""Longer ones do not fit into an index of PostgreSQL."""


async def read_storage(reader: Reader, user_id: int, keys: Sequence[str] | None) -> dict[str, str]:
    """The values of these keys, or of all; refuses keys that are not there."""
    sql = "select key, value from bot_storage where user_id = $1 and ($2::text[] is null or key = any($2)) order by key"
    found = {row["key"]: row["value"] for row in await reader.fetch(sql, user_id, keys)}
    if set(keys or ()) - found.keys():
        raise _no_such_key()
    return found


async def write_storage(tx: Transaction, caller: Caller, values: dict[str, str]) -> None:
    """Set these keys; the others stay as they are."""
    if any(len(key) > MAX_KEY_LENGTH for key in values):
        raise Refusal(f"A key has at most {MAX_KEY_LENGTH} characters.")
    await tx.fetchval("select id from account where id = $1 for no key update", caller.user_id)
    # Both are counted before anything is written: what is refused costs no more than reading what is there.
    left = """
    select count(*) as keys, coalesce(sum(size), 0) as size from bot_storage
    where user_id = $1 and key not in (select unnest($2::text[]))
    """
    [others] = await tx.fetch(left, caller.user_id, list(values))
    if others["keys"] + len(values) > (limit := tx.bounds.limit(STORED_KEYS)):
        raise full(STORED_KEYS, limit)
    size = others["size"] + sum(map(_size, values.items()))
    if size > (limit := tx.bounds.limit(STORED_CHARACTERS)):
        raise Refusal(f"This is {size - limit} characters too much (limit: {limit} in all).")
    await hold_count(tx, OWNED_KEYS, caller.person_id)
    sql = """
    insert into bot_storage (user_id, key, value, size) select $1, key, value, char_length(key) + char_length(value)
    from unnest($2::text[], $3::text[]) as new(key, value)
    on conflict (user_id, key) do update set value = excluded.value, size = excluded.size
    """
    await tx.execute(sql, caller.user_id, list(values), list(values.values()))
    await check_count(tx, OWNED_KEYS, caller.person_id, adding=0)
    await check_bytes(tx, OWNED_CHARACTERS, caller.person_id)


async def forget_storage(tx: Transaction, user_id: int, keys: Sequence[str] | None) -> None:
    """Drop these keys, or all; refuses keys that are not there, and drops none then."""
    sql = "delete from bot_storage where user_id = $1 and ($2::text[] is null or key = any($2)) returning key"
    gone = {row["key"] for row in await tx.fetch(sql, user_id, keys)}
    if set(keys or ()) - gone:
        raise _no_such_key()


def _size(entry: tuple[str, str]) -> int:
    return len(entry[0]) + len(entry[1])


def _no_such_key() -> Refusal:
    return Refusal("Key does not exist.")


async def take_all(tx: Transaction, handed: Handed) -> None:
    """A bot that gets another owner remembers nothing."""
    await tx.execute("delete from bot_storage where user_id = $1", handed.bot_id)
