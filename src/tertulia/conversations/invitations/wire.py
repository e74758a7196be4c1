"""What clients see of invitations."""

from typing import Literal

from tertulia.events.wire import Event


class InvitesChangedEvent(Event, frozen=True, kw_only=True):
    """The list of invitations changed: ask for it again."""

    type: Literal["invites_changed"]
