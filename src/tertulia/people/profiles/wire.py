"""What clients see of custom profile fields."""

from typing import Literal

import msgspec

from tertulia.events.wire import Event
from tertulia.organization.realms.wire import Named
from tertulia.people.profiles.model import ProfileField


class CustomProfileFieldsEvent(Event, frozen=True, kw_only=True):
    """The custom profile fields changed: all of them, in their order."""

    type: Literal["custom_profile_fields"]
    fields: list[ProfileField]


class ExternalAccount(msgspec.Struct, frozen=True):
    """Another site where people have accounts."""

    name: str
    text: str
    hint: str
    url_pattern: str


KEYS = {
    "custom_profile_fields": list[ProfileField],
    "custom_profile_field_types": dict[str, Named],
    "realm_default_external_accounts": dict[str, ExternalAccount],
}
