"""Endpoints of reactions."""

from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import delete, post
from tertulia.messaging.reactions.actions import react, take_back


@post("/messages/{message_id}/reactions")
async def add_reaction(
    caller: Person,
    tx: Transaction,
    *,
    message_id: int,
    emoji_name: str,
    emoji_code: str | None = None,
    reaction_type: str | None = None,
) -> None:
    """React to a message with an emoji. The name is enough; code and type say more exactly which one is meant."""
    await react(tx, caller, message_id, emoji_name, emoji_code, reaction_type)


@delete("/messages/{message_id}/reactions")
async def remove_reaction(
    caller: Person,
    tx: Transaction,
    *,
    message_id: int,
    emoji_name: str | None = None,
    emoji_code: str | None = None,
    reaction_type: str | None = None,
) -> None:
    """Take back your reaction to a message. Name or code is enough."""
    await take_back(tx, caller, message_id, emoji_name, emoji_code, reaction_type)
