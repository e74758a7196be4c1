"""The mutes' part of POST /register."""

from typing import Any

from tertulia.conversations.mutes import queries
from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings


@provider("muted_users")
async def muted_users(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """Whom the caller muted."""
    return {"muted_users": await queries.muted_by(reader, caller.user_id)}
