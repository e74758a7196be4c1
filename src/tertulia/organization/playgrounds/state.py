"""The playgrounds' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.organization.playgrounds import queries


@provider("realm_playgrounds")
async def realm_playgrounds(
    reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings
) -> dict[str, Any]:
    """Where code can be tried."""
    return {"realm_playgrounds": await queries.playgrounds_of(reader, caller.realm_id)}
