"""The users' part of POST /register."""

from typing import Any

from tertulia.events.register import Wanted, provider
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.users import queries
from tertulia.users.model import avatar_url, user_record


@provider("realm_user")
async def realm_users(reader: Reader, caller: Caller, _wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """Everybody in the organization, and who the caller is in it."""
    users = await queries.users_of_realm(reader, caller.realm_id)
    own = next(user for user in users if user.id == caller.user_id)
    is_member = own.role <= Role.MEMBER
    return {
        "realm_users": [user_record(user, with_active=False, with_profile=True) for user in users if user.is_active],
        "realm_non_active_users": [
            user_record(user, with_active=False, with_profile=True) for user in users if not user.is_active
        ],
        "cross_realm_bots": [],
        "avatar_source": "J",
        "avatar_url": avatar_url(own.id, own.avatar_version),
        "avatar_url_medium": avatar_url(own.id, own.avatar_version),
        "can_create_streams": is_member,
        "can_create_public_streams": is_member,
        "can_create_private_streams": is_member,
        "can_create_web_public_streams": False,
        "can_invite_others_to_realm": is_member,
        "is_admin": own.role <= Role.ADMINISTRATOR,
        "is_owner": own.role == Role.OWNER,
        "is_moderator": own.role == Role.MODERATOR,
        "is_guest": own.role == Role.GUEST,
        "user_id": own.id,
        "email": own.email,
        "delivery_email": own.email,
        "full_name": own.full_name,
    }
