"""Endpoints of saved snippets."""

import msgspec

from tertulia.kernel.auth import Human
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, patch, post
from tertulia.messaging.snippets import actions, queries
from tertulia.messaging.snippets.model import Snippet


class Snippets(msgspec.Struct):
    """The answer of GET /saved_snippets."""

    saved_snippets: list[Snippet]


class Saved(msgspec.Struct):
    """The answer of POST /saved_snippets."""

    saved_snippet_id: int


@get("/saved_snippets")
async def get_snippets(caller: Human, reader: Reader) -> Snippets:
    """Your saved snippets, the oldest first."""
    return Snippets(await queries.snippets_of(reader, caller.user_id))


@post("/saved_snippets")
async def save_snippet(caller: Human, tx: Transaction, *, title: str, content: str) -> Saved:
    """Save a text to use it again."""
    return Saved(await actions.save(tx, caller, title, content))


@patch("/saved_snippets/{saved_snippet_id}")
async def edit_snippet(
    caller: Human, tx: Transaction, *, saved_snippet_id: int, title: str | None = None, content: str | None = None
) -> None:
    """Change one of your saved snippets."""
    await actions.edit(tx, caller, saved_snippet_id, title, content)


@delete("/saved_snippets/{saved_snippet_id}")
async def drop_snippet(caller: Human, tx: Transaction, *, saved_snippet_id: int) -> None:
    """Drop one of your saved snippets."""
    await actions.drop(tx, caller, saved_snippet_id)
