"""When each message of a source was sent, by its id there: threads and links name ids, and the shelf knows times.

Sources count milliseconds, and several messages may share one. Here each has a microsecond of its own within its conversation,
in the order in which they are met: so a time tells which message is meant.
"""

import sqlite3
from pathlib import Path


class Moments:
    """On disk: there may be millions."""

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "moments.sqlite", isolation_level=None)
        self._database.executescript(
            """
            pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -16000; pragma locking_mode = exclusive;
            create table moment (key text primary key, conversation int not null, sent int not null, sender int not null)
            without rowid;
            create unique index moment_place on moment (conversation, sent);
            begin;
            """
        )

    def close(self) -> None:
        """Gone."""
        self._database.close()

    def add(self, key: str, conversation: int, milliseconds: int, sender: int = 0) -> bool:
        """A message, or something else that began a thread. False if its id is known already."""
        sent = milliseconds * 1000
        last = self._database.execute(
            "select max(sent) from moment where conversation = ? and sent >= ? and sent < ?",
            (conversation, sent, sent + 1000),
        ).fetchone()[0]
        done = self._database.execute(
            "insert or ignore into moment values (?, ?, ?, ?)",
            (key, conversation, sent if last is None else min(last + 1, sent + 999), sender),
        )
        return done.rowcount == 1

    def find(self, key: str) -> tuple[int, int] | None:
        """The conversation and the time of a message."""
        asked = "select conversation, sent from moment where key = ?"
        found: tuple[int, int] | None = self._database.execute(asked, (key,)).fetchone()
        return found

    def sender(self, key: str) -> int:
        """Who sent a message; 0 if nobody said so."""
        found = self._database.execute("select sender from moment where key = ?", (key,)).fetchone()
        return 0 if found is None else int(found[0])

    def thread(self, key: str, conversation: int, milliseconds: int) -> int:
        """The time of what began a thread. One that is not in the export, or elsewhere, gets the time of whoever asks first."""
        for one in (key, f"{conversation}/{key}"):
            found = self.find(one)
            if found is not None and found[0] == conversation:
                return found[1]
        self.add(f"{conversation}/{key}", conversation, milliseconds)
        made = self.find(f"{conversation}/{key}")
        return 0 if made is None else made[1]
