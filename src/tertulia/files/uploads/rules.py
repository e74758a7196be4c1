"""How much may be uploaded (pure)."""

from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings

MIB = 1024 * 1024


def quota_of(settings: Settings) -> int | None:
    """How many bytes an organization may upload; None: as many as it likes."""
    return settings.upload_quota_mib * MIB if settings.upload_quota_mib else None


def share_in(settings: Settings) -> int | None:
    """How many bytes of that are for one person with their bots."""
    quota = quota_of(settings)
    return None if quota is None else quota * settings.upload_share_percent // 100


def size_limit(settings: Settings) -> int:
    """How many bytes a file may have."""
    return settings.max_file_upload_size_mib * MIB


def too_large(settings: Settings, *, close: bool = False) -> Refusal:
    """`close`: unread bytes are left on the connection."""
    limit = settings.max_file_upload_size_mib
    return Refusal(
        f"The file is larger than this server allows (limit: {limit} MiB).",
        headers={"Connection": "close"} if close else None,
    )


def over_share() -> Refusal:
    """There is room, but not for this person."""
    return Refusal(
        "This file does not fit into your share of your organization's upload quota: delete some of your files.",
        code=over_quota().code,
    )


def over_quota() -> Refusal:
    """There is no room."""
    return Refusal("This file does not fit into your organization's upload quota.", code="REALM_UPLOAD_QUOTA")
