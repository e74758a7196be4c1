"""Endpoints of one's own passkeys."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Human
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, delete, get, patch, post
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.queries import get_realm
from tertulia.people.factors.actions import somebody_of
from tertulia.people.factors.passkeys import actions, queries
from tertulia.people.factors.passkeys.model import CreationOptions, Label, NewCredential, Passkey
from tertulia.people.factors.passkeys.party import party_of
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.authentication.holding import hold_access
from tertulia.people.users.reauthentication import Proof, Reauthentication

Code = Annotated[str, msgspec.Meta(max_length=40)]


class Passkeys(msgspec.Struct):
    """The answer of GET /users/me/passkeys."""

    passkeys: list[Passkey]


class Begun(msgspec.Struct):
    """The answer of POST /users/me/passkeys/options."""

    public_key: CreationOptions


class Added(msgspec.Struct):
    """The answer of POST /users/me/passkeys."""

    id: int
    recovery_codes: list[str] | msgspec.UnsetType = msgspec.UNSET
    """With the first factor: codes that log in without it, each once. They are not shown again."""


@get("/users/me/passkeys")
async def get_passkeys(caller: Human, reader: Reader) -> Passkeys:
    """Your passkeys, in the order they were added."""
    return Passkeys(await queries.passkeys_of(reader, caller.user_id))


@post("/users/me/passkeys/options")
async def begin_passkey(
    caller: Human, call: Call, database: Database, settings: Settings, again: Reauthentication,
    *, password: str | None = None, code: Code | None = None, passkey: Assertion | None = None,
) -> Begun:  # fmt: skip
    """What your browser makes a passkey with: good once, for five minutes, and for this very session or key.

    Needs your password; who has a second factor proves it by that instead: a `code`, or a `passkey`.
    """
    await again.check(caller, call, Proof(password, code, passkey), by_factor=True)
    async with database.transaction() as tx:
        realm = await get_realm(tx, caller.realm_id)
        party = party_of(caller, call, settings)
        return Begun(await actions.begin_adding(tx, realm, party, somebody_of(caller), caller.credential))


@post("/users/me/passkeys")
async def add_passkey(
    caller: Human, call: Call, database: Database, settings: Settings, *, label: Label, credential: NewCredential
) -> Added:
    """Add the passkey that your browser has made. From then on a password alone does not log in.

    `credential` is what `navigator.credentials.create` returned, as JSON. What is refused needs new options.
    """
    party, who = party_of(caller, call, settings), somebody_of(caller)
    claimed = await actions.claim(database, caller, credential)
    async with database.transaction() as tx:
        await hold_access(tx, caller)
        realm = await get_realm(tx, caller.realm_id)
        passkey_id, codes = await actions.add(tx, realm, party, who, claimed, label, credential)
    return Added(passkey_id, codes or msgspec.UNSET)


@patch("/users/me/passkeys/{passkey_id}")
async def rename_passkey(caller: Human, tx: Transaction, *, passkey_id: int, label: Label) -> None:
    """Rename a passkey of yours."""
    await actions.rename(tx, caller.user_id, passkey_id, label)


@delete("/users/me/passkeys/{passkey_id}")
async def remove_passkey(
    caller: Human, call: Call, database: Database, again: Reauthentication,
    *, passkey_id: int, code: Code | None = None, passkey: Assertion | None = None,
) -> None:  # fmt: skip
    """Remove a passkey of yours. Needs a second factor: a `code`, or a `passkey`."""
    async with database.reader() as reader:
        if passkey_id not in {one.id for one in await queries.passkeys_of(reader, caller.user_id)}:
            raise actions.no_such_passkey()
    await again.check(caller, call, Proof(None, code, passkey), by_factor=True)
    async with database.transaction() as tx:
        await hold_access(tx, caller)
        await actions.remove(tx, await get_realm(tx, caller.realm_id), somebody_of(caller), passkey_id)
