"""The mutes' part of POST /register."""

from typing import Any

from tertulia.events.register import Wanted, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.mutes import queries


@provider("muted_users")
async def muted_users(reader: Reader, caller: Caller, _wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """Whom the caller muted."""
    return {"muted_users": await queries.muted_by(reader, caller.user_id)}
