"""Events of people and of the organization."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET

from tertulia.bots.model import Bot, Service
from tertulia.catalogue.base import Event, Unset
from tertulia.custom_emoji.model import EmojiRecord
from tertulia.groups.values import GroupMembers
from tertulia.linkifiers.model import LinkifierRecord
from tertulia.playgrounds.queries import Playground
from tertulia.presence.model import Timestamps
from tertulia.profiles.model import ProfileField
from tertulia.realms.domains import RealmDomain
from tertulia.users.model import UserRecord


class RealmUserAddEvent(Event, frozen=True, kw_only=True):
    """Somebody is new, or comes into sight."""

    type: Literal["realm_user"]
    op: Literal["add"]
    person: UserRecord


class UserId(msgspec.Struct, frozen=True):
    """A user by their ID alone."""

    user_id: int


class RealmUserRemoveEvent(Event, frozen=True, kw_only=True):
    """Somebody is out of a guest's sight."""

    type: Literal["realm_user"]
    op: Literal["remove"]
    person: UserId


class ProfileChange(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody says in a field now; null: nothing."""

    id: int
    value: str | None
    rendered_value: str | Unset = UNSET


class UserChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is another about a user."""

    user_id: int
    full_name: str | Unset = UNSET
    role: int | Unset = UNSET
    avatar_source: str | Unset = UNSET
    avatar_url: str | Unset | None = UNSET
    avatar_url_medium: str | Unset | None = UNSET
    avatar_version: int | Unset = UNSET
    timezone: str | Unset = UNSET
    email: str | Unset = UNSET
    bot_owner_id: int | Unset | None = UNSET
    delivery_email: str | Unset | None = UNSET
    new_email: str | Unset = UNSET
    custom_profile_field: ProfileChange | Unset = UNSET
    is_active: bool | Unset = UNSET


class RealmUserUpdateEvent(Event, frozen=True, kw_only=True):
    """Something about somebody is another now."""

    type: Literal["realm_user"]
    op: Literal["update"]
    person: UserChange


class RealmBotAddEvent(Event, frozen=True, kw_only=True):
    """A bot is new, or comes into one's hands."""

    type: Literal["realm_bot"]
    op: Literal["add"]
    bot: Bot


class BotChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is another about a bot."""

    user_id: int
    services: list[Service] | Unset = UNSET
    default_sending_stream: str | Unset | None = UNSET
    default_events_register_stream: str | Unset | None = UNSET
    default_all_public_streams: bool | Unset = UNSET


class RealmBotUpdateEvent(Event, frozen=True, kw_only=True):
    """A bot is another now."""

    type: Literal["realm_bot"]
    op: Literal["update"]
    bot: BotChange


class RealmBotDeleteEvent(Event, frozen=True, kw_only=True):
    """A bot is out of one's hands."""

    type: Literal["realm_bot"]
    op: Literal["delete"]
    bot: UserId


class UserStatusEvent(Event, frozen=True, kw_only=True):
    """Somebody is up to something else. An empty text: to nothing."""

    type: Literal["user_status"]
    user_id: int
    away: bool | Unset = UNSET
    status_text: str | Unset = UNSET
    emoji_name: str | Unset = UNSET
    emoji_code: str | Unset = UNSET
    reaction_type: str | Unset = UNSET


class OldPresence(msgspec.Struct, frozen=True, kw_only=True):
    """A presence in the older form."""

    client: str
    status: Literal["active", "idle", "offline"]
    timestamp: int
    pushable: bool | Unset = UNSET


class PresenceEvent(Event, frozen=True, kw_only=True):
    """Somebody is back: `presences` for clients with `simplified_presence_events`, else the other keys."""

    type: Literal["presence"]
    presences: dict[str, Timestamps] | Unset = UNSET
    user_id: int | Unset = UNSET
    email: str | Unset = UNSET
    server_timestamp: float | Unset = UNSET
    presence: dict[str, OldPresence] | Unset = UNSET


class RealmUpdateEvent(Event, frozen=True, kw_only=True):
    """A setting of the organization is another now."""

    type: Literal["realm"]
    op: Literal["update"]
    property: str
    value: bool | int | str | GroupMembers | None


class RealmUpdateDictEvent(Event, frozen=True, kw_only=True):
    """Settings of the organization that belong together are others now."""

    type: Literal["realm"]
    op: Literal["update_dict"]
    property: Literal["default", "icon", "logo", "night_logo"]
    data: dict[str, Any]


class RealmUserSettingsDefaultsEvent(Event, frozen=True, kw_only=True):
    """What a new user's setting is, is another now."""

    type: Literal["realm_user_settings_defaults"]
    op: Literal["update"]
    property: str
    value: bool | int | str


class RealmDomainsEvent(Event, frozen=True, kw_only=True):
    """A domain of the organization is new or another."""

    type: Literal["realm_domains"]
    op: Literal["add", "change"]
    realm_domain: RealmDomain


class RealmDomainsRemoveEvent(Event, frozen=True, kw_only=True):
    """A domain is none of the organization's any more."""

    type: Literal["realm_domains"]
    op: Literal["remove"]
    domain: str


class RealmEmojiEvent(Event, frozen=True, kw_only=True):
    """All custom emoji."""

    type: Literal["realm_emoji"]
    op: Literal["update"]
    realm_emoji: dict[str, EmojiRecord]


class RealmEmojiAddEvent(Event, frozen=True, kw_only=True):
    """One more custom emoji, for clients with `individual_emoji_changes`."""

    type: Literal["realm_emoji"]
    op: Literal["add"]
    emoji: EmojiRecord


class EmojiChange(msgspec.Struct, frozen=True, kw_only=True):
    """What is another about a custom emoji."""

    name: str | Unset = UNSET
    deactivated: bool | Unset = UNSET


class RealmEmojiUpdateOneEvent(Event, frozen=True, kw_only=True):
    """A custom emoji is another now, for clients with `individual_emoji_changes`."""

    type: Literal["realm_emoji"]
    op: Literal["update_one"]
    emoji_id: str
    data: EmojiChange


class RealmLinkifiersEvent(Event, frozen=True, kw_only=True):
    """All linkifiers."""

    type: Literal["realm_linkifiers"]
    realm_linkifiers: list[LinkifierRecord]


class RealmPlaygroundsEvent(Event, frozen=True, kw_only=True):
    """All playgrounds."""

    type: Literal["realm_playgrounds"]
    realm_playgrounds: list[Playground]


class CustomProfileFieldsEvent(Event, frozen=True, kw_only=True):
    """All custom profile fields."""

    type: Literal["custom_profile_fields"]
    fields: list[ProfileField]
