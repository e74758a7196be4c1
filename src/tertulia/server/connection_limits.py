"""How long, how large and how many: the bounds of HTTP connections, and what they all hold together in this process."""

import time
from typing import Any

import msgspec
import structlog
from uvicorn.server import ServerState

from tertulia.kernel.settings import Settings
from tertulia.server.held_bytes import HeldBytes
from tertulia.server.networks import Networks
from tertulia.server.turned_away import TurnedAway

MAX_UNREAD_HEADS = 64 * 1024 * 1024
"""Bytes of requests whose headers are not complete, of all connections together: each alone may be within its bounds."""
SPARE_FILES = 256
"""Open files that are no connections of clients: engines, stored files, the program itself."""
SPARE_CONNECTIONS = 100
"""So many over the bound are told why; more are closed without a word."""
TELL_SECONDS = 10.0
"""How often at most the log says that connections are turned away."""

log = structlog.get_logger()


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of one process. The settings of the same names say what they mean."""

    header_seconds: float
    keep_alive_seconds: float
    stall_seconds: float
    min_bytes_per_second: int
    max_header_bytes: int
    max_headers: int
    max_connections: int
    max_network_connections: int
    answer_seconds: float
    max_unsent_bytes: int

    @property
    def tick(self) -> float:
        """How often a connection is looked at; a bound of time is kept with this exactness."""
        return min(self.header_seconds, self.keep_alive_seconds, self.stall_seconds) / 4

    @property
    def least(self) -> int:
        """Bytes that must move in `stall_seconds`."""
        return int(self.min_bytes_per_second * self.stall_seconds)

    def least_read(self, unsent: int) -> int:
        """Bytes that must be read in `stall_seconds` of an answer that takes so much of our memory."""
        return max(self.least, int(unsent * self.stall_seconds / self.answer_seconds))


def limits_of(settings: Settings, open_files: int | None = None) -> ConnectionLimits:
    """What the settings say, as far as the number of open files allows."""
    most = settings.max_connections
    if open_files is not None:
        most = max(1, min(most, open_files - SPARE_FILES))
    return ConnectionLimits(
        header_seconds=settings.header_seconds,
        keep_alive_seconds=settings.keep_alive_seconds,
        stall_seconds=settings.stall_seconds,
        min_bytes_per_second=settings.min_bytes_per_second,
        max_header_bytes=settings.max_header_bytes,
        max_headers=settings.max_headers,
        max_connections=most,
        max_network_connections=settings.max_network_connections,
        answer_seconds=settings.answer_seconds,
        max_unsent_bytes=settings.max_unsent_bytes,
    )


class Tally:
    """What all connections of a process hold together."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.networks = Networks(limits.max_network_connections)
        self.connections = 0
        self.unread_heads: HeldBytes[Any] = HeldBytes()
        self.unsent: HeldBytes[Any] = HeldBytes()
        self._told = 0.0
        self._turned_away: TurnedAway | None = None

    def turned_away(self, state: ServerState) -> TurnedAway:
        """What whoever is turned away at the door is told. The headers of all answers are known once the server runs."""
        if self._turned_away is None:
            self._turned_away = TurnedAway(state.default_headers)
        return self._turned_away

    def tell(self, reason: str, **details: object) -> None:
        """Log a refusal that may happen thousands of times a second."""
        now = time.monotonic()
        if now - self._told >= TELL_SECONDS:
            self._told = now
            log.warning(reason, **details)
