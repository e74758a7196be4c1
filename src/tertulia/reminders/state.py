"""The reminders' part of POST /register."""

from typing import Any

from tertulia.events.register import Wanted, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.reminders import queries


@provider("reminders")
async def reminders(reader: Reader, caller: Caller, _wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """The caller's reminders, by their time."""
    return {"reminders": [one.record for one in await queries.reminders_of(reader, caller.user_id)]}
