"""The files' part of POST /register: what can be uploaded, and how small pictures become."""

from typing import Any

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.files.uploads.thumbnails.sizes import FORMATS
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings


@provider("realm")
async def limits(_reader: Reader, _caller: Caller, _wanted: StateRequest, settings: Settings) -> dict[str, Any]:
    """Nothing here changes while the process runs. One's own files: GET /attachments."""
    return {
        "max_file_upload_size_mib": settings.max_file_upload_size_mib,
        "realm_upload_quota_mib": settings.upload_quota_mib or None,
        "server_thumbnail_formats": FORMATS,
    }
