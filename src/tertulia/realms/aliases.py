"""Older names that existing clients read, sent beside ours; a setting turns them off. This is the only place they are in."""

from typing import Any

_ALIASES = {
    "service_version": "zulip_version",
    "service_feature_level": "zulip_feature_level",
    "service_merge_base": "zulip_merge_base",
}


def with_aliases(reply: dict[str, Any], *, enabled: bool) -> dict[str, Any]:
    """The reply with the older names of its keys."""
    if not enabled:
        return reply
    return reply | {old: reply[new] for new, old in _ALIASES.items() if new in reply}
