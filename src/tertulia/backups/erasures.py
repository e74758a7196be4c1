"""The list of erasures beside the archives: a restore of an older archive repeats those that are not in it.

One small object for each erasure, with ids and times only, so that nobody has to read and write a common list at the same time.
Pruning leaves them: an older archive may lie elsewhere.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from tertulia.archives.exports.ending import StoredExports
from tertulia.backups.errors import Damaged
from tertulia.backups.place import Place
from tertulia.content.storage import Store
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.kernel.sealing import sealer_of
from tertulia.kernel.settings import Settings
from tertulia.messaging.erasure import queries
from tertulia.messaging.erasure.actions import begin, go_on
from tertulia.messaging.erasure.model import Listed

FOLDER = "erasures"


async def write_list(settings: Settings, place: Place) -> int:
    """Put what the place does not have yet; how many that were."""
    async with await _connect(settings) as database, database.reader() as reader:
        listed = await queries.listed(reader)
    if not listed:
        return 0
    there = {key async for key, _ in place.store.listed(FOLDER)}
    new = [one for one in listed if key_of(one) not in there]
    for one in new:
        await place.store.put(key_of(one), msgspec.json.encode(one), "application/json")
    return len(new)


class Repeated(NamedTuple):
    """How many people were erased again, and of whom that was refused: for each a sentence."""

    erased: int
    refused: list[str]


async def repeat(settings: Settings, place: Place, progress: Callable[[str], None]) -> Repeated:
    """Erase in a restored database whoever was erased since, and go on with what was under way.

    Who was the only owner then, or held, is not: that is the operator's to solve.
    """
    keys = sorted([key async for key, _ in place.store.listed(FOLDER)])
    count, refused = 0, []
    async with await _connect(settings) as database:
        for key in keys:
            listed = await _read(place, key)
            try:
                count += await _repeat_one(database, settings, listed)
            except Refusal as refusal:
                refused.append(f"Account {listed.user_id} is not erased again. {refusal.msg}")
            progress(f"erasures: {count:,}")
        async with database.reader() as reader:
            unfinished = await reader.fetch("select id from erasure where finished is null order by id")
        for row in unfinished:
            await go_on(database, Store(settings), StoredExports(), row["id"])
    return Repeated(count, refused)


async def _repeat_one(database: Database, settings: Settings, one: Listed) -> bool:
    async with database.reader() as reader:
        realm_id = await queries.not_erased(reader, one.realm, one.user_id, one.joined)
    if realm_id is None:
        return False
    async with database.transaction() as tx:
        erasure_id = await begin(tx, realm_id, one.user_id, one.messages)
    await go_on(database, Store(settings), StoredExports(), erasure_id)
    return True


async def _read(place: Place, key: str) -> Listed:
    data = await (await place.store.get(key)).read()
    try:
        return msgspec.json.decode(data, type=Listed)
    except msgspec.MsgspecError as error:
        raise Damaged(f"{place.text}/{key} says whom to erase, and cannot be read: {error}.") from error


async def _connect(settings: Settings) -> Database:
    return await Database.connect(settings.postgres_url, shards=settings.shards, size=1, sealer=sealer_of(settings))


def key_of(one: Listed) -> str:
    """Names what is to be done and to whom: asking for something else is another object."""
    return f"{FOLDER}/{one.realm}.{one.user_id}.{one.asked.timestamp():.0f}.{one.messages.value}.json"
