"""The catalogue: every event and every key of POST /register, collected from what the features show (events/wire.py)."""

from collections.abc import Sequence
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from tertulia.events.feature import Feature
from tertulia.events.queues.kinds import Kinds, kinds
from tertulia.events.wire import Event

ALWAYS: dict[str, Any] = {
    "queue_id": str | None,
    "service_version": str,
    "service_merge_base": str,
    "service_feature_level": int,
}
"""What every answer of POST /register has; `queue_id` is null for readers without an account, who get no queue."""


class AnyEvent:
    """One of them: what `type` and `op` say."""


class Events(msgspec.Struct):
    """The answer of GET /events."""

    events: list[AnyEvent]


def events_of(features: Sequence[Feature]) -> tuple[type[Event], ...]:
    """The types of all events, in the order of the features."""
    return tuple(
        value
        for feature in features
        if feature.wire is not None
        for value in vars(feature.wire).values()
        if isinstance(value, type) and issubclass(value, Event) and value.__module__ == feature.wire.__name__
    )


def kinds_of(features: Sequence[Feature]) -> Kinds:
    """The types of all events, by name."""
    return kinds({get_args(get_type_hints(event)["type"])[0] for event in events_of(features)})


def initial_state_of(features: Sequence[Feature]) -> type[msgspec.Struct]:
    """The answer of POST /register."""
    keys: dict[str, Any] = {}
    for feature in features:
        keys |= getattr(feature.wire, "KEYS", {})
    state = msgspec.defstruct(
        "InitialState",
        [*ALWAYS.items(), *((name, kind | UnsetType, UNSET) for name, kind in keys.items())],
        kw_only=True,
    )
    state.__doc__ = "The answer of POST /register; which keys are there depends on what is fetched."
    return state
