"""The preferences' part of POST /register."""

from typing import Any

import msgspec

from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.people.preferences import queries
from tertulia.people.preferences.choices import EMOJI_SETS, SOUNDS
from tertulia.people.preferences.model import DisplaySettings, NotificationSettings

DISPLAY = DisplaySettings.__struct_fields__
NOTIFICATIONS = tuple(name for name in NotificationSettings.__struct_fields__ if name not in DISPLAY)
_EXTRA = {"emojiset_choices": EMOJI_SETS, "available_notification_sounds": SOUNDS}


@provider("user_settings")
async def user_settings(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The caller's settings."""
    if caller.is_nobody:
        settings, timezone = await queries.get_defaults(reader, caller.realm_id), ""
    else:
        settings, timezone = await queries.get_settings(reader, caller.user_id)
    return {"user_settings": msgspec.structs.asdict(settings) | {"timezone": timezone} | _EXTRA}


@provider("realm_user_settings_defaults")
async def defaults(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """What a new user's settings are."""
    settings = await queries.get_defaults(reader, caller.realm_id)
    return {"realm_user_settings_defaults": msgspec.structs.asdict(settings) | _EXTRA}


@provider("update_display_settings")
async def old_display(reader: Reader, caller: Caller, wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """For clients that ask for settings by their old type, and then look for each at the top."""
    return await _at_the_top(reader, caller, wanted, DISPLAY)


@provider("update_global_notifications")
async def old_notifications(
    reader: Reader, caller: Caller, wanted: StateRequest, _settings: Settings
) -> dict[str, Any]:
    """As `old_display`, for notifications."""
    return await _at_the_top(reader, caller, wanted, NOTIFICATIONS)


async def _at_the_top(reader: Reader, caller: Caller, wanted: StateRequest, names: tuple[str, ...]) -> dict[str, Any]:
    if wanted.fetch is None or not wanted.options.old_names or caller.is_nobody:
        return {}  # everything was asked for, and `user_settings` has it
    settings, _ = await queries.get_settings(reader, caller.user_id)
    return {name: getattr(settings, name) for name in names}
