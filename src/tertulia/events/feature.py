"""What a feature brings to the server: the type of each `FEATURE`.

A feature declares itself in the file `feature.py` of its package, and `server/features.py` has one line for it. The
application and the worker go over that list; neither names a feature otherwise. Not in `__init__.py`: whoever imports one
module of a package runs that file, and would import all endpoints with it.

It is here and not in the kernel because presenters, filters and parts of the state are of events.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, TypeAlias, TypeVar

from tertulia.events.queues.filters import Filter
from tertulia.events.queues.initial_state import Provider
from tertulia.events.queues.logged_event import Presenter
from tertulia.kernel.bounds import Bound, Otherwise
from tertulia.kernel.chores import Chore
from tertulia.kernel.http import Refuse
from tertulia.kernel.sealing import SealedColumn
from tertulia.kernel.services import Service, Services

T = TypeVar("T")
Made: TypeAlias = T | Callable[[Services], T]
"""A part as it is, or how it is made where it needs a service."""
FollowUp = Callable[[Services], Callable[[], Awaitable[object]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """All that the rest of the server has to know of a feature."""

    name: str
    """That of its package."""
    routes: tuple[ModuleType, ...] = ()
    """Modules with endpoints."""
    refusals: Mapping[str, Refuse] = field(default_factory=dict)
    """By the beginning of an address: how refusals look there, where another protocol is spoken."""
    wire: ModuleType | None = None
    """The module with the types of its events and, as KEYS, of what it adds to the state (events/wire.py)."""
    state: tuple[Made[Provider], ...] = ()
    """Its parts of the answer of POST /register. No two features give the same key."""
    presenters: Mapping[str, Made[Presenter]] = field(default_factory=dict)
    """By type of event, where listeners get different texts of one event."""
    filters: Mapping[str, Filter] = field(default_factory=dict)
    """By type of event: which of them a queue with a narrow takes."""
    services: tuple[Service[Any], ...] = ()
    """What its endpoints and chores ask for by type, and what it lends to features below it."""
    follow_ups: Mapping[str, FollowUp] = field(default_factory=dict)
    """By name: what a request does after its commit (`Transaction.follow_up`)."""
    hooks: Mapping[type, tuple[Any, ...]] = field(default_factory=dict)
    """By kind: what a feature below this one calls of it (`Hooks`)."""
    sealed: tuple[SealedColumn, ...] = ()
    """Columns of its tables that hold secrets which are read back (kernel/sealing.py)."""
    chores: tuple[Chore, ...] = ()
    """What the worker does for it."""
    bounds: tuple[Bound | Otherwise, ...] = ()
    """How much can be piled up in its tables. Every table is named."""


def made(part: Made[T], services: Services) -> T:
    """A part that is ready to use."""
    ready: T = part(services) if callable(part) else part
    return ready
