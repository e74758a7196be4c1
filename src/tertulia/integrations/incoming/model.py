"""What integrations are, what they are given and what they make of it."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tertulia.integrations.incoming.signatures import IsSigned


class Delivery(msgspec.Struct, frozen=True):
    """What a service posted."""

    payload: Any
    """The JSON value."""
    headers: Mapping[str, str] = {}
    """Names in lower case."""


class Post(msgspec.Struct, frozen=True):
    """What is to be said of it. Topic and content may be too long yet."""

    event: str
    """How the service's kind of event is called, for `only_events` and `exclude_events`."""
    topic: str
    content: str


class Integration(msgspec.Struct, frozen=True):
    """One service."""

    name: str
    """As in the address."""
    display_name: str
    parse: Callable[[Delivery], Post | None]
    """None: nothing worth saying. Raises what refusals.py has."""
    events: tuple[str, ...] = ()
    """The kinds of events it knows; empty: it does not tell them apart."""
    is_signed: IsSigned | None = None
    """Whether a payload is signed with a secret; None: the service cannot."""
    can_be_secret: Callable[[str], bool] = lambda _secret: True
    """Whether the service can sign with it."""
