"""The folders' part of POST /register."""

from typing import Any

from tertulia.events.register import Wanted, provider
from tertulia.folders import queries
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings


@provider("channel_folders")
async def channel_folders(reader: Reader, caller: Caller, _wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """All folders, archived ones too: events speak of them."""
    return {"channel_folders": await queries.folders_of(reader, caller.realm_id)}
