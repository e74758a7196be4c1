"""What clients see of people's own settings."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset, keys_of
from tertulia.people.preferences.model import DisplaySettings, NotificationSettings, UserSettings


class UserSettingsEvent(Event, frozen=True, kw_only=True):
    """One of your own settings changed."""

    type: Literal["user_settings"]
    op: Literal["update"]
    property: str
    value: bool | int | str
    language_name: str | Unset = UNSET


class RealmUserSettingsDefaultsEvent(Event, frozen=True, kw_only=True):
    """A default setting for new users changed."""

    type: Literal["realm_user_settings_defaults"]
    op: Literal["update"]
    property: str
    value: bool | int | str


class RealmExportConsentEvent(Event, frozen=True, kw_only=True):
    """Somebody agrees to have their private data in exports of the organization, or no longer does; for administrators."""

    type: Literal["realm_export_consent"]
    user_id: int
    consented: bool


class Choice(msgspec.Struct, frozen=True):
    """An option of a setting: its value, and the text to show."""

    key: str
    text: str


_SHOWN = keys_of(UserSettings) | {"emojiset_choices": list[Choice], "available_notification_sounds": list[str]}
OwnSettings = msgspec.defstruct("OwnSettings", [*_SHOWN.items(), ("timezone", str)])
DefaultSettings = msgspec.defstruct("DefaultSettings", [*_SHOWN.items()])


KEYS = {
    "user_settings": OwnSettings,
    "realm_user_settings_defaults": DefaultSettings,
    # At the top for clients that fetch the settings by their older types
    **keys_of(DisplaySettings),
    **keys_of(NotificationSettings),
}
