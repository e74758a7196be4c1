"""The drafts' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.messaging.drafts import queries

MAX_LISTED = 1000


@provider("drafts")
async def drafts(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The caller's drafts, the one edited last first."""
    return {"drafts": await queries.drafts_of(reader, caller.user_id, limit=MAX_LISTED, newest_first=True)}
