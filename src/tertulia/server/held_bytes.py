"""What lies in the memory of this process because clients take their time, and who is cut off first: answers that are not read,
and requests whose heads do not end.

Each connection alone may be within its bounds, and all together may still take everything. Over the bound, the client address
that holds the most is the one that pays: no client can have another one cut off by holding more itself.

Invariants
- An answer counts whole until nearly all of it is gone: the memory is not given back sooner.
- Adding and removing cost the same whatever others hold. Only over the bound, all clients that wait are looked at.
"""

from typing import Generic, TypeVar

C = TypeVar("C")


class HeldBytes(Generic[C]):
    """What each connection of a process holds."""

    def __init__(self) -> None:
        self.total = 0
        self._held: dict[C, tuple[str, int]] = {}
        self._clients: dict[str, _Client[C]] = {}

    def add(self, connection: C, address: str, size: int) -> None:
        """So many bytes wait, with those that did before."""
        self.remove(connection)
        self._held[connection] = address, size
        client = self._clients.setdefault(address, _Client())
        client.total += size
        client.waiting[connection] = None
        self.total += size

    def remove(self, connection: C) -> None:
        """They wait no longer, if they did."""
        address, size = self._held.pop(connection, ("", 0))
        if size:
            client = self._clients[address]
            client.total -= size
            del client.waiting[connection]
            if not client.waiting:
                del self._clients[address]
            self.total -= size

    def of(self, connection: C) -> int:
        """How much of a connection waits."""
        return self._held.get(connection, ("", 0))[1]

    def take_worst(self) -> C:
        """Of the client that holds the most, the connection that has waited for the longest time; it counts no more."""
        client = max(self._clients.values(), key=lambda one: one.total)
        worst = next(iter(client.waiting))
        self.remove(worst)
        return worst


class _Client(Generic[C]):
    def __init__(self) -> None:
        self.total = 0
        self.waiting: dict[C, None] = {}
        """In the order in which they began to wait."""
