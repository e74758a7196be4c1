"""Endpoints of the factors feature: one's own second factor."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Human
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import Call, delete, get, post
from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.queries import get_realm
from tertulia.organization.realms.settings import settings_of
from tertulia.people.factors import actions, queries
from tertulia.people.factors.actions import Setup, somebody_of
from tertulia.people.factors.rules import is_required
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.authentication.holding import hold_access
from tertulia.people.users.reauthentication import Proof, Reauthentication

Code = Annotated[str, msgspec.Meta(max_length=40)]


class Factors(msgspec.Struct):
    """The answer of GET /users/me/factors."""

    totp: bool
    """Whether there is an authenticator for codes."""
    passkeys: int
    """How many passkeys there are. With any factor a login by password needs a second step."""
    recovery_codes_left: int
    is_required: bool
    """The organization asks for a second factor."""
    due: int | None
    """Until when one logs in without; null: that was never asked, or has not begun."""


class RecoveryCodes(msgspec.Struct):
    """Codes that log in without the authenticator, each once. They are not shown again."""

    recovery_codes: list[str]


@get("/users/me/factors")
async def get_factors(caller: Human, reader: Reader) -> Factors:
    """Your second factors, and whether your organization asks for one."""
    factor = await queries.get_factor(reader, caller.user_id)
    required = is_required(settings_of(caller), factor.role)
    return Factors(factor.has_totp, factor.passkeys, factor.codes_left, required, factor.due if required else None)


@post("/users/me/factors/totp")
async def begin_totp(
    caller: Human, call: Call, database: Database, again: Reauthentication,
    *, password: str | None = None, code: Code | None = None, passkey: Assertion | None = None,
) -> Setup:  # fmt: skip
    """A secret for your authenticator: it counts once you confirm it with a code.

    Needs your password; who has passkeys proves it by one of them instead, or by a recovery code as `code`.
    """
    await again.check(caller, call, Proof(password, code, passkey), by_factor=True)
    async with database.transaction() as tx:
        await hold_access(tx, caller)
        return await actions.begin_setup(tx, await get_realm(tx, caller.realm_id), somebody_of(caller))


@post("/users/me/factors/totp/confirm")
async def confirm_totp(caller: Human, database: Database, again: Reauthentication, *, code: Code) -> RecoveryCodes:
    """From now on logging in needs a code of this authenticator. The answer has your recovery codes.

    A secret waits for this a quarter of an hour.
    """
    async with again.counting_codes(caller), database.transaction() as tx:
        await hold_access(tx, caller)
        realm = await get_realm(tx, caller.realm_id)
        return RecoveryCodes(await actions.confirm_setup(tx, realm, somebody_of(caller), code))


@post("/users/me/factors/recovery_codes")
async def renew_recovery_codes(
    caller: Human, call: Call, database: Database, again: Reauthentication,
    *, code: Code | None = None, passkey: Assertion | None = None,
) -> RecoveryCodes:  # fmt: skip
    """Other recovery codes, in place of those you have. Needs one of them or of your authenticator as `code`, or a `passkey`."""
    await _check_factor(caller, database)
    await again.check(caller, call, Proof(None, code, passkey), by_factor=True)
    async with database.transaction() as tx:
        await hold_access(tx, caller)
        if not (await queries.lock_factor(tx, caller.user_id)).is_on:  # removed meanwhile
            raise no_factor()
        return RecoveryCodes(await actions.renew_recovery_codes(tx, caller.user_id))


@delete("/users/me/factors/totp")
async def remove_totp(
    caller: Human, call: Call, database: Database, again: Reauthentication,
    *, code: Code | None = None, passkey: Assertion | None = None,
) -> None:  # fmt: skip
    """Logging in no longer needs a code. Needs a `code` of your authenticator or a recovery code, or a `passkey`."""
    await _check_factor(caller, database)
    await again.check(caller, call, Proof(None, code, passkey), by_factor=True)
    async with database.transaction() as tx:
        await hold_access(tx, caller)
        await actions.remove_totp(tx, await get_realm(tx, caller.realm_id), somebody_of(caller))


async def _check_factor(caller: Human, database: Database) -> None:
    async with database.reader() as reader:
        if not (await queries.get_factor(reader, caller.user_id)).is_on:
            raise no_factor()


def no_factor() -> Refusal:
    """The refusal of who has none."""
    return Refusal("You have no second factor.")
