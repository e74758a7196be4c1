"""Parts of the state for features that this server does not have: clients ask for them, and are told that there is nothing.

A feature that comes to be takes its part from here.
"""

from typing import Any

from tertulia.events.queues.initial_state import Provider, StateRequest
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings

NOTHING: dict[str, dict[str, Any]] = {
    "default_stream_groups": {"realm_default_stream_groups": []},
    "device": {"devices": {}},
    "giphy": {"giphy_api_key": ""},
    "klipy": {"klipy_api_key": ""},
    "navigation_views": {"navigation_views": []},
    "onboarding_steps": {"onboarding_steps": [], "navigation_tour_video_url": None},
    "realm_billing": {"realm_billing": {"has_pending_sponsorship_request": False}},
    "tenor": {"tenor_api_key": ""},
    "video_calls": {"has_zoom_token": False, "has_webex_token": False},
}


def _provider(kind: str, keys: dict[str, Any]) -> Provider:
    async def provide(_reader: Reader, _caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
        return keys

    return Provider(frozenset([kind]), provide)


ABSENT = tuple(_provider(kind, keys) for kind, keys in NOTHING.items())
