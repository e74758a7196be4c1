"""The reminders' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.messaging.reminders import queries
from tertulia.messaging.reminders.actions import show


@provider("reminders")
async def reminders(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The caller's reminders, by their time."""
    return {"reminders": await show(reader, await queries.reminders_of(reader, caller.user_id))}
