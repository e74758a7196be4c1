"""The scheduled messages' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.messaging.scheduled import queries


@provider("scheduled_messages")
async def scheduled_messages(
    reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings
) -> dict[str, Any]:
    """The caller's messages that are still to be sent, by their time."""
    return {"scheduled_messages": [one.record for one in await queries.scheduled_by(reader, caller.user_id)]}
