"""The state that a client begins with, put together from what the features provide."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from tertulia.events.queues.options import QueueOptions
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.joined import together
from tertulia.kernel.settings import Settings


class StateRequest(msgspec.Struct, frozen=True):
    """What a client wants to know at the start."""

    fetch: frozenset[str] | None
    options: QueueOptions
    parameters: Mapping[str, Any]
    """What else was asked for, by the parameters' names: each is for one feature, which knows what it means."""

    def has(self, types: frozenset[str]) -> bool:
        """Whether all these types of state are wanted."""
        return self.fetch is None or types <= self.fetch


Provide = Callable[[Reader, Caller, StateRequest, Settings], Awaitable[dict[str, Any]]]


class Provider(msgspec.Struct, frozen=True):
    """A feature's part of the state: given when all `types` are wanted; without types, always."""

    types: frozenset[str]
    provide: Provide


def provider(*types: str) -> Callable[[Provide], Provider]:
    """Declare a function as a part of the state."""
    return lambda provide: Provider(frozenset(types), provide)


class InitialState:
    """All parts, in the order of the features."""

    def __init__(self, providers: Sequence[Provider], settings: Settings) -> None:
        self._providers = providers
        self._settings = settings

    async def load(self, reader: Reader, caller: Caller, wanted: StateRequest) -> dict[str, Any]:
        """Everything that is wanted, as of one snapshot."""
        parts = [part for part in self._providers if wanted.has(part.types)]
        found = await together(*(part.provide(reader, caller, wanted, self._settings) for part in parts))
        return dict(chain.from_iterable(part.items() for part in found))
