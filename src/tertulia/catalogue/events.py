"""All events, and the answer of GET /events."""

import msgspec

# Each event is in the list by being a subclass; these modules are imported for theirs.
from tertulia.catalogue import messages, own, people, places  # noqa: F401
from tertulia.catalogue.base import Event

EVENTS = tuple(Event.__subclasses__())


class AnyEvent:
    """One of them: what `type` and `op` say."""


class Events(msgspec.Struct):
    """The answer of GET /events."""

    events: list[AnyEvent]
