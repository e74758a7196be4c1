"""The users' part of POST /register."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.events.queues.initial_state import Provider, StateRequest
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.organization.groups.rights import holds
from tertulia.organization.realms.settings import settings_of
from tertulia.organization.realms.web_access import is_open_to_web
from tertulia.people.users import queries
from tertulia.people.users.access import is_limited
from tertulia.people.users.directory import Directory
from tertulia.people.users.model import anonymous_view, avatar_url_medium, view_of
from tertulia.people.users.visibility.actions import unknown_user


def realm_users(directory: Directory) -> Provider:
    """Everybody in the organization, and who the caller is in it."""

    async def provide(reader: Reader, caller: Caller, wanted: StateRequest, settings: Settings) -> dict[str, Any]:
        if caller.is_nobody:
            view = anonymous_view(caller.realm_id, caller.subdomain, settings)
            active, others = await queries.users_for_public(reader, view)
        elif await is_limited(reader, caller):
            view = view_of(caller)
            active, others, _ = await queries.users_for_state(reader, view, limited=True)
            if not wanted.options.understands("user_list_incomplete"):
                active = with_unknown(active, await queries.hidden_users(reader, view), caller.fake_domain)
        else:
            view = view_of(caller)
            active, others = await directory.state(reader, view)
        return {
            "realm_users": msgspec.Raw(active),
            "realm_non_active_users": msgspec.Raw(others),
            "cross_realm_bots": msgspec.Raw(await queries.system_bots(reader, view)),
            **about_oneself(caller),
            **await what_one_may(reader, caller, settings),
        }

    return Provider(frozenset(["realm_user"]), provide)


def with_unknown(listed: bytes, user_ids: Sequence[int], domain: str) -> bytes:
    """A list of users and then these, as somebody sees them who does not."""
    if not user_ids:
        return listed
    unknown = msgspec.json.encode([unknown_user(user_id, domain) for user_id in user_ids])
    return unknown if listed == b"[]" else listed[:-1] + b"," + unknown[1:]


def about_oneself(caller: Caller) -> dict[str, Any]:
    """Who the caller is."""
    return {
        "avatar_source": "U" if caller.avatar_url.startswith("/user_avatars/") else "J",
        "avatar_url": caller.avatar_url,
        "avatar_url_medium": avatar_url_medium(caller.avatar_url),
        "is_admin": caller.role <= Role.ADMINISTRATOR,
        "is_owner": caller.role == Role.OWNER,
        "is_moderator": caller.role == Role.MODERATOR,
        "is_guest": caller.role == Role.GUEST,
        "user_id": caller.user_id,
        "email": caller.api_email,
        "delivery_email": caller.email,
        "full_name": caller.full_name,
    }


async def what_one_may(reader: Reader, caller: Caller, settings: Settings) -> dict[str, bool]:
    """Rights that clients ask for by these names."""
    public = await holds(reader, caller, "can_create_public_channel_group")
    private = await holds(reader, caller, "can_create_private_channel_group")
    is_open = is_open_to_web(settings, settings_of(caller))
    return {
        "can_create_streams": public or private,
        "can_create_public_streams": public,
        "can_create_private_streams": private,
        "can_create_web_public_streams": is_open and await holds(reader, caller, "can_create_web_public_channel_group"),
        "can_invite_others_to_realm": await holds(reader, caller, "can_invite_users_group"),
    }
