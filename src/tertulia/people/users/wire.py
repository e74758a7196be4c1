"""What clients see of people."""

from typing import Literal

import msgspec
from msgspec import UNSET

from tertulia.events.wire import Event, Unset
from tertulia.people.users.model import UserRecord


class UserId(msgspec.Struct, frozen=True):
    """A user by their ID alone."""

    user_id: int


class SystemBot(UserRecord, frozen=True, kw_only=True, omit_defaults=True):
    """An account of the server itself."""

    is_system_bot: bool


class RealmUserAddEvent(Event, frozen=True, kw_only=True):
    """A user is new, or became visible to you."""

    type: Literal["realm_user"]
    op: Literal["add"]
    person: UserRecord


class RealmUserRemoveEvent(Event, frozen=True, kw_only=True):
    """A user is no longer visible to you. Only guests get this."""

    type: Literal["realm_user"]
    op: Literal["remove"]
    person: UserId


class ProfileChange(msgspec.Struct, frozen=True, kw_only=True):
    """The new value of a custom profile field; null if it was removed."""

    id: int
    value: str | None
    rendered_value: str | Unset = UNSET


class UserChange(msgspec.Struct, frozen=True, kw_only=True):
    """What changed about a user."""

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
    """Something about a user changed."""

    type: Literal["realm_user"]
    op: Literal["update"]
    person: UserChange


KEYS = {
    "realm_users": list[UserRecord],
    "realm_non_active_users": list[UserRecord],
    "cross_realm_bots": list[SystemBot],
    "user_id": int,
    **dict.fromkeys(("email", "delivery_email", "full_name"), str),
    "avatar_source": str,
    "avatar_url": str | None,
    "avatar_url_medium": str | None,
    **dict.fromkeys(("is_admin", "is_owner", "is_moderator", "is_guest"), bool),
    **dict.fromkeys(("can_create_streams", "can_create_public_streams", "can_create_private_streams"), bool),
    **dict.fromkeys(("can_create_web_public_streams", "can_invite_others_to_realm"), bool),
}
