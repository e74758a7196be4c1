"""SQL of linkifiers: one statement per function."""

from collections.abc import Sequence

from tertulia.kernel.db import Reader, Transaction
from tertulia.organization.linkifiers.model import LinkifierRecord

_COLUMNS = "id, pattern, url_template, example_input, reverse_template, alternative_url_templates"


async def linkifiers_of(reader: Reader, realm_id: int) -> list[LinkifierRecord]:
    """A realm's linkifiers in the order in which they are tried."""
    sql = f"select {_COLUMNS} from linkifier where realm_id = $1 order by position, id"
    return [LinkifierRecord(**row) for row in await reader.fetch(sql, realm_id)]


async def hold_realm(tx: Transaction, realm_id: int) -> None:
    """Whoever else changes linkifiers waits until the commit."""
    await tx.fetchval("select id from realm where id = $1 for no key update", realm_id)


async def insert_linkifier(tx: Transaction, realm_id: int, new: LinkifierRecord) -> int | None:
    """Insert a linkifier, tried last; returns its id, None if there is one with this pattern."""
    sql = """
    insert into linkifier
        (realm_id, pattern, url_template, example_input, reverse_template, alternative_url_templates, position)
    select $1, $2, $3, $4, $5, $6, coalesce(max(position), 0) + 1 from linkifier where realm_id = $1
    on conflict (realm_id, pattern) do nothing returning id
    """
    found: int | None = await tx.fetchval(sql, realm_id, *_values(new))
    return found


async def update_linkifier(tx: Transaction, realm_id: int, new: LinkifierRecord) -> bool:
    """Change a linkifier; returns False if another one has this pattern."""
    sql = """
    update linkifier set pattern = $3, url_template = $4, example_input = $5, reverse_template = $6,
        alternative_url_templates = $7
    where realm_id = $1 and id = $2
        and not exists (select from linkifier as other where other.realm_id = $1 and other.pattern = $3 and other.id <> $2)
    returning true
    """
    return bool(await tx.fetchval(sql, realm_id, new.id, *_values(new)))


async def delete_linkifier(tx: Transaction, realm_id: int, linkifier_id: int) -> bool:
    """Delete a linkifier; returns whether it was there."""
    sql = "delete from linkifier where realm_id = $1 and id = $2 returning true"
    return bool(await tx.fetchval(sql, realm_id, linkifier_id))


async def reorder(tx: Transaction, realm_id: int, ids: Sequence[int]) -> None:
    """Try them in this order."""
    sql = """
    update linkifier set position = ordered.position
    from unnest($2::bigint[]) with ordinality as ordered(id, position)
    where linkifier.realm_id = $1 and linkifier.id = ordered.id
    """
    await tx.execute(sql, realm_id, ids)


def _values(linkifier: LinkifierRecord) -> tuple[object, ...]:
    return (
        linkifier.pattern,
        linkifier.url_template,
        linkifier.example_input,
        linkifier.reverse_template,
        linkifier.alternative_url_templates,
    )
