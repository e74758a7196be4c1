"""The log's line for each request: who asked for what, how it was answered, how long that took, and how much of it the database.

A line has numbers and names of our own: never a path, a parameter or a header of somebody's. It is made for every request, so
it goes neither through structlog, which takes ten times as long, nor through an encoder of JSON; and lines that come together are
written together, because writing takes longer than making them. A process that is killed loses those of its last moment.
"""

import asyncio
import atexit
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

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


class RequestLog:
    """Of one web process, on its event loop."""

    def __init__(self, *, for_people: bool) -> None:
        self._line_of = _for_people if for_people else _as_json
        self._lines: list[bytes] = []
        self._bytes = 0
        atexit.register(self.write)

    def tell(self, call: Call, endpoint: str, status: int, seconds: float) -> None:
        """One more request is over. `endpoint` is empty when there is none."""
        method = call.method if call.method in METHODS else "other"
        line = self._line_of(call, f"{method} {endpoint or 'none'} {status}", seconds)
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


@lru_cache(maxsize=4)
def _second(moment: int) -> str:
    """As the log has it; most lines come in the second of the line before."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%S}"


def _timestamp() -> str:
    now = time.time()
    moment = int(now)
    return f"{_second(moment)}.{int((now - moment) * 1e6):06d}Z"


@lru_cache(maxsize=4096)
def _asked(asked: str) -> str:
    """`GET get_events 200` as JSON: the names are our own, and need no escapes."""
    method, endpoint, status = asked.split(" ")
    return f'"method":"{method}","endpoint":"{endpoint}","status":{status}'


def _as_json(call: Call, asked: str, seconds: float) -> bytes:
    statements, caller = call.statements, call.caller
    who = f',"realm_id":{caller.realm_id},"user_id":{caller.user_id}' if caller is not None and caller.realm_id else ""
    return (
        f'{{"timestamp":"{_timestamp()}","level":"info","process":"web","event":"request",{_asked(asked)}'
        f',"seconds":{seconds:.6f},"statements":{statements.number},"statement_seconds":{statements.seconds:.6f}'
        f',"request_id":"{call.request_id}"{who}}}'
    ).encode()


def _for_people(call: Call, asked: str, seconds: float) -> bytes:
    statements, caller = call.statements, call.caller
    who = f" user_id={caller.user_id} realm_id={caller.realm_id}" if caller is not None and caller.realm_id else ""
    return (
        f"{_timestamp()} [info     ] {asked} {seconds * 1000:.1f} ms"
        f", {statements.number} statements {statements.seconds * 1000:.1f} ms{who} request_id={call.request_id}"
    ).encode()
