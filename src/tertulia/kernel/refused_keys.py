"""Credentials that were just refused for calling too often: until they may call again, nobody asks the database whose they are.

A program that does not wait would otherwise have its key looked up thousands of times a second, and everybody else's requests
stand in the same line. Only a digest of what was sent is remembered, and only of credentials that were good.
"""

import hashlib
import time
from typing import NamedTuple

from tertulia.kernel.call import Call
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import TOO_OFTEN, least_full, too_often

MAX_KEYS = 10_000
"""More are not remembered at once: half of them are forgotten, those whose time comes first."""


class Sent(NamedTuple):
    """Credentials as they were sent, and for what kind of calls: each kind has its own budget."""

    digest: bytes
    kind: str


class RefusedKeys:
    """By credentials: when they may call again, and what every such refusal says of the budget."""

    def __init__(self) -> None:
        self._until: dict[Sent, float] = {}
        self._headers: dict[Sent, list[tuple[bytes, bytes]]] = {}

    def check(self, call: Call, kind: str) -> None:
        """Refuse again who was refused, and should have waited."""
        if not self._until or (sent := _sent_with(call, kind)) is None or (until := self._until.get(sent)) is None:
            return
        seconds = until - time.monotonic()
        if seconds > 0:
            call.reply_headers += self._headers[sent]
            raise too_often(seconds)
        del self._until[sent], self._headers[sent]

    def remember(self, call: Call, kind: str, refusal: Refusal) -> None:
        """These credentials were refused, if it was for calling too often."""
        wait = refusal.extra.get("retry-after")
        if refusal.status != TOO_OFTEN or not isinstance(wait, float) or (sent := _sent_with(call, kind)) is None:
            return
        now = time.monotonic()
        if len(self._until) >= MAX_KEYS:
            self._until = least_full(self._until, now, MAX_KEYS // 2)
            self._headers = {key: self._headers[key] for key in self._until}
        self._until[sent] = now + wait
        self._headers[sent] = [header for header in call.reply_headers if header[0].startswith(b"x-ratelimit-")]


def _sent_with(call: Call, kind: str) -> Sent | None:
    """Without credentials a call is the network's, which costs no question anyway."""
    sent = call.raw_headers.get(b"authorization") or call.raw_headers.get(b"cookie")
    return None if sent is None else Sent(hashlib.sha256(sent).digest(), kind)
