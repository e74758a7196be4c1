"""Pictures in the store. A crash at any point leaves no object that the database does not know of.

Before an object is put into the store its key is listed as loose, in a transaction of its own. Whoever comes to refer to it takes
it off the list (`adopt`), and what is referred to no longer goes back on it (`let_go`), in the transaction of the change.
The worker deletes what is loose (`sweep`): at once what was let go or refused, after an hour what a crash left behind.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import server_not_ready
from tertulia.storage import Store

PATIENCE_SECONDS = 3600
"""A request that takes longer than this between storing a picture and referring to it has to be made again."""
BATCH = 100


@asynccontextmanager
async def offered(database: Database, store: Store, pictures: Mapping[str, bytes]) -> AsyncIterator[None]:
    """Pictures in the store, each under a key that nobody has used; to be adopted inside. What goes wrong there lets them go."""
    keys = list(pictures)
    async with database.transaction() as tx:
        await tx.execute("insert into loose_picture (key) select unnest($1::text[])", keys)
    try:
        for key, data in pictures.items():
            await store.put(key, data, content_type(key))
        yield
    except Exception:
        async with database.transaction() as tx:
            await tx.execute("update loose_picture set since = '-infinity' where key = any($1::text[])", keys)
        raise


async def adopt(tx: Transaction, keys: Sequence[str]) -> None:
    """From the commit on these pictures belong to somebody."""
    rows = await tx.fetch("delete from loose_picture where key = any($1::text[]) returning key", keys)
    if len(rows) != len(keys):
        raise server_not_ready("The picture took too long to be stored. Please try again.")


async def let_go(tx: Transaction, keys: Sequence[str]) -> None:
    """From the commit on nobody has these pictures."""
    sql = "insert into loose_picture (key, since) select unnest($1::text[]), '-infinity' on conflict do nothing"
    await tx.execute(sql, keys)


async def sweep(database: Database, store: Store) -> int:
    """Delete what is loose; how many."""
    total = 0
    while True:
        async with database.transaction() as tx:
            sql = """
            select key from loose_picture where since < now() - make_interval(secs => $2)
            order by since limit $1 for update skip locked
            """
            keys = [row["key"] for row in await tx.fetch(sql, BATCH, PATIENCE_SECONDS)]
            if keys:
                # Held meanwhile: nobody adopts what is being deleted. Repeating it does no harm.
                await store.delete(keys)
                await tx.execute("delete from loose_picture where key = any($1::text[])", keys)
        total += len(keys)
        if len(keys) < BATCH:
            return total


def content_type(key: str) -> str:
    """The type of a picture, from how its name ends."""
    return "image/webp" if key.endswith(".webp") else "image/png"
