"""The bots' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.people.bots import queries
from tertulia.people.users.addresses import fake_domain


@provider("realm")
async def bot_domain(_reader: Reader, caller: Caller, _wanted: StateRequest, settings: Settings) -> dict[str, Any]:
    """Where the addresses of new bots are."""
    return {"realm_bot_domain": fake_domain(settings, caller.subdomain)}


@provider("realm_bot")
async def realm_bots(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The settings of all bots for administrators, of their own for others."""
    return {"realm_bots": [] if caller.is_nobody else await queries.bots_seen_by(reader, caller)}


@provider("realm_embedded_bots")
async def embedded_bots(_reader: Reader, _caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """There are none."""
    return {"realm_embedded_bots": []}
