"""The presences of realms, kept in memory in the order of their changes, each as the text that is sent.

Nothing here can be stale: what is new is read for every answer, by one small query for all that are asked for at once.
"""

import time
from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database
from tertulia.presence import queries
from tertulia.presence.model import Presence, modern

MAX_REALMS = 200
"""How many realms a process remembers; what was not asked for the longest time goes first."""

_encode = msgspec.json.Encoder().encode


class Line(msgspec.Struct, frozen=True):
    """One person's presence."""

    update_id: int
    user_id: int
    connected_at: int
    text: bytes


class Page:
    """A realm's presences; the dictionary's order is the order of the changes."""

    def __init__(self) -> None:
        self.last_id = -1
        self._lines: dict[int, Line] = {}

    def add(self, update_id: int, presence: Presence) -> None:
        """A change, newer than all before."""
        self._lines.pop(presence.user_id, None)
        text = b'"%d":%b' % (presence.user_id, _encode(modern(presence)))
        self._lines[presence.user_id] = Line(update_id, presence.user_id, presence.connected_at, text)
        self.last_id = max(self.last_id, update_id)

    def since(self, known: int, oldest: float, visible: set[int] | None) -> bytes:
        """The presences that changed after the known number and are not too old, as a JSON object."""
        texts = []
        for line in reversed(self._lines.values()):
            if line.update_id <= known:
                break
            if line.connected_at >= oldest and (visible is None or line.user_id in visible):
                texts.append(line.text)
        return b"{" + b",".join(texts) + b"}"


class Book:
    """The pages of one process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pages: OrderedDict[int, Page] = OrderedDict()
        self._news: Coalescer[int, Page] = Coalescer(self._read)

    async def presences(self, realm_id: int, known: int, days: int, visible: set[int] | None) -> tuple[bytes, int]:
        """What changed after the known number (JSON), and the number known now."""
        page = await self._news.load(realm_id)
        assert page is not None
        text = page.since(known, time.time() - days * 86400, visible)
        return text, max(page.last_id, known)

    async def _read(self, realm_ids: Sequence[int]) -> dict[int, Page]:
        pages = {realm_id: self._pages.setdefault(realm_id, Page()) for realm_id in realm_ids}
        async with self._database.reader() as reader:
            rows = await queries.news(reader, list(pages), [page.last_id for page in pages.values()])
        for row in rows:
            presence = Presence(row["user_id"], row["active_at"], row["connected_at"])
            pages[row["realm_id"]].add(row["update_id"], presence)
        for realm_id in realm_ids:
            self._pages.move_to_end(realm_id)
        while len(self._pages) > MAX_REALMS:
            self._pages.popitem(last=False)
        return pages
