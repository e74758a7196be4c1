"""Whom a guest sees, where guests do not see everybody (`can_access_all_users_group` is role:members).

Themselves, bots, and those they share a channel or a direct conversation with. Everybody else is left out of lists; a
place that must show somebody shows an unknown user. Such a place is the state of a client that has not declared
`user_list_incomplete`: it counts on finding everybody there.
"""

from collections.abc import Collection
from typing import Any

from tertulia.kernel.auth import Caller, Role, fake_email
from tertulia.kernel.db import Reader
from tertulia.people.users import queries

UNKNOWN_NAME = "Unknown user"
UNKNOWN_AVATAR = "/avatar/0?v=1"
"""The same for all of them: a picture of one's own would tell one unknown user from another."""


async def hidden_from(reader: Reader, caller: Caller, user_ids: Collection[int]) -> frozenset[int]:
    """Which of these users the caller does not see. No statement unless the caller is a guest or nobody, and one if they are."""
    if caller.role != Role.GUEST or not user_ids:
        return frozenset()
    return await queries.hidden_from_guest(reader, caller.realm_id, caller.user_id, user_ids)


def unknown_user(user_id: int, domain: str) -> dict[str, Any]:
    """The record of a user the reader does not see: all of them alike but for the number."""
    return {
        "user_id": user_id,
        "delivery_email": None,
        "email": fake_email(user_id, domain),
        "full_name": UNKNOWN_NAME,
        "date_joined": "1970-01-01T00:00:00+00:00",
        "is_owner": False,
        "is_admin": False,
        "is_guest": False,
        "is_bot": False,
        "bot_type": None,
        "role": Role.MEMBER,
        "timezone": "",
        "avatar_url": UNKNOWN_AVATAR,
        "avatar_version": 1,
        "is_imported_stub": False,
        "profile_data": {},
    }


def unknown_sender(user_id: int, domain: str) -> dict[str, str]:
    """What a message says of a sender the reader does not see."""
    return {
        "sender_full_name": UNKNOWN_NAME,
        "sender_email": fake_email(user_id, domain),
        "avatar_url": UNKNOWN_AVATAR,
    }
