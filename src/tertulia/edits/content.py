"""A new text for a message: written by its sender, rendered and searched for mentions as if it were sent now."""

from typing import Any

from tertulia.edits import queries
from tertulia.edits.model import Rights
from tertulia.edits.queries import Body
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.messages.access import Reached
from tertulia.messages.rules import is_me_message, render_plain


def compose(content: str) -> Body:
    """What a text becomes; before any lock is taken."""
    return Body(content=content, rendered=render_plain(content))


async def write(tx: Transaction, caller: Caller, message: Reached, body: Body, rights: Rights) -> dict[str, Any]:
    """Store the text; what `update_message` says of it."""
    await queries.write_body(tx, message, body, caller.user_id, rights.now)
    return {
        "orig_content": message.content,
        "orig_rendered_content": message.rendered,
        "content": body.content,
        "rendered_content": body.rendered,
        "is_me_message": is_me_message(body.content),
    }
