"""What bodies that arrive take of this process's memory: all together, and those of one person or network.

When all together hold what they may, whoever holds more than an equal part is refused with what comes next. So a few who send
large bodies slowly cannot keep everybody else from sending. What is held then is twice the bound at most: who holds an equal part
of many may have held it when it was a part of few.
"""

from tertulia.kernel.errors import server_not_ready

SHARES = 8
"""So many people fill it: one of them has the eighth part."""
FULL = 2
"""So many times the bound are never exceeded, whoever is refused then."""


class ArrivingBodies:
    """Counts bytes that are held until their request is answered. Whoever would hold too many is refused, with what they sent."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._share = most // SHARES
        self._total = 0
        self._held: dict[str, int] = {}

    def hold(self, payer: str, size: int) -> None:
        """So much more of a body has come. Call `let_go` at the end with all that was held."""
        own = self._held.get(payer, 0) + size
        is_full = self._total + size > self._most
        is_over = self._total + size > FULL * self._most
        if own > self._share or is_over or (is_full and own > self._most // (len(self._held) + 1)):
            # The rest of the body is still on its way.
            raise server_not_ready("Too much is being sent at once, try again shortly", close=True)
        self._held[payer] = own
        self._total += size

    def let_go(self, payer: str, size: int) -> None:
        """The request is over."""
        self._total -= size
        left = self._held[payer] - size
        if left:
            self._held[payer] = left
        else:
            del self._held[payer]
