"""The presences' part of POST /register."""

import time
from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.joined import together
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.settings import settings_of
from tertulia.people.presence import queries
from tertulia.people.presence.model import NEVER, Presence, legacy, modern, nobody_is_shown
from tertulia.people.users.access import is_limited
from tertulia.people.users.model import view_of


@provider("presence")
async def presences(reader: Reader, caller: Caller, wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """Who is there, as of the snapshot. Clients go on by pinging, from the number given."""
    if caller.is_nobody or settings_of(caller).presence_disabled:
        return nobody_is_shown(NEVER)
    days: int = wanted.parameters["presence_history_limit_days"]
    found, last_id, visible = await together(
        _of_days(reader, caller, days),
        queries.last_id(reader, caller.realm_id),
        _visible(reader, caller),
    )
    seen = [(email, one) for email, one in found if visible is None or one.user_id in visible]
    shown: dict[str, Any] = (
        {str(one.user_id): modern(one) for _, one in seen}
        if wanted.options.understands("slim_presence")
        else {email: legacy(one) for email, one in seen}
    )
    return {
        "presences": shown,
        "presence_last_update_id": last_id,
        "server_timestamp": time.time(),
    }


async def _of_days(reader: Reader, caller: Caller, days: int) -> list[tuple[str, Presence]]:
    return await queries.with_addresses(reader, caller.realm_id, caller.fake_domain, days) if days else []


async def _visible(reader: Reader, caller: Caller) -> set[int] | None:
    """Whom a guest sees; None: everybody."""
    return await queries.visible_users(reader, view_of(caller)) if await is_limited(reader, caller) else None
