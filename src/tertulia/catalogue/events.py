"""All events, and the answer of GET /events."""

import msgspec

from tertulia.catalogue import messages, own, people, places
from tertulia.catalogue.base import Event

EVENTS: tuple[type[Event], ...] = (*messages.EVENTS, *own.EVENTS, *places.EVENTS, *people.EVENTS)


class AnyEvent:
    """One of them: what `type` and `op` say."""


class Events(msgspec.Struct):
    """The answer of GET /events."""

    events: list[AnyEvent]
