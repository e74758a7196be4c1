"""Is the other side still moving? Judged over windows of time, so that a slow line is no reason to hang up but a dead one is.

An average since the beginning would forgive a stall for as long as the beginning was fast. Each window counts for itself.

Invariants
- Waiting for us is nobody's fault: a window at whose start or end we did not read is not judged.
- What the system's buffer holds counts as not sent: it takes data in large lumps, and a slow reader would look like a dead one.
"""

import array
import asyncio
import fcntl
import termios

FREE_PIECES = 1000
"""So many may be of any size, in a window: a line may cut what is sent as it likes, and who streams sends what there is."""
MIN_PIECE = 32
"""Bytes that the others have, on average."""


class Pace:
    """How fast one connection's body arrives, and how fast its answers leave."""

    __slots__ = ("_body_since", "_left", "_sending_since", "_was_paused", "arrived", "has_drained", "pieces")

    def __init__(self, now: float) -> None:
        self.arrived = 0
        self.pieces = 0
        self.has_drained = False
        self._was_paused = False
        self._left: int | None = None
        self._body_since = self._sending_since = now

    def begin_body(self, now: float) -> None:
        """A window for a new body."""
        self._body_since = now
        self.arrived = 0
        self.pieces = 0
        self._was_paused = False

    def is_body_crumbled(self) -> bool:
        """Whether it comes in many tiny pieces, each of which costs as much as a large one."""
        return self.pieces > FREE_PIECES and self.arrived < self.pieces * MIN_PIECE

    def is_body_slow(self, now: float, window: float, least: int, *, paused: bool) -> bool:
        """Whether a window has ended in which too little arrived."""
        if now - self._body_since < window:
            return False
        is_slow = self.arrived < least and not paused and not self._was_paused
        self.begin_body(now)
        self._was_paused = paused
        return is_slow

    def is_reader_slow(self, now: float, window: float, least: int, transport: asyncio.Transport) -> bool:
        """Whether a window has ended in which the client took too little of what waits for it."""
        if now - self._sending_since < window:
            return False
        left = _unsent(transport) if transport.get_write_buffer_size() else None
        before, drained = self._left, self.has_drained
        self._sending_since, self._left, self.has_drained = now, left, False
        return left is not None and before is not None and not drained and left > before - least


def _unsent(transport: asyncio.Transport) -> int:
    waiting = array.array("i", [0])
    try:
        fcntl.ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, waiting)
    except OSError:
        return transport.get_write_buffer_size()  # a system that does not say
    return transport.get_write_buffer_size() + waiting[0]
