"""An upload under way."""

from datetime import UTC, datetime
from email.utils import format_datetime

import msgspec


class Upload(msgspec.Struct, frozen=True):
    """What is known of an upload."""

    id: str
    name: str
    size: int
    arrived: int
    keys: list[str]
    path_id: str | None
    """Of the file, once the upload is complete."""
    file_name: str | None
    expires_at: datetime

    @property
    def expires(self) -> str:
        """As a header says it."""
        return format_datetime(self.expires_at.astimezone(UTC), usegmt=True)
