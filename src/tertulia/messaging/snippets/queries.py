"""SQL of saved snippets: one statement per function."""

from tertulia.kernel.db import Reader, Transaction
from tertulia.messaging.snippets.model import Snippet
from tertulia.people.users.handover import Handed

_COLUMNS = "id, title, content, extract(epoch from date_created)::bigint as date_created"


async def snippets_of(reader: Reader, user_id: int) -> list[Snippet]:
    """Somebody's snippets, the oldest first."""
    sql = f"select {_COLUMNS} from saved_snippet where user_id = $1 order by id"
    return [Snippet(**row) for row in await reader.fetch(sql, user_id)]


async def insert_snippet(tx: Transaction, user_id: int, title: str, content: str) -> Snippet:
    """Insert a snippet."""
    sql = f"insert into saved_snippet (user_id, title, content) values ($1, $2, $3) returning {_COLUMNS}"
    row = await tx.fetchrow(sql, user_id, title, content)
    assert row is not None
    return Snippet(**row)


async def lock_snippet(tx: Transaction, user_id: int, snippet_id: int) -> Snippet | None:
    """The snippet, if it is theirs, held until the commit."""
    sql = f"select {_COLUMNS} from saved_snippet where user_id = $1 and id = $2 for update"
    row = await tx.fetchrow(sql, user_id, snippet_id)
    return Snippet(**row) if row else None


async def update_snippet(tx: Transaction, snippet: Snippet) -> None:
    """Write a snippet that is held."""
    sql = "update saved_snippet set title = $2, content = $3 where id = $1"
    await tx.execute(sql, snippet.id, snippet.title, snippet.content)


async def delete_snippet(tx: Transaction, user_id: int, snippet_id: int) -> bool:
    """Delete a snippet; returns whether it was there and theirs."""
    sql = "delete from saved_snippet where user_id = $1 and id = $2 returning true"
    return bool(await tx.fetchval(sql, user_id, snippet_id))


async def take_all(tx: Transaction, handed: Handed) -> None:
    """A bot that gets another owner has no snippets any more."""
    await tx.execute("delete from saved_snippet where user_id = $1", handed.bot_id)
