"""What clients see of code playgrounds."""

from typing import Literal

from tertulia.events.wire import Event
from tertulia.organization.playgrounds.queries import Playground


class RealmPlaygroundsEvent(Event, frozen=True, kw_only=True):
    """The code playgrounds changed: all of them."""

    type: Literal["realm_playgrounds"]
    realm_playgrounds: list[Playground]


KEYS = {
    "realm_playgrounds": list[Playground],
}
