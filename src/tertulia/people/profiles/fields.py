"""What administrators can do to the fields of a realm."""

from collections.abc import Sequence

import msgspec

from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.bounds import check_count
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.audit_log import Act, differences, note, realm
from tertulia.people.profiles import queries
from tertulia.people.profiles.bounds import FIELDS
from tertulia.people.profiles.events import tell_removed
from tertulia.people.profiles.model import FieldPlan, FieldType, ProfileField
from tertulia.people.profiles.rules import changed_field, check_among, check_order, choices_of, new_field
from tertulia.people.users.queries import lock_accounts


async def create_field(tx: Transaction, caller: Caller, type: int, plan: FieldPlan) -> int:
    """Make a field, the last one; returns its id."""
    fields = await _hold(tx, caller)
    field = new_field(type, plan, order=max((field.order for field in fields), default=0) + 1)
    check_among(field, fields)
    await check_count(tx, FIELDS, caller.realm_id)
    field_id = await queries.insert_field(tx, caller.realm_id, field)
    await _tell(tx, caller)
    changes = differences({}, msgspec.structs.asdict(msgspec.structs.replace(field, id=field_id)))
    note(tx, caller.realm_id, Act.PROFILE_FIELD_CREATED, ("profile_field", field_id), **changes)
    return field_id


async def change_field(tx: Transaction, caller: Caller, field_id: int, plan: FieldPlan) -> None:
    """Change a field. Whoever chose what is no choice any more has chosen nothing."""
    fields = await _hold(tx, caller)
    old = get_field(fields, field_id)
    new = changed_field(old, plan)
    if new == old:
        return
    check_among(new, [field for field in fields if field.id != field_id])
    await queries.update_field(tx, new)
    if new.type == FieldType.DROPDOWN and choices_of(old).keys() - choices_of(new).keys():
        losers = await queries.delete_other_choices(tx, field_id, list(choices_of(new)))
        await tell_removed(tx, caller.realm_id, field_id, losers)
    await _tell(tx, caller)
    changes = differences(msgspec.structs.asdict(old), msgspec.structs.asdict(new))
    note(tx, caller.realm_id, Act.PROFILE_FIELD_CHANGED, ("profile_field", field_id), **changes)


async def delete_field(tx: Transaction, caller: Caller, field_id: int) -> None:
    """Remove a field, and what anybody said in it."""
    field = get_field(await _hold(tx, caller), field_id)
    await queries.delete_field(tx, field_id)
    await _tell(tx, caller)
    note(tx, caller.realm_id, Act.PROFILE_FIELD_DELETED, ("profile_field", field_id), name=(field.name, None))


async def order_fields(tx: Transaction, caller: Caller, order: Sequence[int]) -> None:
    """Put the fields in this order."""
    fields = await _hold(tx, caller)
    check_order(order, fields)
    if [(field.id, field.order) for field in fields] == [(id, place) for place, id in enumerate(order, 1)]:
        return
    await queries.set_order(tx, order)
    await _tell(tx, caller)
    was = [field.id for field in fields]
    note(tx, caller.realm_id, Act.PROFILE_FIELD_CHANGED, realm(caller.realm_id), order=(was, list(order)))


def get_field(fields: Sequence[ProfileField], field_id: int) -> ProfileField:
    """The field with this id."""
    found = next((field for field in fields if field.id == field_id), None)
    if found is None:
        raise Refusal(f"Field id {field_id} not found.")
    return found


async def _hold(tx: Transaction, caller: Caller) -> list[ProfileField]:
    """The realm's fields, for an administrator to change."""
    await queries.lock_fields(tx, caller.realm_id)
    actor = (await lock_accounts(tx, caller.realm_id, [caller.user_id])).get(caller.user_id)
    if actor is None or not actor.is_active or actor.role > Role.ADMINISTRATOR:
        raise Refusal("Must be an organization administrator", code="UNAUTHORIZED_PRINCIPAL")
    return await queries.fields_of(tx, caller.realm_id)


async def _tell(tx: Transaction, caller: Caller) -> None:
    event: dict[str, list[msgspec.Struct]] = {"fields": [*await queries.fields_of(tx, caller.realm_id)]}
    tx.emit(caller.realm_id, record(Audience(realm=True), "custom_profile_fields", event))
