"""The linkifiers' part of POST /register."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.organization.linkifiers import queries


@provider("realm_linkifiers")
async def realm_linkifiers(reader: Reader, caller: Caller, wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The organization's linkifiers, for clients that understand URL templates."""
    understands = wanted.options.understands("linkifier_url_template")
    return {"realm_linkifiers": await queries.linkifiers_of(reader, caller.realm_id) if understands else []}


@provider("realm_filters")
async def realm_filters(_reader: Reader, _caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """What linkifiers were for clients of long ago: nothing any more."""
    return {"realm_filters": []}
