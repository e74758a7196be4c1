"""Messages and what hangs on them, on disk until all are known.

One SQLite file in a temporary place, which is gone afterwards. What it sorts it sorts on disk; memory stays the same.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

AT_ONCE = 2000
_SETTINGS = """
pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -24000; pragma temp_store = file;
pragma locking_mode = exclusive;
"""
COLUMNS = {
    "message": """id integer primary key, conversation int, topic int, sender int, sent int, client text, content text,
        history text""",
    "reaction": "message int, person int, name text, code text, kind text, primary key (message, person, kind, code)",
    "submessage": "id integer primary key, message int, person int, type text, content text",
    "subscription": "recipient int, person int, active int, choices text, primary key (recipient, person)",
    "policy": "person int, stream int, name text, policy int, at int, primary key (person, stream, name)",
    "file": "id integer primary key, owner int, path text unique, name text, type text, created int, entry text",
    "file_message": "message int, file int, primary key (message, file)",
    "mark": "person int, message int, flag text, primary key (person, message, flag)",
    "unread": "conversation int, person int, first int, last int",
    "received": "conversation int, person int, first int, last int",
}
_NUMBER = """
create table numbered as select id, conversation, topic, row_number() over (partition by conversation order by id) as number
from message;
create unique index numbered_id on numbered (id);
create index numbered_place on numbered (conversation, number);
create index submessage_place on submessage (message);
create index unread_place on unread (conversation, person, first);
create index received_place on received (conversation, person, first);
"""
_PARTICIPANTS = """
select distinct topic, person from (
    select topic, sender as person from message where topic > 0
    union all select topic, person from reaction join message on message.id = message where topic > 0
) order by topic, person
"""


class Shelf:
    """Everything that may be too much for memory."""

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "export.sqlite", isolation_level=None)
        self._database.executescript(_SETTINGS)
        for table, columns in COLUMNS.items():
            self._database.execute(f"create table {table} ({columns})")
        self._database.execute("begin")
        self._inserts = {
            table: f"insert or ignore into {table} values ({', '.join('?' * _width(columns))})"  # noqa: S608
            for table, columns in COLUMNS.items()
        }
        self._waiting: dict[str, list[tuple[Any, ...]]] = {table: [] for table in COLUMNS}

    def close(self) -> None:
        """Gone."""
        self._database.close()

    def add(self, table: str, *row: Any) -> None:
        """One more. Of those with the same key the first one counts."""
        waiting = self._waiting[table]
        waiting.append(row)
        if len(waiting) >= AT_ONCE:
            self._flush(table)

    def _flush(self, table: str) -> None:
        self._database.executemany(self._inserts[table], self._waiting[table])
        self._waiting[table] = []

    def ask(self, sql: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Rows, as they are read."""
        for table, waiting in self._waiting.items():
            if waiting:
                self._flush(table)
        return iter(self._database.execute(sql, values))

    def count(self, table: str) -> int:
        """Rows of a table."""
        return int(next(self.ask(f"select count(*) from {table}"))[0])  # noqa: S608

    def number(self) -> None:
        """The messages of each conversation are counted, in the order of their ids."""
        self.ask("select 1")
        self._database.executescript(_NUMBER)
        self._database.execute("begin")

    def places(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        """The conversations of messages, and their numbers there."""
        asked = ",".join(map(str, ids))
        return {
            id: (conversation, number)
            for id, conversation, number in self.ask(
                f"select id, conversation, number from numbered where id in ({asked})"  # noqa: S608
            )
        }

    def participants(self) -> Iterator[tuple[int, int]]:
        """Of each topic who wrote or reacted there."""
        return self.ask(_PARTICIPANTS)


def _width(columns: str) -> int:
    return columns.partition(", primary key (")[0].count(",") + 1
