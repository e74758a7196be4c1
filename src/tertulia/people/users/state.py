"""The users' part of POST /register."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.events.queues.initial_state import Provider, StateRequest
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Reader
from tertulia.kernel.joined import together
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
        is_public = caller.is_nobody
        view = anonymous_view(caller.realm_id, caller.subdomain, settings) if is_public else view_of(caller)
        (active, others), bots, rights = await together(
            queries.users_for_public(reader, view) if is_public else listed(reader, caller, wanted),
            queries.system_bots(reader, view),
            what_one_may(reader, caller, settings),
        )
        return {
            "realm_users": msgspec.Raw(active),
            "realm_non_active_users": msgspec.Raw(others),
            "cross_realm_bots": msgspec.Raw(bots),
            **about_oneself(caller),
            **rights,
        }

    async def listed(reader: Reader, caller: Caller, wanted: StateRequest) -> tuple[bytes, bytes]:
        view = view_of(caller)
        if not await is_limited(reader, caller):
            return await directory.state(reader, view)
        active, others, _ = await queries.users_for_state(reader, view, limited=True)
        if not wanted.options.understands("user_list_incomplete"):
            active = with_unknown(active, await queries.hidden_users(reader, view), caller.fake_domain)
        return active, others

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
    asked = ("public_channel", "private_channel", "web_public_channel")
    public, private, web_public, invite = await together(
        *(holds(reader, caller, f"can_create_{kind}_group") for kind in asked),
        holds(reader, caller, "can_invite_users_group"),
    )
    is_open = is_open_to_web(settings, settings_of(caller))
    return {
        "can_create_streams": public or private,
        "can_create_public_streams": public,
        "can_create_private_streams": private,
        "can_create_web_public_streams": is_open and web_public,
        "can_invite_others_to_realm": invite,
    }
