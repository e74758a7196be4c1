"""What a directory does to people. Every change of an account is one of the actions of `people/users`.

The account is held before it is looked at, so what a change is derived from, and the version a client expects, are as they are
when it is written.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import asyncpg

from tertulia.integrations.scim.answers import ScimRefusal, no_such_resource
from tertulia.integrations.scim.users import queries
from tertulia.integrations.scim.users.queries import Naming, UserRow
from tertulia.integrations.scim.users.rules import Wanted, wanted_by_patch, wanted_by_put, wanted_of_new
from tertulia.kernel.auth import DirectoryClient, Role
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Taken
from tertulia.kernel.json_guard import is_storable
from tertulia.people.users.actions import Changes, change_user, check_not_fake, hold_both, make_person
from tertulia.people.users.activation import deactivate_user, reactivate_user, turn_off
from tertulia.people.users.arrival import Arrival
from tertulia.people.users.handover import BotHandover
from tertulia.people.users.queries import find_account

if TYPE_CHECKING:
    from tertulia.integrations.scim.schemas import WrittenUser

MAX_ID_LENGTH = 20

Expect = Callable[[UserRow], None]
"""Refuses a person who is not as the client thinks."""
Patch = Callable[[UserRow], tuple["WrittenUser", "WrittenUser"]]
"""A person before and after the operations of a PATCH."""


async def get_user(reader: Reader, caller: DirectoryClient, id: str) -> UserRow:
    """A person in reach."""
    found = await queries.find_user(reader, caller.realm_id, number_of(id))
    if found is None:
        raise no_such_resource()
    return found


def number_of(id: str) -> int:
    """The number behind the id of a resource."""
    number = find_number(id)
    if number is None:
        raise no_such_resource()
    return number


def find_number(id: str) -> int | None:
    """As `number_of`; None for what can be no id. There is one way to write each: no zeros before it."""
    is_number = id.isascii() and id.isdigit() and len(id) <= MAX_ID_LENGTH and str(int(id)) == id
    return int(id) if is_number and is_storable(int(id)) else None


async def create_user(
    tx: Transaction, caller: DirectoryClient, arrival: Arrival, handover: BotHandover, sent: "WrittenUser"
) -> UserRow:
    """Make an account, or bring back the one that a directory has deleted."""
    wanted = wanted_of_new(sent)
    deleted = await queries.find_deleted(tx, caller.realm_id, wanted.naming.user_name, wanted.email)
    if deleted is not None:
        await hold_both(tx, caller, deleted.id, owners=True)
        deleted = await queries.find_deleted(tx, caller.realm_id, wanted.naming.user_name, wanted.email)
    if deleted is not None:
        await _write(tx, caller, handover, deleted, wanted)
        return await get_user(tx, caller, str(deleted.id))
    await _check_name_free(tx, caller, wanted.naming, None)
    user_id = await make_person(tx, caller, arrival, wanted.email, wanted.full_name)
    await _write_naming(tx, caller, user_id, wanted.naming)
    account = None if wanted.is_active else await find_account(tx, user_id)
    if account is not None:
        # Nobody else knows the account yet, so no other one is held: the channels it joined are held already.
        await turn_off(tx, caller.realm_id, [account])
    return await get_user(tx, caller, str(user_id))


async def replace_user(
    tx: Transaction, caller: DirectoryClient, handover: BotHandover, id: str, sent: "WrittenUser", expect: Expect
) -> UserRow:
    """PUT: make a person as they are sent."""
    now = await _hold(tx, caller, id)
    expect(now)
    await _write(tx, caller, handover, now, wanted_by_put(now, sent))
    return await get_user(tx, caller, id)


async def patch_user(
    tx: Transaction, caller: DirectoryClient, handover: BotHandover, id: str, patch: Patch, expect: Expect
) -> UserRow:
    """PATCH: change what the operations say."""
    now = await _hold(tx, caller, id)
    expect(now)
    await _write(tx, caller, handover, now, wanted_by_patch(now, *patch(now)))
    return await get_user(tx, caller, id)


async def delete_user(tx: Transaction, caller: DirectoryClient, id: str, expect: Expect) -> None:
    """DELETE: deactivate the account. The directory does not see it any more."""
    now = await _hold(tx, caller, id)
    expect(now)
    _check_reachable(now)
    if now.is_active:
        await deactivate_user(tx, caller, now.id)
    await queries.mark_deleted(tx, caller.realm_id, now)


async def _hold(tx: Transaction, caller: DirectoryClient, id: str) -> UserRow:
    await hold_both(tx, caller, number_of(id), owners=True)
    return await get_user(tx, caller, id)


async def _write(tx: Transaction, caller: DirectoryClient, handover: BotHandover, now: UserRow, wanted: Wanted) -> None:
    if wanted.is_active != now.is_active:
        _check_reachable(now)
    if wanted.naming != _naming_of(now) or now.is_deleted:
        await _check_name_free(tx, caller, wanted.naming, now.id)
        await _write_naming(tx, caller, now.id, wanted.naming)
    if wanted.email != now.email:
        check_not_fake(wanted.email, caller)
    await change_user(tx, caller, now.id, Changes(full_name=wanted.full_name, email=wanted.email))
    if wanted.is_active and not now.is_active:
        await reactivate_user(tx, caller, now.id, handover)
    elif now.is_active and not wanted.is_active:
        await deactivate_user(tx, caller, now.id)


async def _check_name_free(tx: Transaction, caller: DirectoryClient, naming: Naming, user_id: int | None) -> None:
    if await queries.has_namesake(tx, caller.realm_id, naming.user_name, user_id):
        raise _name_taken()


async def _write_naming(tx: Transaction, caller: DirectoryClient, user_id: int, naming: Naming) -> None:
    try:
        await queries.write_naming(tx, caller.realm_id, user_id, naming)
    except asyncpg.UniqueViolationError as error:
        raise _name_taken() from error


def _naming_of(now: UserRow) -> Naming:
    return Naming(now.user_name, now.given_name, now.family_name, now.formatted_name, now.external_id)


def _check_reachable(now: UserRow) -> None:
    """Owners come and go by other owners. The actions refuse as well; here it is said in words a provider shows."""
    if now.role == Role.OWNER:
        raise ScimRefusal("Owners of the organization are activated and deactivated by owners only.", status=403)


def _name_taken() -> Taken:
    return Taken("Somebody else has this userName.")
