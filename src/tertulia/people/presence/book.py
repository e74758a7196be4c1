"""The presences of realms, kept in memory in the order of their changes, each as the text that is sent.

Nothing here can be stale: what is new is read for every answer, by one small query for all that are asked for at once.
"""

import time
from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database
from tertulia.people.presence import queries
from tertulia.people.presence.model import Presence, modern

MAX_REALMS = 200
"""How many realms a process remembers; what was not asked for the longest time goes first."""

CHUNK_LINES = 256
SPARSE_LINES = 16

_encode = msgspec.json.Encoder().encode


class Line(msgspec.Struct, frozen=True):
    """One person's presence."""

    update_id: int
    user_id: int
    connected_at: int
    text: bytes


class Chunk:
    """Some lines that follow each other, and their text, joined when it is first wanted after a change.

    The two bounds hold for all lines that ever were in it: lines that have gone since make them only less tight.
    """

    def __init__(self, lines: dict[int, Line], first_id: int, oldest: int) -> None:
        self.lines = lines
        self.first_id = first_id
        self.oldest = oldest
        self._text: bytes | None = None

    def add(self, line: Line) -> None:
        """Newer than all before."""
        self.lines[line.user_id] = line
        self.oldest = min(self.oldest, line.connected_at)
        self._text = None

    def drop(self, user_id: int) -> None:
        """The line has become old."""
        del self.lines[user_id]
        self._text = None

    def text(self) -> bytes:
        """All its lines."""
        if self._text is None:
            self._text = b",".join(line.text for line in self.lines.values())
        return self._text


class Page:
    """A realm's presences in the order of their changes.

    They are kept in chunks because everybody asks for everybody's once a minute: whoever pings again drops a line from the
    oldest chunks and adds one to the newest, and the many between are sent as they are.
    """

    def __init__(self) -> None:
        self.last_id = -1
        self._chunks: list[Chunk] = []
        self._holding: dict[int, Chunk] = {}

    def add(self, update_id: int, presence: Presence) -> None:
        """A change, newer than all before."""
        self._drop(presence.user_id)
        text = b'"%d":%b' % (presence.user_id, _encode(modern(presence)))
        line = Line(update_id, presence.user_id, presence.connected_at, text)
        if not self._chunks or len(self._chunks[-1].lines) >= CHUNK_LINES:
            self._chunks.append(Chunk({}, update_id, presence.connected_at))
        self._chunks[-1].add(line)
        self._holding[presence.user_id] = self._chunks[-1]
        self.last_id = max(self.last_id, update_id)

    def since(self, known: int, oldest: float, visible: set[int] | None) -> bytes:
        """The presences that changed after the known number and are not too old, as a JSON object."""
        texts: list[bytes] = []
        for chunk in reversed(self._chunks):
            if chunk.first_id > known and chunk.oldest >= oldest and visible is None:
                texts.append(chunk.text())
                continue
            texts += [
                line.text
                for line in chunk.lines.values()
                if line.update_id > known
                and line.connected_at >= oldest
                and (visible is None or line.user_id in visible)
            ]
            if chunk.first_id <= known:
                break
        return b"{" + b",".join(texts) + b"}"

    def _drop(self, user_id: int) -> None:
        chunk = self._holding.pop(user_id, None)
        if chunk is None:
            return
        chunk.drop(user_id)
        if len(chunk.lines) <= SPARSE_LINES:
            self._join_with_older(chunk)

    def _join_with_older(self, chunk: Chunk) -> None:
        """What is left of a chunk goes to the one before it, so that chunks are few even if some people never return."""
        place = self._chunks.index(chunk)
        if place == 0:
            if not chunk.lines:
                del self._chunks[0]
            return
        older = self._chunks[place - 1]
        if len(older.lines) + len(chunk.lines) > CHUNK_LINES:
            return
        joined = Chunk(older.lines | chunk.lines, older.first_id, min(older.oldest, chunk.oldest))
        self._chunks[place - 1 : place + 1] = [joined]
        self._holding.update(dict.fromkeys(joined.lines, joined))


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
