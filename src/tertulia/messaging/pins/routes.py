"""Endpoints of pins."""

import msgspec

from tertulia.kernel.auth import Member, Person
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import delete, get, post
from tertulia.messaging.pins import actions
from tertulia.messaging.pins.queries import PinRecord


class Pins(msgspec.Struct):
    """The answer of GET /messages/{message_id}/pins."""

    pins: list[PinRecord]


@post("/messages/{message_id}/pin")
async def pin_message(caller: Member, tx: Transaction, *, message_id: int) -> None:
    """Pin a message in its topic or direct conversation, for everybody there. Whoever may post there may, guests not."""
    await actions.pin(tx, caller, message_id)


@delete("/messages/{message_id}/pin")
async def unpin_message(caller: Member, tx: Transaction, *, message_id: int) -> None:
    """Unpin a message, whoever pinned it."""
    await actions.unpin(tx, caller, message_id)


@get("/messages/{message_id}/pins")
async def get_pins(caller: Person, database: Database, *, message_id: int) -> Pins:
    """The pinned messages of the topic or direct conversation that a message is in, the last pinned first."""
    return Pins(await actions.pins_beside(database, caller, message_id))
