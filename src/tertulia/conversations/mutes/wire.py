"""What clients see of muted people."""

from typing import Literal

from tertulia.conversations.mutes.model import MutedUser
from tertulia.events.wire import Event


class MutedUsersEvent(Event, frozen=True, kw_only=True):
    """You muted or unmuted somebody: all users you mute now."""

    type: Literal["muted_users"]
    muted_users: list[MutedUser]


KEYS = {
    "muted_users": list[MutedUser],
}
