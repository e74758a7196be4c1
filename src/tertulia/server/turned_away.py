"""The answer to whoever is turned away at the door, as bytes: put together once, because it is sent when there is no time."""

import os
from collections.abc import Sequence

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from tertulia.kernel.door import TOO_BUSY
from tertulia.kernel.errors import error_body, server_not_ready
from tertulia.kernel.http import JSON_HEADERS


class TurnedAway:
    """Of one process: `own` are the headers that all its answers have."""

    def __init__(self, own: Sequence[tuple[bytes, bytes]]) -> None:
        refusal = server_not_ready(TOO_BUSY)
        self._status = refusal.status
        self._body = error_body(refusal)
        self._own = own
        self._heads: dict[tuple[int, bool], bytes] = {}

    def answer(self, seconds: int, *, keep_alive: bool) -> bytes:
        """That they may come back after so many seconds."""
        head = self._heads.get((seconds, keep_alive))
        if head is None:
            head = self._heads[seconds, keep_alive] = self._head(seconds, keep_alive)
        return b"%b%b\r\n\r\n%b" % (head, os.urandom(8).hex().encode(), self._body)

    def _head(self, seconds: int, keep_alive: bool) -> bytes:
        """Up to the only value that is another one each time."""
        headers = [
            *self._own,
            *JSON_HEADERS,
            (b"retry-after", b"%d" % seconds),
            (b"content-length", b"%d" % len(self._body)),
            *(() if keep_alive else ((b"connection", b"close"),)),
        ]
        return b"".join([STATUS_LINE[self._status], *(b"%b: %b\r\n" % header for header in headers), b"x-request-id: "])
