"""Services: what a process makes once, found by its type.

A feature declares how each of its services is made. It is made when somebody first asks for it, so the order of the
declarations does not matter, a lower feature may be given what a higher one declares (`Arrival`), and a worker makes
only what its chores need. The web process makes all of them at start, so that a mistake shows there.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Service(Generic[T]):
    """How the one instance of a type is made out of others, and what ends it."""

    kind: type[T]
    make: Callable[["Services"], T]
    close: Callable[[T], Awaitable[None]] | None = None


class Services:
    """The services of a process: those that are given, and those that are made of them."""

    def __init__(self, given: Mapping[type, Any], declared: Iterable[Service[Any]]) -> None:
        self._instances: dict[type, Any] = dict(given)
        self._declared: dict[type, Service[Any]] = {}
        self._unfinished: list[type] = []
        self._ends = AsyncExitStack()
        for service in declared:
            if service.kind in self._instances or service.kind in self._declared:
                raise ValueError(f"two features declare the service {service.kind.__qualname__}")
            self._declared[service.kind] = service

    def __getitem__(self, kind: type[T]) -> T:
        """The instance of a type, made now if nobody asked before."""
        if kind not in self._instances:
            self._make(kind)
        instance: T = self._instances[kind]
        return instance

    def all(self) -> dict[type, Any]:
        """Every instance by its type."""
        for kind in self._declared:
            self[kind]
        return self._instances.copy()

    async def close(self) -> None:
        """End what was made and has an end, the newest first."""
        await self._ends.aclose()

    def _make(self, kind: type) -> None:
        way = " -> ".join(one.__qualname__ for one in [*self._unfinished, kind])
        if kind in self._unfinished:
            raise LookupError(f"services that need each other: {way}")
        if kind not in self._declared:
            raise LookupError(f"no feature declares this service: {way}")
        service = self._declared[kind]
        self._unfinished.append(kind)
        try:
            instance = self._instances[kind] = service.make(self)
        finally:
            self._unfinished.pop()
        if service.close is not None:
            self._ends.push_async_callback(service.close, instance)


@dataclass(frozen=True, slots=True)
class MadeHook:
    """A hook that needs services: how it is made of them."""

    make: Callable[[Services], Any]


class Hooks:
    """What features lend to one below them that calls each of them, such as the side effects of a sent message."""

    def __init__(self, declared: Iterable[Mapping[type, Sequence[Any]]]) -> None:
        self._by_kind: dict[type, list[Any]] = {}
        for hooks in declared:
            for kind, some in hooks.items():
                self._by_kind.setdefault(kind, []).extend(some)

    def of(self, kind: type, services: Services) -> tuple[Any, ...]:
        """Those of one kind, in the order of the features, ready to be called."""
        declared = self._by_kind.get(kind, ())
        return tuple(hook.make(services) if isinstance(hook, MadeHook) else hook for hook in declared)
