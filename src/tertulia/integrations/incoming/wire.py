"""What clients see of services that can post."""

from typing import Any

import msgspec


class Integration(msgspec.Struct, frozen=True):
    """A service that can post."""

    name: str
    display_name: str
    all_event_types: list[str] | None
    config_options: list[dict[str, Any]]
    url_options: list[dict[str, Any]]
    can_sign: bool
    """Whether it can sign what it posts, with a secret that is set for its bot."""


KEYS = {
    "realm_incoming_webhook_bots": list[Integration],
}
