"""The log's line for each request: who asked for what, how it was answered, how long that took, and how much of it the database.

A line has numbers and names of our own: never a path, a parameter or a header of somebody's. It is made for every request, so
it does not go through structlog, which takes ten times as long; and lines that come together are written together, because
writing takes longer than making them. A process that is killed loses those of its last moment.
"""

import asyncio
import atexit
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

import msgspec

from tertulia.kernel.call import Call
from tertulia.kernel.request_metrics import METHODS
from tertulia.kernel.settings import Settings

CLIENT_GONE: Final = 499
"""The status of a request whose client did not wait for the answer; a proxy's log has the same."""
ELSEWHERE: Final = "site"
"""What is served outside the API: the web client, and pictures."""
WRITE_SECONDS: Final = 0.2
MOST_BYTES: Final = 4000
"""Of one write: so much stays together in a pipe that several processes write to."""


class Line(msgspec.Struct, omit_defaults=True):
    """One request. Whoever is not known is left out."""

    timestamp: datetime
    level: str
    process: str
    event: str
    method: str
    endpoint: str
    status: int
    seconds: float
    statements: int
    statement_seconds: float
    request_id: str
    realm_id: int = 0
    user_id: int = 0


class RequestLog:
    """Of one web process, on its event loop."""

    def __init__(self, *, for_people: bool) -> None:
        self._encode = _for_people if for_people else msgspec.json.Encoder().encode
        self._lines: list[bytes] = []
        self._bytes = 0
        atexit.register(self.write)

    def tell(self, call: Call, endpoint: str, status: int, seconds: float) -> None:
        """One more request is over. `endpoint` is empty when there is none."""
        asked, caller = call.statements, call.caller
        line = self._encode(
            Line(
                timestamp=datetime.now(UTC),
                level="info",
                process="web",
                event="request",
                method=call.method if call.method in METHODS else "other",
                endpoint=endpoint or "none",
                status=status,
                seconds=round(seconds, 6),
                statements=asked.number,
                statement_seconds=round(asked.seconds, 6),
                realm_id=0 if caller is None else caller.realm_id,
                user_id=0 if caller is None else caller.user_id,
                request_id=call.request_id,
            )
        )
        if not self._lines:
            asyncio.get_running_loop().call_later(WRITE_SECONDS, self.write)
        elif self._bytes + len(line) >= MOST_BYTES:
            self.write()
        self._lines.append(line)
        self._bytes += len(line) + 1

    def write(self) -> None:
        """Write what has come together."""
        if self._lines:
            self._lines.append(b"")
            text, self._lines, self._bytes = b"\n".join(self._lines), [], 0
            with suppress(OSError, ValueError):  # nobody reads the log any more
                sys.stderr.write(text.decode())
                sys.stderr.flush()


def request_log_of(settings: Settings) -> RequestLog | None:
    """None: nobody wants to read it."""
    if not settings.log_requests or settings.log_level not in ("debug", "info"):
        return None
    return RequestLog(for_people=settings.log_format == "console")


def _for_people(line: Line) -> bytes:
    who = f" user_id={line.user_id} realm_id={line.realm_id}" if line.realm_id else ""
    return (
        f"{line.timestamp:%Y-%m-%dT%H:%M:%S.%fZ} [info     ] {line.method} {line.endpoint} {line.status}"
        f" {line.seconds * 1000:.1f} ms, {line.statements} statements {line.statement_seconds * 1000:.1f} ms"
        f"{who} request_id={line.request_id}"
    ).encode()
