"""The folders' part of POST /register."""

from typing import Any

from tertulia.conversations.folders import queries
from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings


@provider("channel_folders")
async def channel_folders(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """All folders, archived ones too: events speak of them."""
    return {"channel_folders": await queries.folders_of(reader, caller.realm_id)}
