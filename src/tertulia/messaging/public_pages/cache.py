"""Pages that were made a moment ago: whoever asks for the same one meanwhile gets it again.

There is nothing to purge. A page holds for `FRESH_SECONDS` from when its making began, whatever happens, and then it is made
anew of what the database says: an edit, a deletion, a move or a switch that was turned off is seen by everybody after that time
at the latest, in every process. Browsers and caches in between keep a page only to ask each time whether it is still the same.
"""

import asyncio
import gzip
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable

from tertulia.kernel.call import Call
from tertulia.kernel.conditions import accepted_encoding, has_entity
from tertulia.kernel.reply import Reply

FRESH_SECONDS = 1.0
MAX_BYTES = 32 * 1024 * 1024
"""Of all pages that are held, compressed ones included."""


class Page:
    """A page that was made: its bytes, and what is said of them."""

    __slots__ = ("_packed", "_tag", "body", "content_type", "headers")

    def __init__(self, body: bytes, content_type: str, headers: dict[str, str]) -> None:
        self.body = body
        self.content_type = content_type
        self.headers = headers
        self._tag = hashlib.blake2b(body, digest_size=12).hexdigest()
        self._packed: bytes | None = None

    @property
    def size(self) -> int:
        """Of both forms, at most."""
        return 2 * len(self.body)

    def answer(self, call: Call) -> Reply:
        """In the form that the caller takes, or that they have it already."""
        packs = accepted_encoding(call.header("accept-encoding"), ["gzip"]) is not None
        tag = f'"{self._tag}-gzip"' if packs else f'"{self._tag}"'
        headers = {**self.headers, "ETag": tag, "Cache-Control": "public, no-cache", "Vary": "Accept-Encoding"}
        if has_entity(call.header("if-none-match"), tag):
            return Reply(b"", 304, headers, self.content_type)
        if not packs:
            return Reply(self.body, headers=headers, content_type=self.content_type)
        if self._packed is None:
            self._packed = gzip.compress(self.body, 4, mtime=0)
        return Reply(self._packed, headers=headers | {"Content-Encoding": "gzip"}, content_type=self.content_type)


Make = Callable[[], Awaitable[Page]]


class PageCache:
    """The pages of one process, by what they are asked for."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._pages: OrderedDict[Hashable, tuple[float, Page]] = OrderedDict()
        self._making: dict[Hashable, asyncio.Lock] = {}
        self._max_bytes = max_bytes
        self._bytes = 0

    async def get(self, key: Hashable, make: Make) -> Page:
        """The page for this key, made if there is none that is fresh. Whoever asks while it is being made waits for that."""
        arrived = time.monotonic()
        if (page := self._find(key, arrived)) is not None:
            return page
        making = self._making.setdefault(key, asyncio.Lock())
        try:
            async with making:
                if (page := self._find(key, arrived)) is not None:
                    return page
                began = time.monotonic()
                page = await make()
                self._keep(key, began, page)
                return page
        finally:
            if not making.locked() and self._making.get(key) is making:
                del self._making[key]

    def _find(self, key: Hashable, arrived: float) -> Page | None:
        """A page that was fresh when somebody asked: not when they have waited, or those who wait would make it in turns."""
        began, page = self._pages.get(key, (0.0, None))
        return page if page is not None and arrived - began < FRESH_SECONDS else None

    def _keep(self, key: Hashable, began: float, page: Page) -> None:
        self._drop(key)
        self._pages[key] = began, page
        self._bytes += page.size
        while self._bytes > self._max_bytes and self._pages:
            self._drop(next(iter(self._pages)))

    def _drop(self, key: Hashable) -> None:
        _, page = self._pages.pop(key, (0.0, None))
        if page is not None:
            self._bytes -= page.size
