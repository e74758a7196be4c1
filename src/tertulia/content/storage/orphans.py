"""Objects that no row refers to: being written, or left behind. A crash at any point leaves none that is not listed.

Before an object is put into the store it is announced, in a transaction of its own. The transaction that writes the row which
refers to it takes it off the list (`unlist`); the one that deletes the row puts it back (`drop`). Whoever gives up
before that need not wait (`hasten`). What is due is deleted by the worker
(files/uploads/sweeping/actions.py). One statement per function.
"""

from collections.abc import Sequence

from tertulia.kernel.db import Transaction

OBJECTS_LOCK = 9
"""The class of the advisory locks under which no object is deleted (docs/explanation/architecture.md, Locks)."""
BACKUP, EXPORT = 0, 2
"""Their keys: a backup and an export may run at the same time, two of a kind not."""


async def announce(tx: Transaction, keys: Sequence[str], seconds: float) -> None:
    """Somebody is about to write these objects; if nothing comes of it, they are deleted after that time."""
    sql = """
    insert into orphan_object (key, due) select key, now() + make_interval(secs => $2) from unnest($1::text[]) as new(key)
    order by key on conflict (key) do update set due = excluded.due
    """
    await tx.execute(sql, keys, seconds)


async def unlist(tx: Transaction, keys: Sequence[str]) -> bool:
    """From the commit on somebody owns them, or they are gone; whether all of them were listed."""
    sql = "with gone as (delete from orphan_object where key = any($1::text[]) returning key) select count(*) from gone"
    return bool(await tx.fetchval(sql, keys) == len(keys))


async def drop(tx: Transaction, keys: Sequence[str]) -> None:
    """From the commit on these objects are nobody's."""
    await announce(tx, keys, 0.0)


async def hasten(tx: Transaction, keys: Sequence[str]) -> None:
    """Nothing comes of these objects, as far as they are still listed: whoever has taken them off owns them."""
    await tx.execute("update orphan_object set due = now() where key = any($1::text[])", keys)


async def may_delete(tx: Transaction) -> bool:
    """Not while a backup or an export copies them: what its snapshot refers to must be there until it has it."""
    sql = """
    select bool_and(pg_try_advisory_xact_lock_shared($1::int, key)) from unnest($2::int[]) as key
    """
    return bool(await tx.fetchval(sql, OBJECTS_LOCK, [BACKUP, EXPORT]))


async def due(tx: Transaction, limit: int) -> list[str]:
    """Objects to delete, held for this transaction: nobody adopts them meanwhile."""
    sql = "select key from orphan_object where due <= now() order by due limit $1 for update skip locked"
    return [row["key"] for row in await tx.fetch(sql, limit)]
