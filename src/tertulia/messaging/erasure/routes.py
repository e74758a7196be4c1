"""Endpoints for owners: erasing somebody, and how far that is. The worker does it."""

import msgspec

from tertulia.kernel.auth import HumanOwner
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import get, post
from tertulia.kernel.settings import Settings
from tertulia.messaging.erasure import actions, queries
from tertulia.messaging.erasure.model import Erasure, Messages, Stage
from tertulia.messaging.erasure.receipt import Outside, TableLine, receipt_of
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.reauthentication import Proof, Reauthentication
from tertulia.people.users.rules import no_such_user


class ErasureRecord(msgspec.Struct, kw_only=True):
    """An erasure, under way or done. Ids, times and numbers: it names nobody."""

    messages: Messages
    asked_timestamp: float
    asked_by: int | None
    """Null: the operator of the server."""
    steps_done: int
    """Of `steps_total`."""
    steps_total: int
    finished_timestamp: float | None
    tables: list[TableLine] | None
    """The receipt, when it is done: every table of the database."""
    outside: list[Outside] | None
    """The rest of it: where else something may be."""


class ErasureState(msgspec.Struct, kw_only=True):
    """The answer of GET /users/{user_id}/erasure."""

    is_held: bool
    """Whether a legal hold forbids it, or has stopped it."""
    erasure: ErasureRecord | None


@post("/users/{user_id}/erase")
async def erase_user(
    caller: HumanOwner,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    user_id: int,
    messages: Messages = Messages.KEEP,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> None:
    """Erase a person for good, with their files and bots: the account stays as a number. What they wrote stays by "Deleted user
    12" (`keep`), is deleted (`delete`), or is given to one account for all who are gone (`anonymize`). Needs your password, or a
    `code` or `passkey` of your second factor.

    They are logged out and deactivated at once. The rest is done in the background: `GET /users/{user_id}/erasure` tells how
    far it is. Of somebody who is erased already, it changes what becomes of their messages.
    """
    await again.check(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        await actions.begin(tx, caller.realm_id, user_id, messages, caller.user_id)


@get("/users/{user_id}/erasure")
async def get_erasure(caller: HumanOwner, reader: Reader, settings: Settings, *, user_id: int) -> ErasureState:
    """Whether somebody can be erased, how far their erasure is, and when it is done its receipt."""
    ids = await queries.accounts_of(reader, caller.realm_id, user_id)
    if user_id not in ids:
        raise no_such_user()
    erasure = await queries.find_erasure(reader, user_id)
    record = None if erasure is None else await _record_of(reader, erasure, settings)
    is_held = await queries.held_by(reader, caller.realm_id, ids)
    return ErasureState(is_held=is_held, erasure=record)


async def _record_of(reader: Reader, erasure: Erasure, settings: Settings) -> ErasureRecord:
    stages = list(Stage)
    is_done = erasure.finished is not None or erasure.stage is None
    # Without the numbers that the worker has stored, a receipt would read tables from end to end.
    receipt = await receipt_of(reader, erasure, settings) if is_done and erasure.kept is not None else None
    return ErasureRecord(
        messages=erasure.messages,
        asked_timestamp=erasure.asked.timestamp(),
        asked_by=erasure.asked_by,
        steps_done=len(stages) if is_done or erasure.stage is None else stages.index(erasure.stage),
        steps_total=len(stages),
        finished_timestamp=erasure.finished.timestamp() if erasure.finished else None,
        tables=receipt.tables if receipt else None,
        outside=receipt.outside if receipt else None,
    )
