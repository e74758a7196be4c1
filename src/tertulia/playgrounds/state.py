"""The playgrounds' part of POST /register."""

from typing import Any

from tertulia.events.register import Wanted, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.playgrounds import queries


@provider("realm_playgrounds")
async def realm_playgrounds(reader: Reader, caller: Caller, _wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """Where code can be tried."""
    return {"realm_playgrounds": await queries.playgrounds_of(reader, caller.realm_id)}
