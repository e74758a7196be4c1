"""Endpoints for owners: legal holds. What was kept meanwhile is the operator's to hand out: owners could not read it either."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import HumanOwner
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import delete, get, post
from tertulia.messaging.erasure.holds import actions, queries
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.reauthentication import Proof, Reauthentication

Reason = Annotated[str, msgspec.Meta(max_length=200)]


class HoldRecord(msgspec.Struct, kw_only=True):
    """A legal hold."""

    id: int
    user_id: int | None
    """Null: the whole organization."""
    reason: str
    created_timestamp: float
    made_by: int | None
    """Null: the operator of the server, who alone can end it."""


class Holds(msgspec.Struct):
    """The answer of GET /legal_holds."""

    holds: list[HoldRecord]


class NewHold(msgspec.Struct):
    """The answer of POST /legal_holds."""

    id: int


class EndedHold(msgspec.Struct):
    """The answer of DELETE /legal_holds/{hold_id}."""

    copies: int
    """So many copies of what was deleted meanwhile went with it."""


@get("/legal_holds")
async def get_holds(caller: HumanOwner, reader: Reader) -> Holds:
    """What is under a legal hold: it is not erased, and deleting it leaves a copy."""
    holds = await queries.holds_of(reader, caller.realm_id)
    return Holds(
        [
            HoldRecord(
                id=one.id,
                user_id=one.user_id,
                reason=one.reason,
                created_timestamp=one.created.timestamp(),
                made_by=one.made_by,
            )
            for one in holds
        ]
    )


@post("/legal_holds")
async def add_hold(
    caller: HumanOwner,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    user_id: int | None = None,
    reason: Reason = "",
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> NewHold:
    """Hold a person or, without `user_id`, the whole organization. Nobody else notices. Needs your password, or a `code` or
    `passkey` of your second factor.
    """
    await again.check(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        return NewHold(await actions.add_hold(tx, caller.realm_id, user_id, reason, caller.user_id))


@delete("/legal_holds/{hold_id}")
async def remove_hold(
    caller: HumanOwner,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    hold_id: int,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> EndedHold:
    """End a hold that an owner has placed, though not one on yourself. Copies that nothing else holds are deleted: have the
    operator export them first. Needs your password, or a `code` or `passkey` of your second factor.
    """
    await again.check(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        return EndedHold(await actions.remove_hold(tx, caller.realm_id, hold_id, caller.user_id))
