"""Whom a guest sees, where guests do not see everybody (`can_access_all_users_group` is role:members).

Themselves, bots, and those they share a channel or a direct conversation with. Everybody else is left out of lists; a
place that must show a sender shows an unknown user.
"""

from collections.abc import Collection

from tertulia.kernel.auth import Caller, Role, fake_email
from tertulia.kernel.db import Reader
from tertulia.users import queries

UNKNOWN_NAME = "Unknown user"
UNKNOWN_AVATAR = "/avatar/0?v=1"
"""The same for all of them: a picture of one's own would tell one unknown user from another."""


async def hidden_from(reader: Reader, caller: Caller, user_ids: Collection[int]) -> frozenset[int]:
    """Which of these users the caller does not see. No statement unless the caller is a guest, and one if they are."""
    if caller.role != Role.GUEST or not user_ids:
        return frozenset()
    return await queries.hidden_from_guest(reader, caller.realm_id, caller.user_id, user_ids)


def unknown_sender(user_id: int, domain: str) -> dict[str, str]:
    """What a message says of a sender the reader does not see."""
    return {
        "sender_full_name": UNKNOWN_NAME,
        "sender_email": fake_email(user_id, domain),
        "avatar_url": UNKNOWN_AVATAR,
    }
