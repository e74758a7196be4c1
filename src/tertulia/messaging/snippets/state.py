"""The saved snippets' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.messaging.snippets import queries


@provider("saved_snippets")
async def saved_snippets(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The caller's saved snippets."""
    return {"saved_snippets": await queries.snippets_of(reader, caller.user_id)}
