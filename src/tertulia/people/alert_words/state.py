"""The alerts' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.people.alert_words import queries


@provider("alert_words")
async def alert_words(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The words that alert the caller."""
    return {"alert_words": await queries.words_of(reader, caller.user_id)}
