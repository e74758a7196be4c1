"""The user record of the specification, section 2.3."""

from datetime import UTC, datetime

import msgspec

from tertulia.kernel.auth import Role


class User(msgspec.Struct, frozen=True):
    """A row of `account`, as much of it as records show."""

    id: int
    email: str
    full_name: str
    role: int
    bot_type: int | None
    bot_owner_id: int | None
    is_active: bool
    is_imported_stub: bool
    date_joined: datetime
    timezone: str
    avatar_version: int


class UserRecord(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A user as the API shows them."""

    user_id: int
    delivery_email: str | None
    email: str
    full_name: str
    date_joined: str
    is_active: bool | msgspec.UnsetType = msgspec.UNSET
    is_owner: bool
    is_admin: bool
    is_guest: bool
    is_bot: bool
    bot_type: int | None
    bot_owner_id: int | msgspec.UnsetType | None = msgspec.UNSET
    role: int
    timezone: str
    avatar_url: str | None
    avatar_version: int
    is_imported_stub: bool
    profile_data: dict[str, dict[str, str]] | msgspec.UnsetType = msgspec.UNSET


def user_record(user: User, *, with_active: bool = True, with_profile: bool = False) -> UserRecord:
    """The record of a user. POST /register leaves `is_active` out: it keeps two lists instead."""
    is_bot = user.bot_type is not None
    return UserRecord(
        user_id=user.id,
        delivery_email=user.email,
        email=user.email,
        full_name=user.full_name,
        date_joined=user.date_joined.astimezone(UTC).isoformat(timespec="minutes"),
        is_active=user.is_active if with_active else msgspec.UNSET,
        is_owner=user.role == Role.OWNER,
        is_admin=user.role <= Role.ADMINISTRATOR,
        is_guest=user.role == Role.GUEST,
        is_bot=is_bot,
        bot_type=user.bot_type,
        bot_owner_id=user.bot_owner_id if is_bot else msgspec.UNSET,
        role=user.role,
        timezone=user.timezone,
        avatar_url=avatar_url(user.id, user.avatar_version),
        avatar_version=user.avatar_version,
        is_imported_stub=user.is_imported_stub,
        profile_data={} if with_profile and not is_bot else msgspec.UNSET,
    )


def avatar_url(user_id: int, version: int) -> str:
    """Where the avatar is: a path on this server, so that no third party learns who reads whom."""
    return f"/avatar/{user_id}?v={version}"
