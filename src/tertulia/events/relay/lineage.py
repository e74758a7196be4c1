"""A database's line of descent: which positions of the write-ahead log lie in its past. Pure.

Each promotion of a standby begins a new timeline at a position of the one before. Up to there both have the same log; from
there on the old primary may have gone on by itself, and its positions mean something else. So a position says what it means
only together with its timeline, and it is in a database's past exactly if that is the timeline the database has there.
"""

from typing import NamedTuple, Self

from tertulia.events.relay.wal import parse_lsn, position_key


class Identity(NamedTuple):
    """What a database calls itself."""

    system_identifier: str
    timeline: int


class Fork(NamedTuple):
    """An ancestor, and where its successor begins: the first byte that is not in our past."""

    timeline: int
    end: int


class Lineage(NamedTuple):
    """A database and its ancestors, the oldest first."""

    identity: Identity
    forks: tuple[Fork, ...] = ()

    @classmethod
    def parse(cls, identity: Identity, history: str) -> Self:
        """From the text of `TIMELINE_HISTORY`: timeline, position and reason in each line."""
        lines = [line.split(maxsplit=2) for line in history.splitlines()]
        return cls(identity, tuple(Fork(int(line[0]), parse_lsn(line[1])) for line in lines if len(line) > 1))

    @property
    def timeline(self) -> int:
        return self.identity.timeline

    @property
    def timelines(self) -> tuple[int, ...]:
        """Its own and those of its ancestors."""
        return (*(fork.timeline for fork in self.forks), self.timeline)

    def timeline_at(self, pos: str) -> int:
        """On which timeline a transaction committed that has this position: the start of its commit record."""
        if self.forks:
            lsn, _ = position_key(pos)
            for fork in self.forks:
                if lsn < fork.end:
                    return fork.timeline
        return self.timeline

    def end_of(self, timeline: int) -> int | None:
        """Where an ancestor ended; None for any other timeline, also for the present one."""
        return next((fork.end for fork in self.forks if fork.timeline == timeline), None)
