"""How many connections, or requests under way behind a proxy, each network has in this process: nobody takes all of them.

Of a client that connects by itself its connections are counted, whatever they are used for. All clients of a proxy come over
its connections, so there the requests are counted that it makes for each of them. A proxy that does not say for whom it asks
is not counted: what it asks is everybody's.
"""

from collections import Counter

from tertulia.kernel.limits import network_of


class Networks:
    """Counts, with a bound for each; 0: any number."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._inside: Counter[str] = Counter()

    def enter(self, address: str) -> str:
        """One more from this address. Call `leave` with what it returns, too many or not."""
        network = network_of(address) if self._most else ""
        if network:
            self._inside[network] += 1
        return network

    def excess(self, network: str) -> int:
        """How many it has over the bound; 0 or less: none."""
        return self._inside[network] - self._most if network else 0

    def leave(self, network: str) -> None:
        """One of them is over."""
        if network:
            self._inside[network] -= 1
            if not self._inside[network]:
                del self._inside[network]
