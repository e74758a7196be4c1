"""What people say of themselves, or administrators of them."""

from collections.abc import Sequence

from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, note, user
from tertulia.people.profiles import queries
from tertulia.people.profiles.events import tell_values
from tertulia.people.profiles.fields import get_field
from tertulia.people.profiles.model import FieldType, ProfileField, Value
from tertulia.people.profiles.rules import check_editable, user_ids_of, value_of
from tertulia.people.users.actions import get_both
from tertulia.people.users.model import ProfileEntry
from tertulia.people.users.queries import lock_accounts
from tertulia.people.users.rules import check_may_edit
from tertulia.people.users.visibility.actions import hidden_from


async def say(tx: Transaction, caller: Caller, entries: Sequence[ProfileEntry]) -> None:
    """The caller says this of themselves."""
    await queries.hold_fields(tx, caller.realm_id)
    held = await lock_accounts(tx, caller.realm_id, [caller.user_id])
    actor, _ = get_both(held, caller.user_id, caller.user_id)
    await _put(tx, caller, caller.user_id, entries, by_administrator=actor.role <= Role.ADMINISTRATOR)


async def say_of(tx: Transaction, caller: Caller, user_id: int, entries: Sequence[ProfileEntry]) -> None:
    """An administrator says this of somebody, while fields and both accounts are held. Bots have no profile."""
    actor, target = get_both(
        await lock_accounts(tx, caller.realm_id, [caller.user_id, user_id]), caller.user_id, user_id
    )
    check_may_edit(actor, target)
    if target.is_bot:
        raise Refusal("Bots have no custom profile fields.")
    await _put(tx, caller, user_id, entries, by_administrator=True)


async def take_back(tx: Transaction, caller: Caller, field_ids: Sequence[int]) -> None:
    """The caller says nothing in these fields any more."""
    await say(tx, caller, [ProfileEntry(field_id) for field_id in field_ids])


async def _put(
    tx: Transaction, caller: Caller, user_id: int, entries: Sequence[ProfileEntry], *, by_administrator: bool
) -> None:
    realm_id = caller.realm_id
    fields = await queries.fields_of(tx, realm_id)
    wanted: dict[int, Value | None] = {}
    named: set[int] = set()
    for entry in {entry.id: entry for entry in entries}.values():  # of one field the last counts
        field = get_field(fields, entry.id)
        check_editable(field, by_administrator=by_administrator)
        wanted[field.id] = value_of(field, entry)
        named |= _named(field, entry)
    said = await queries.values_of(tx, user_id)
    await _check_people(tx, caller, named)
    put = [value for value in wanted.values() if value is not None and value != said.get(value.field_id)]
    removed = [field_id for field_id, value in wanted.items() if value is None and field_id in said]
    if put:
        await queries.put_values(tx, realm_id, user_id, put)
    if removed:
        await queries.delete_values(tx, user_id, removed)
    if put or removed:
        await tell_values(tx, realm_id, user_id, put, removed)
        if user_id != caller.user_id:
            fields_changed = sorted([value.field_id for value in put] + removed)
            note(tx, realm_id, Act.USER_PROFILE_CHANGED, user(user_id), fields=(None, fields_changed))


def _named(field: ProfileField, entry: ProfileEntry) -> set[int]:
    return set(user_ids_of(field, entry)) if field.type == FieldType.USER else set()


async def _check_people(tx: Transaction, caller: Caller, user_ids: set[int]) -> None:
    """Refuse whoever is not an active person of the organization, or is not seen by the caller."""
    if not user_ids:
        return
    people = await queries.people_among(tx, caller.realm_id, sorted(user_ids))
    hidden = await hidden_from(tx, caller, user_ids)
    for user_id in sorted(user_ids):
        person = people.get(user_id)
        if person is None or user_id in hidden:
            raise Refusal(f"Invalid user ID: {user_id}")
        if not person["is_active"]:
            raise Refusal(f"User with ID {user_id} is deactivated")
        if person["is_bot"]:
            raise Refusal(f"User with ID {user_id} is a bot")
