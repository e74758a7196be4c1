"""The list of erasures beside the archives: a restore of an older archive repeats those that are not in it.

One small object for each erasure, with ids and times only, so that nobody has to read and write a common list at the same time.
Somebody has several if it was said anew what becomes of their messages: what an archive does not know of these is repeated in the
order in which it was asked for. Pruning leaves them: an older archive may lie elsewhere.
"""

from collections.abc import Callable
from datetime import datetime
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
    people: dict[tuple[str, int, datetime], list[Listed]] = {}
    async for key, _ in place.store.listed(FOLDER):
        one = await _read(place, key)
        people.setdefault((one.realm, one.user_id, one.joined), []).append(one)
    count, refused = 0, []
    async with await _connect(settings) as database:
        for _, listed in sorted(people.items()):
            try:
                count += await _repeat_all(database, settings, listed)
            except Refusal as refusal:
                refused.append(f"Account {listed[0].user_id} is not erased again. {refusal.msg}")
            progress(f"erasures: {count:,}")
        async with database.reader() as reader:
            unfinished = await reader.fetch("select id from erasure where finished is null order by id")
        for row in unfinished:
            await go_on(database, Store(settings), StoredExports(), row["id"])
    return Repeated(count, refused)


async def _repeat_all(database: Database, settings: Settings, listed: list[Listed]) -> bool:
    """What was asked for one person after what is known of them here; whether there was anything."""
    first = listed[0]
    async with database.reader() as reader:
        known = await queries.find_listed(reader, first.realm, first.user_id, first.joined)
    if known is None or (known.is_erased and known.asked is None):
        return False
    later = [one for one in listed if not known.is_erased or known.asked is None or one.asked > known.asked]
    for one in sorted(later, key=lambda one: one.asked):
        async with database.transaction() as tx:
            erasure_id = await begin(tx, known.realm_id, one.user_id, one.messages)
        await go_on(database, Store(settings), StoredExports(), erasure_id)
    return bool(later)


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
