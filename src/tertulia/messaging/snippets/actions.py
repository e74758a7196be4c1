"""Saving, changing and dropping snippets."""

import msgspec

from tertulia.events.log.record import Audience, record
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_bytes, check_room, hold_count
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.messaging.snippets import queries
from tertulia.messaging.snippets.bounds import SNIPPET_BYTES, SNIPPETS
from tertulia.organization.realms.limits import MAX_MESSAGE_LENGTH

MAX_TITLE_LENGTH = 60


async def save(tx: Transaction, caller: Caller, title: str, content: str) -> int:
    """Save a new snippet; returns its id."""
    title, content = clean("title", title, MAX_TITLE_LENGTH), clean("content", content, MAX_MESSAGE_LENGTH)
    await check_room(tx, SNIPPETS, caller.user_id)
    snippet = await queries.insert_snippet(tx, caller.user_id, title, content)
    await check_bytes(tx, SNIPPET_BYTES, caller.user_id)
    _tell(tx, caller, {"op": "add", "saved_snippet": snippet})
    return snippet.id


async def edit(tx: Transaction, caller: Caller, snippet_id: int, title: str | None, content: str | None) -> None:
    """Change what is given; nothing given, or nothing new, is no event."""
    old = await queries.lock_snippet(tx, caller.user_id, snippet_id)
    if old is None:
        raise no_such_snippet()
    new = msgspec.structs.replace(
        old,
        title=old.title if title is None else clean("title", title, MAX_TITLE_LENGTH),
        content=old.content if content is None else clean("content", content, MAX_MESSAGE_LENGTH),
    )
    if new != old:
        await hold_count(tx, SNIPPETS, caller.user_id)
        await queries.update_snippet(tx, new)
        await check_bytes(tx, SNIPPET_BYTES, caller.user_id)
        _tell(tx, caller, {"op": "update", "saved_snippet": new})


async def drop(tx: Transaction, caller: Caller, snippet_id: int) -> None:
    """Drop a snippet."""
    if not await queries.delete_snippet(tx, caller.user_id, snippet_id):
        raise no_such_snippet()
    _tell(tx, caller, {"op": "remove", "saved_snippet_id": snippet_id})


def clean(name: str, text: str, limit: int) -> str:
    """A text as it is stored; refuses what is empty or too long."""
    text = text.strip()
    if not text:
        raise Refusal(f"{name} can't be empty.")
    if len(text) > limit:
        raise Refusal(f"{name} is too long (limit: {limit} characters).")
    return text


def no_such_snippet() -> Refusal:
    """Somebody else's snippet looks like none."""
    return Refusal("There is no such saved snippet.")


def _tell(tx: Transaction, caller: Caller, event: dict[str, object]) -> None:
    tx.emit(caller.realm_id, record(Audience(users=(caller.user_id,)), "saved_snippets", event))
