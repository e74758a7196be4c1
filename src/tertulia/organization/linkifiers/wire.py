"""What clients see of linkifiers."""

from typing import Any, Literal

from tertulia.events.wire import Event
from tertulia.organization.linkifiers.model import LinkifierRecord


class RealmLinkifiersEvent(Event, frozen=True, kw_only=True):
    """The linkifiers changed: all of them, in their order."""

    type: Literal["realm_linkifiers"]
    realm_linkifiers: list[LinkifierRecord]


KEYS = {
    "realm_linkifiers": list[LinkifierRecord],
    "realm_filters": list[list[Any]],
}
