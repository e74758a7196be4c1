"""Telling of what people say of themselves."""

from collections.abc import Sequence

from tertulia.events.log.record import Record
from tertulia.kernel.db import Transaction
from tertulia.people.profiles.model import Value
from tertulia.people.users.events import those_who_know, updated


async def tell_values(
    tx: Transaction, realm_id: int, user_id: int, put: Sequence[Value], removed: Sequence[int]
) -> None:
    """Somebody says something else of themselves."""
    to = await those_who_know(tx, realm_id, user_id)
    for value in put:
        field: dict[str, object] = {"id": value.field_id, "value": value.value}
        if value.rendered is not None:
            field["rendered_value"] = value.rendered
        tx.emit(realm_id, updated(to, user_id, custom_profile_field=field))
    for field_id in removed:
        tx.emit(realm_id, updated(to, user_id, custom_profile_field={"id": field_id, "value": None}))


async def tell_removed(tx: Transaction, realm_id: int, field_id: int, user_ids: Sequence[int]) -> None:
    """These people say nothing in a field any more."""
    gone = {"id": field_id, "value": None}
    for place, user_id in enumerate(user_ids):
        to = await those_who_know(tx, realm_id, user_id)
        if to.realm:
            # Everybody may know of everybody here: no need to ask for each of them.
            told: list[Record] = [updated(to, other, custom_profile_field=gone) for other in user_ids[place:]]
            for one in told:
                tx.emit(realm_id, one)
            return
        tx.emit(realm_id, updated(to, user_id, custom_profile_field=gone))
