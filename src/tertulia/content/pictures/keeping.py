"""Pictures in the store: objects that are announced before they are put there (content/storage/orphans.py)."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

from tertulia.content.storage import Store, orphans
from tertulia.kernel.db import LOST, Database, Transaction
from tertulia.kernel.errors import server_not_ready

PATIENCE_SECONDS = 3600.0
"""A request that takes longer than this between storing a picture and referring to it has to be made again."""


@asynccontextmanager
async def offered(database: Database, store: Store, pictures: Mapping[str, bytes]) -> AsyncIterator[None]:
    """Pictures in the store, each under a key that nobody has used; to be adopted inside. What goes wrong there lets them go."""
    keys = list(pictures)
    async with database.transaction() as tx:
        await orphans.announce(tx, keys, PATIENCE_SECONDS)
    try:
        for key, data in pictures.items():
            await store.put(key, data, content_type(key))
        yield
    except Exception:
        # Without a database they stay for a while; the caller hears what went wrong first.
        with suppress(*LOST):
            async with database.transaction() as tx:
                # Not put on the list again: it may have gone wrong after a commit that made them somebody's.
                await orphans.hasten(tx, keys)
        raise


async def adopt(tx: Transaction, keys: Sequence[str]) -> None:
    """From the commit on these pictures belong to somebody."""
    if not await orphans.unlist(tx, keys):
        raise server_not_ready("The picture took too long to be stored. Please try again.")


def content_type(key: str) -> str:
    """The type of a picture, from how its name ends."""
    return "image/webp" if key.endswith(".webp") else "image/png"
