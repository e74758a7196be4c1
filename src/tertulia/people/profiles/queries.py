"""SQL of the profiles feature: one statement per function."""

from collections.abc import Sequence

import asyncpg

from tertulia.kernel.db import Reader, Transaction
from tertulia.people.profiles.model import ProfileField, Value

FIELDS_LOCK = 4
"""The class of our advisory locks that the profile fields of a realm are locked in."""

_FIELD = """
id, type, position as order, name, hint, field_data, required, editable_by_user, display_in_profile_summary,
use_for_user_matching
"""


async def fields_of(reader: Reader, realm_id: int) -> list[ProfileField]:
    """The realm's fields in their order."""
    sql = f"select {_FIELD} from profile_field where realm_id = $1 order by position, id"
    return [ProfileField(**row) for row in await reader.fetch(sql, realm_id)]


async def lock_fields(tx: Transaction, realm_id: int) -> None:
    """One change of the realm's fields at a time, and none while values are written."""
    await tx.execute("select pg_advisory_xact_lock($1::int, $2::int)", FIELDS_LOCK, realm_id)


async def hold_fields(tx: Transaction, realm_id: int) -> None:
    """No change of the realm's fields from now on; values may be written."""
    await tx.execute("select pg_advisory_xact_lock_shared($1::int, $2::int)", FIELDS_LOCK, realm_id)


async def insert_field(tx: Transaction, realm_id: int, field: ProfileField) -> int:
    """Insert a field; returns its id."""
    sql = """
    insert into profile_field (realm_id, type, position, name, hint, field_data, required, editable_by_user,
        display_in_profile_summary, use_for_user_matching)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning id
    """
    return int(await tx.fetchval(sql, realm_id, field.type, field.order, *_changeable(field)))


async def update_field(tx: Transaction, field: ProfileField) -> None:
    """Write what may change about a field."""
    sql = """
    update profile_field set name = $2, hint = $3, field_data = $4, required = $5, editable_by_user = $6,
        display_in_profile_summary = $7, use_for_user_matching = $8
    where id = $1
    """
    await tx.execute(sql, field.id, *_changeable(field))


def _changeable(field: ProfileField) -> tuple[object, ...]:
    return (
        *(field.name, field.hint, field.field_data, field.required, field.editable_by_user),
        *(field.display_in_profile_summary, field.use_for_user_matching),
    )


async def delete_field(tx: Transaction, field_id: int) -> None:
    """Remove a field with all values."""
    await tx.execute("delete from profile_field where id = $1", field_id)


async def set_order(tx: Transaction, field_ids: Sequence[int]) -> None:
    """Number the fields from 1."""
    sql = """
    update profile_field set position = ord
    from unnest($1::bigint[]) with ordinality as wanted(id, ord) where profile_field.id = wanted.id
    """
    await tx.execute(sql, field_ids)


async def delete_other_choices(tx: Transaction, field_id: int, choices: Sequence[str]) -> list[int]:
    """Take back values that are no choice any more; whose they were. Only reads if there are none."""
    sql = "delete from profile_value where field_id = $1 and value <> all($2::text[]) returning user_id"
    return sorted(row["user_id"] for row in await tx.fetch(sql, field_id, choices))


async def values_of(reader: Reader, user_id: int) -> dict[int, Value]:
    """What somebody says of themselves, by field."""
    rows = await reader.fetch("select field_id, value, rendered from profile_value where user_id = $1", user_id)
    return {row["field_id"]: Value(**row) for row in rows}


async def put_values(tx: Transaction, realm_id: int, user_id: int, values: Sequence[Value]) -> None:
    """Write values in place of those there are."""
    sql = """
    insert into profile_value (realm_id, user_id, field_id, value, rendered)
    select $1, $2, field_id, value, rendered
    from unnest($3::bigint[], $4::text[], $5::text[]) as given(field_id, value, rendered)
    on conflict (user_id, field_id) do update set value = excluded.value, rendered = excluded.rendered
    """
    columns = [value.field_id for value in values], [value.value for value in values], [v.rendered for v in values]
    await tx.execute(sql, realm_id, user_id, *columns)


async def delete_values(tx: Transaction, user_id: int, field_ids: Sequence[int]) -> None:
    """Take back values."""
    await tx.execute(
        "delete from profile_value where user_id = $1 and field_id = any($2::bigint[])", user_id, field_ids
    )


async def people_among(reader: Reader, realm_id: int, user_ids: Sequence[int]) -> dict[int, asyncpg.Record]:
    """Those of these users that exist: whether they are active, and bots."""
    sql = """
    select id, is_active, bot_type is not null as is_bot from account where realm_id = $1 and id = any($2::bigint[])
    """
    return {row["id"]: row for row in await reader.fetch(sql, realm_id, user_ids)}
