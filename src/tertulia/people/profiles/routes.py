"""Endpoints of the profiles feature."""

from typing import Annotated, Any

import msgspec

from tertulia.kernel.auth import Administrator, Human, Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, patch, post
from tertulia.people.profiles import fields, queries, values
from tertulia.people.profiles.model import FieldPlan, ProfileField
from tertulia.people.users.model import ProfileEntry

MAX_NAMED = 1000
"""How many fields one request may speak of."""
FieldData = Annotated[dict[str, Any], msgspec.Meta(max_length=1000)]
Entries = Annotated[list[ProfileEntry], msgspec.Meta(max_length=MAX_NAMED)]
FieldIds = Annotated[list[int], msgspec.Meta(max_length=MAX_NAMED)]


class Fields(msgspec.Struct):
    """The answer of GET /realm/profile_fields."""

    custom_fields: list[ProfileField]


class NewField(msgspec.Struct):
    """The answer of POST /realm/profile_fields."""

    id: int


@get("/realm/profile_fields")
async def get_profile_fields(caller: Person, reader: Reader) -> Fields:
    """The custom profile fields of the organization, in their order."""
    return Fields(await queries.fields_of(reader, caller.realm_id))


@post("/realm/profile_fields")
async def create_profile_field(
    caller: Administrator,
    tx: Transaction,
    *,
    field_type: int,
    name: str = "",
    hint: str = "",
    field_data: FieldData | None = None,
    required: bool = False,
    editable_by_user: bool = True,
    display_in_profile_summary: bool = False,
    use_for_user_matching: bool = False,
) -> NewField:
    """Make a custom profile field.

    Dropdowns (type 3) have `{key: {"text": "...", "order": "1"}}` as `field_data`; external accounts (type 7)
    `{"subtype": "github"}` or `{"subtype": "custom", "url_pattern": "https://example.com/%(username)s"}`.
    """
    flags = (required, editable_by_user, display_in_profile_summary, use_for_user_matching)
    return NewField(await fields.create_field(tx, caller, field_type, FieldPlan(name, hint, field_data, *flags)))


@patch("/realm/profile_fields")
async def order_profile_fields(caller: Administrator, tx: Transaction, *, order: FieldIds) -> None:
    """Put the custom profile fields in an order: their IDs, each once."""
    await fields.order_fields(tx, caller, order)


@patch("/realm/profile_fields/{field_id}")
async def change_profile_field(
    caller: Administrator,
    tx: Transaction,
    *,
    field_id: int,
    name: str | None = None,
    hint: str | None = None,
    field_data: FieldData | None = None,
    required: bool | None = None,
    editable_by_user: bool | None = None,
    display_in_profile_summary: bool | None = None,
    use_for_user_matching: bool | None = None,
) -> None:
    """Change a custom profile field; its type stays. Values that are no choice any more are removed."""
    flags = (required, editable_by_user, display_in_profile_summary, use_for_user_matching)
    await fields.change_field(tx, caller, field_id, FieldPlan(name, hint, field_data, *flags))


@delete("/realm/profile_fields/{field_id}")
async def delete_profile_field(caller: Administrator, tx: Transaction, *, field_id: int) -> None:
    """Remove a custom profile field, and everybody's values of it."""
    await fields.delete_field(tx, caller, field_id)


@patch("/users/me/profile_data")
async def change_own_profile(caller: Human, tx: Transaction, *, data: Entries) -> None:
    """Set your values of custom profile fields; an empty value removes one."""
    await values.say(tx, caller, data)


@delete("/users/me/profile_data")
async def remove_own_profile(caller: Human, tx: Transaction, *, data: FieldIds) -> None:
    """Remove your values of these custom profile fields."""
    await values.take_back(tx, caller, data)
