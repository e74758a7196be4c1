"""The custom emoji's part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.organization.custom_emoji import queries


@provider("realm_emoji")
async def realm_emoji(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The organization's custom emoji, those out of use too: old messages show them."""
    return {"realm_emoji": await queries.all_emoji(reader, caller.realm_id)}
