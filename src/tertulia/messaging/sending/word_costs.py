"""What finding the words of a message costs, asked before others wait for it.

PostgreSQL makes them when the message is stored, in a statement that all senders of a process share. Some texts would take it
seconds, though no ordinary one (narrows/parsing_costs.py). So a text that might is read once before, in its author's own time.
"""

import time

from tertulia.kernel.audit import request_now
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.messaging.narrows.parsing_costs import may_be_dear

MOST_SECONDS = 0.25
"""Long paths, tables and keys take a few hundredths on a busy machine."""


async def check_words(database: Database, html: str) -> None:
    """Refuse a text whose words take too long to find. What it takes to find that out is the caller's, all of it."""
    if not may_be_dear(html):
        return
    request, began = request_now(), time.monotonic()
    async with database.reader() as reader:
        try:
            await reader.fetch_shaped("select to_tsvector(search_language(), $1) is null", html, at_most=MOST_SECONDS)
        except TimeoutError:
            raise Refusal(
                "This message has too many signs with no blank between them: nobody could search for it."
            ) from None
        finally:
            if request is not None:
                request[0].database_seconds += time.monotonic() - began
