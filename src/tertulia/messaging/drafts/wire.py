"""What clients see of drafts."""

from typing import Literal

from tertulia.events.wire import Event
from tertulia.messaging.drafts.model import Draft


class DraftsAddEvent(Event, frozen=True, kw_only=True):
    """Drafts were saved."""

    type: Literal["drafts"]
    op: Literal["add"]
    drafts: list[Draft]


class DraftsUpdateEvent(Event, frozen=True, kw_only=True):
    """A draft was changed."""

    type: Literal["drafts"]
    op: Literal["update"]
    draft: Draft


class DraftsRemoveEvent(Event, frozen=True, kw_only=True):
    """A draft was deleted."""

    type: Literal["drafts"]
    op: Literal["remove"]
    draft_id: int


KEYS = {
    "drafts": list[Draft],
}
