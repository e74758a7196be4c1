"""Messages on disk until all are known: only then ids can follow time over all conversations, and links find what they lead to.

One SQLite file in a temporary place, which is gone afterwards. What it sorts it sorts on disk; memory stays the same.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

AT_ONCE = 2000
NOTICE_PART = 1_000_000
"""The place of what we say about a message: after its own parts."""
_TABLES = """
create table shelved (
    row integer primary key, conversation int not null, origin int not null, sent int not null, place int not null,
    part int not null, thread int not null, sender int not null, content text not null, excerpt text not null,
    reactions text not null, files text not null, pinned int not null
);
create table participant (conversation int, thread int, person int, primary key (conversation, thread, person)) without rowid;
create table taken (conversation int, sent int, primary key (conversation, sent)) without rowid;
create table mark (place int, person int, primary key (place, person)) without rowid;
create table file (
    id integer primary key, key text not null unique, owner int not null, path text not null, name text not null,
    created int not null, entry text not null
);
"""
_SETTINGS = """
pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -24000; pragma temp_store = file;
pragma locking_mode = exclusive;
"""
_INSERT = """
insert into shelved
    (conversation, origin, sent, place, part, thread, sender, content, excerpt, reactions, files, pinned)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_TWICE = """
delete from shelved where row in (
    select row from (
        select row, min(place) over (partition by conversation, origin, sent) as first, place from shelved
    ) where place > first
)
"""
_NUMBER = """
create table numbered (row integer primary key, id int not null, number int not null);
insert into numbered
select row, row_number() over (order by sent, conversation, place, part),
    row_number() over (partition by conversation order by sent, place, part)
from shelved;
create unique index numbered_id on numbered (id);
"""
_LINES = """
select numbered.id, number, sent, part, thread, sender, content, reactions, files, pinned
from shelved join numbered using (row) where conversation = ? order by sent, place, part
"""


class Shelved(NamedTuple):
    """A message, or a part of one that was too long, as it lies there. Times are microseconds; a thread is the time of the
    message that began it, 0 without one. `origin` is the room it was in: several can become one conversation."""

    conversation: int
    origin: int
    sent: int
    place: int
    part: int
    thread: int
    sender: int
    content: str
    excerpt: str = ""
    reactions: str = "[]"
    files: str = "[]"
    pinned: int = 0
    """When; 0: it is not."""


class ShelvedFile(NamedTuple):
    """A file whose bytes are an entry of the source."""

    id: int
    key: str
    owner: int
    path: str
    name: str
    created: int
    entry: str


class Thread(NamedTuple):
    """Messages of a conversation that answer one."""

    began: int
    first: int
    replies: int


class Shelf:
    """Everything that may be too much for memory."""

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "messages.sqlite", isolation_level=None)
        self._database.executescript(_SETTINGS + _TABLES)
        self._database.execute("begin")
        self._waiting: list[Shelved] = []
        self._participants: set[tuple[int, int, int]] = set()

    def close(self) -> None:
        """Gone."""
        self._database.close()

    def add(self, message: Shelved, people: Iterable[int]) -> None:
        """`people`: who took part in the topic by it."""
        self._waiting.append(message)
        self._participants.update((message.conversation, message.thread, person) for person in people)
        if len(self._waiting) >= AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """What waits is written."""
        self._database.executemany(_INSERT, self._waiting)
        self._database.executemany("insert or ignore into participant values (?, ?, ?)", self._participants)
        self._waiting, self._participants = [], set()

    def add_file(self, file: ShelvedFile) -> ShelvedFile:
        """Once for each key; returns what is there."""
        self._database.execute("insert or ignore into file values (?, ?, ?, ?, ?, ?, ?)", file)
        return ShelvedFile(*self._database.execute("select * from file where key = ?", (file.key,)).fetchone())

    def free_time(self, conversation: int, milliseconds: int) -> int:
        """A time that no other message of the conversation has, for a source that knows only milliseconds: threads and links
        find a message by its time. Whoever has more than a thousand in one shares the last."""
        first, last = milliseconds * 1000, milliseconds * 1000 + 999
        asked = "select max(sent) from taken where conversation = ? and sent between ? and ?"
        [taken] = self._database.execute(asked, (conversation, first, last)).fetchone()
        time = first if taken is None else min(taken + 1, last)
        self._database.execute("insert or ignore into taken values (?, ?)", (conversation, time))
        return int(time)

    def mark(self, place: int, person: int) -> None:
        """Somebody has a star on the message that is shelved with this place."""
        self._database.execute("insert or ignore into mark values (?, ?)", (place, person))

    def settle(self) -> None:
        """All are there: they are found quickly from now on."""
        self.flush()
        self._database.execute("create index shelved_place on shelved (conversation, sent)")

    def drop_doubles(self) -> int:
        """Of messages of one room and one time the first is kept: exports may overlap."""
        self.settle()
        before = self._messages()
        self._database.execute(_TWICE)
        return before - self._messages()

    def _messages(self) -> int:
        return int(self._database.execute("select count(*) from shelved where part = 0").fetchone()[0])

    def threads(self, conversation: int) -> Iterator[Thread]:
        """Those of a conversation, in the order in which they began."""
        asked = """select thread, min(sent), sum(part = 0) from shelved
            where conversation = ? and thread > 0 group by thread order by thread"""
        return (Thread(*row) for row in self._database.execute(asked, (conversation,)).fetchall())

    def beginning(self, conversation: int, sent: int) -> tuple[int, int, int, str] | None:
        """The message that began a thread: who said it, its place, the thread it is itself in, and its first words."""
        asked = """select sender, place, thread, excerpt from shelved
            where conversation = ? and sent = ? and part = 0 order by place limit 1"""
        found: tuple[int, int, int, str] | None = self._database.execute(asked, (conversation, sent)).fetchone()
        return found

    def number(self) -> None:
        """Ids are given, in the order of time."""
        self.flush()
        self._database.executescript(_NUMBER)

    def find(self, conversation: int, sent: int) -> tuple[int, int] | None:
        """The id of a message, and its thread."""
        asked = """select id, thread from shelved join numbered using (row)
            where conversation = ? and sent = ? and part = 0 order by place limit 1"""
        found: tuple[int, int] | None = self._database.execute(asked, (conversation, sent)).fetchone()
        return found

    def last_numbers(self, conversation: int) -> dict[int, int]:
        """Of each thread; 0 is what is in none."""
        asked = (
            "select thread, max(number) from shelved join numbered using (row) where conversation = ? group by thread"
        )
        return dict(self._database.execute(asked, (conversation,)).fetchall())

    def participants(self, conversation: int, thread: int) -> list[int]:
        """Who wrote or reacted there."""
        asked = "select person from participant where conversation = ? and thread = ? order by person"
        return [row[0] for row in self._database.execute(asked, (conversation, thread))]

    def lines(self, conversation: int) -> Iterator[Sequence[object]]:
        """The messages of a conversation, in their order."""
        return iter(self._database.execute(_LINES, (conversation,)))

    def marks(self) -> Iterator[tuple[int, int, int]]:
        """Who has a star on which message: person, conversation, message."""
        asked = """select person, conversation, id from shelved join mark using (place) join numbered using (row)
            where part = 0 order by person, id"""
        return iter(self._database.execute(asked))

    def senders(self, conversation: int) -> Iterator[tuple[int, int, int]]:
        """Of each message: its number, its time, and who sent it."""
        asked = "select number, sent, sender from shelved join numbered using (row) where conversation = ?"
        return iter(self._database.execute(asked, (conversation,)))

    def number_at(self, conversation: int, time: int) -> int:
        """Of the last message that was sent until then; 0 if there is none."""
        asked = """select number from shelved join numbered using (row)
            where conversation = ? and sent <= ? order by sent desc, place desc, part desc limit 1"""
        found = self._database.execute(asked, (conversation, time)).fetchone()
        return 0 if found is None else int(found[0])

    def files(self) -> Iterator[ShelvedFile]:
        """All of them."""
        return (ShelvedFile(*row) for row in self._database.execute("select * from file order by id"))

    def span(self) -> tuple[int, int] | None:
        """The times of the first message and the last."""
        first, last = self._database.execute("select min(sent), max(sent) from shelved").fetchone()
        return None if first is None else (first, last)

    def count(self) -> int:
        """Messages, their parts counted."""
        return int(self._database.execute("select count(*) from shelved").fetchone()[0])
