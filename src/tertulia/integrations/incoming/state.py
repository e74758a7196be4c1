"""The integrations in POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.integrations.incoming.table import INTEGRATIONS
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings


@provider("realm_incoming_webhook_bots")
async def webhook_bots(_reader: Reader, _caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """Which services can post, and which kinds of events of theirs can be chosen from."""
    listed = [
        {
            "name": integration.name,
            "display_name": integration.display_name,
            "all_event_types": list(integration.events) or None,
            "config_options": [],
            "url_options": [],
            "can_sign": integration.is_signed is not None,
        }
        for integration in INTEGRATIONS.values()
    ]
    return {"realm_incoming_webhook_bots": listed}
