"""SQL of playgrounds: one statement per function."""

import msgspec

from tertulia.kernel.db import Reader, Transaction


class Playground(msgspec.Struct, frozen=True):
    """Where code of a language can be tried."""

    id: int
    name: str
    pygments_language: str
    url_template: str


async def playgrounds_of(reader: Reader, realm_id: int) -> list[Playground]:
    """A realm's playgrounds, in the order they came."""
    sql = "select id, name, pygments_language, url_template from playground where realm_id = $1 order by id"
    return [Playground(**row) for row in await reader.fetch(sql, realm_id)]


async def insert_playground(tx: Transaction, realm_id: int, name: str, language: str, template: str) -> int | None:
    """Insert a playground; returns its id, None if there is one of this name for the language."""
    sql = """
    insert into playground (realm_id, name, pygments_language, url_template) values ($1, $2, $3, $4)
    on conflict do nothing returning id
    """
    found: int | None = await tx.fetchval(sql, realm_id, name, language, template)
    return found


async def delete_playground(tx: Transaction, realm_id: int, playground_id: int) -> bool:
    """Delete a playground; returns whether it was there."""
    sql = "delete from playground where realm_id = $1 and id = $2 returning true"
    return bool(await tx.fetchval(sql, realm_id, playground_id))
