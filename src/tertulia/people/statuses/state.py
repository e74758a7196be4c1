"""The statuses' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.people.statuses import queries
from tertulia.people.statuses.model import shown
from tertulia.people.users.visibility.actions import hidden_from


@provider("user_status")
async def user_status(reader: Reader, caller: Caller, wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """What everybody the caller sees is up to."""
    found = [] if caller.is_nobody else await queries.statuses(reader, caller.realm_id)
    hidden = await hidden_from(reader, caller, [one.user_id for one in found])
    client = wanted.options.client
    return {"user_status": {str(one.user_id): shown(one, client) for one in found if one.user_id not in hidden}}
