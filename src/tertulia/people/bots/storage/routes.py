"""Endpoints of what bots remember. People may use it too: it is their own."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, put
from tertulia.kernel.params import AnyLength
from tertulia.people.bots.storage.actions import forget_storage, read_storage, write_storage

Keys = Annotated[list[str], msgspec.Meta(max_length=10_000)]
Entries = Annotated[dict[str, str], msgspec.Meta(max_length=10_000), AnyLength()]


class Storage(msgspec.Struct):
    """The answer of GET /bot_storage."""

    storage: dict[str, str]


@get("/bot_storage")
async def get_storage(caller: Person, reader: Reader, *, keys: Keys | None = None) -> Storage:
    """What you have stored: the values of these keys, or all."""
    return Storage(await read_storage(reader, caller.user_id, keys))


@put("/bot_storage")
async def update_storage(caller: Person, tx: Transaction, *, storage: Entries) -> None:
    """Store texts under keys of your own, of at most 500 characters. Other keys keep their values."""
    await write_storage(tx, caller, storage)


@delete("/bot_storage")
async def remove_storage(caller: Person, tx: Transaction, *, keys: Keys | None = None) -> None:
    """Forget these keys, or everything."""
    await forget_storage(tx, caller.user_id, keys)
