"""POST /register: the initial state, put together from what the features provide, and a queue for all that follows."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from tertulia.events.options import QueueOptions
from tertulia.kernel.auth import Caller
from tertulia.kernel.call import Call
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings


class Wanted(msgspec.Struct, frozen=True):
    """What a client wants to know at the start."""

    fetch: frozenset[str] | None
    options: QueueOptions
    include_subscribers: str = "false"
    presence_days: int = 14

    def has(self, types: frozenset[str]) -> bool:
        """Whether all these types of state are wanted."""
        return self.fetch is None or types <= self.fetch


Provide = Callable[[Reader, Caller, Wanted, Settings], Awaitable[dict[str, Any]]]


class Provider(msgspec.Struct, frozen=True):
    """A feature's part of the state: given when all `types` are wanted; without types, always."""

    types: frozenset[str]
    provide: Provide


def provider(*types: str) -> Callable[[Provide], Provider]:
    """Declare a function as a part of the state."""
    return lambda provide: Provider(frozenset(types), provide)


class Spectators(msgspec.Struct, frozen=True):
    """Lets somebody without an account in, or refuses them. Tied in where the application is put together."""

    at: Callable[[Call, Reader], Awaitable[Caller]]


class InitialState:
    """All parts, in the order of the features."""

    def __init__(self, providers: Sequence[Provider], settings: Settings) -> None:
        self._providers = providers
        self._settings = settings

    async def load(self, reader: Reader, caller: Caller, wanted: Wanted) -> dict[str, Any]:
        """Everything that is wanted, as of one snapshot."""
        state: dict[str, Any] = {}
        for part in self._providers:
            if wanted.has(part.types):
                state |= await part.provide(reader, caller, wanted, self._settings)
        return state
