"""What clients see of the organization, of the server's limits, and of features that are not here."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset, keys_of
from tertulia.organization.groups.settings import REALM_SETTINGS
from tertulia.organization.groups.values import GroupMembers, GroupValue
from tertulia.organization.realms.domains.actions import RealmDomain
from tertulia.organization.realms.published import ORGANIZATION, SERVER
from tertulia.organization.realms.settings import RealmSettings


class RealmUpdateEvent(Event, frozen=True, kw_only=True):
    """A setting of the organization changed."""

    type: Literal["realm"]
    op: Literal["update"]
    property: str
    value: bool | int | str | GroupMembers | None


class RealmUpdateDictEvent(Event, frozen=True, kw_only=True):
    """Several settings of the organization changed together: `data` has their new values."""

    type: Literal["realm"]
    op: Literal["update_dict"]
    property: Literal["default", "icon", "logo", "night_logo"]
    data: dict[str, Any]


class RealmDomainsEvent(Event, frozen=True, kw_only=True):
    """A domain was added to the organization, or changed."""

    type: Literal["realm_domains"]
    op: Literal["add", "change"]
    realm_domain: RealmDomain


class RealmDomainsRemoveEvent(Event, frozen=True, kw_only=True):
    """A domain was removed from the organization."""

    type: Literal["realm_domains"]
    op: Literal["remove"]
    domain: str


class Named(msgspec.Struct, frozen=True):
    """An option: its number and its name."""

    id: int
    name: str


class Reason(msgspec.Struct, frozen=True):
    """A reason to report a message."""

    key: str
    name: str


class LoginMethod(msgspec.Struct, frozen=True, kw_only=True):
    """A way to log in."""

    enabled: bool
    available: bool
    unavailable_reason: str | Unset = UNSET


class PermissionRule(msgspec.Struct, frozen=True):
    """Which groups a permission may be given to."""

    require_system_group: bool
    allow_internet_group: bool
    allow_nobody_group: bool
    allow_everyone_group: bool
    default_group_name: str
    default_for_system_groups: str | None
    allowed_system_groups: list[str]


class PermissionRules(msgspec.Struct, frozen=True):
    """All permissions: of the organization, of channels, of groups."""

    realm: dict[str, PermissionRule]
    stream: dict[str, PermissionRule]
    group: dict[str, PermissionRule]


class Billing(msgspec.Struct, frozen=True):
    """Always false: this server has no billing."""

    has_pending_sponsorship_request: bool


class View(msgspec.Struct, frozen=True):
    """A view that somebody pinned."""

    fragment: str
    is_pinned: bool
    name: str | None


class Step(msgspec.Struct, frozen=True):
    """A hint to show to new users."""

    type: str
    name: str


class ChannelBundle(msgspec.Struct, frozen=True):
    """Channels that are offered together."""

    id: int
    name: str
    description: str
    streams: list[int]


_PLAIN: dict[type, Any] = {bool: bool, int: int, str: str}
_SPECIAL: dict[str, Any] = {
    "gif_rating_policy_options": dict[str, Named],
    "server_max_deactivated_realm_deletion_days": int | None,
    "server_report_message_types": list[Reason],
    "available_video_chat_providers": dict[str, Named],
    "push_notifications_enabled_end_timestamp": int | None,
}


def _kinds_of(values: dict[str, Any]) -> dict[str, Any]:
    """The types of the constants in published.py."""
    return {name: _SPECIAL.get(name) or _PLAIN[type(value)] for name, value in values.items()}


_SERVER = _kinds_of(SERVER) | {
    "server_supported_permission_settings": PermissionRules,
    "development_environment": bool,
    "server_emoji_data_url": str,
    "server_web_public_streams_enabled": bool,
    **dict.fromkeys(("server_jitsi_server_url", "jitsi_server_url"), str | None),
    "settings_send_digest_emails": bool,
}
_ORGANIZATION = {
    **keys_of(RealmSettings),
    **_kinds_of(ORGANIZATION),
    **dict.fromkeys(REALM_SETTINGS, GroupValue),
    **dict.fromkeys(("name", "description", "url", "uri", "uuid", "icon_url", "logo_url", "night_logo_url"), str),
    **dict.fromkeys(("icon_source", "logo_source", "night_logo_source"), str),
    **dict.fromkeys(("email_auth_enabled", "mandatory_topics", "allow_edit_history"), bool),
    **dict.fromkeys(("create_public_stream_policy", "create_private_stream_policy"), int),
    **dict.fromkeys(("create_web_public_stream_policy", "wildcard_mention_policy", "date_created"), int),
    "authentication_methods": dict[str, LoginMethod],
    "zulip_update_announcements_stream_id": int,
}
_ABSENT = {
    "devices": dict[str, dict[str, Any]],
    **dict.fromkeys(("giphy_api_key", "tenor_api_key", "klipy_api_key"), str),
    **dict.fromkeys(("has_zoom_token", "has_webex_token"), bool),
    "navigation_views": list[View],
    "navigation_tour_video_url": str | None,
    "onboarding_steps": list[Step],
    "realm_billing": Billing,
    "realm_default_stream_groups": list[ChannelBundle],
}


KEYS: dict[str, Any] = {
    **dict.fromkeys(("zulip_version", "zulip_merge_base"), str),
    "zulip_feature_level": int,
    "zulip_plan_is_not_limited": bool,
    **_SERVER,
    **{f"realm_{name}": kind for name, kind in _ORGANIZATION.items()},
    "realm_domains": list[RealmDomain],
    **_ABSENT,
}
