"""The drafts' part of POST /register."""

from typing import Any

from tertulia.drafts import queries
from tertulia.events.register import Wanted, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings

MAX_LISTED = 1000


@provider("drafts")
async def drafts(reader: Reader, caller: Caller, _wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """The caller's drafts, the one edited last first."""
    return {"drafts": await queries.drafts_of(reader, caller.user_id, limit=MAX_LISTED, newest_first=True)}
