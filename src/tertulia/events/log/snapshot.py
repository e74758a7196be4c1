"""What a registration saw of the database (pure).

An event is delivered to a queue if and only if its transaction is not visible in the queue's snapshot: so each change is
in the state or in the events, never in both and never in neither.
"""

import msgspec


class Snapshot(msgspec.Struct, frozen=True):
    """`pg_current_snapshot()` and the end of the flushed WAL at that moment (16 hexadecimal digits, like an event's)."""

    xmin: int
    xmax: int
    under_way: frozenset[int]
    lsn: str
    timeline: int = 0
    """Which `lsn` belongs to; 0: taken before it was told."""

    def sees(self, xid: int | None) -> bool:
        """Whether the transaction had ended. Transient events have none, and are in no state."""
        if xid is None or xid >= self.xmax:
            return False
        return xid < self.xmin or xid not in self.under_way

    def covers(self, xid: int | None, pos: str, timeline: int) -> bool:
        """Whether an event at this place of the log is part of the state: the number alone may be somebody else's by then."""
        return not self.is_before(pos, timeline) and self.sees(xid)

    def is_before(self, pos: str, timeline: int) -> bool:
        """Whether everything from this position of the log on committed after the snapshot.

        A standby that was promoted may have got less than the primary had flushed. It then gives out positions below ours
        again, and numbers of transactions that the snapshot counts as ended; but nothing of its timeline was there before.
        """
        return pos[:16] >= self.lsn or 0 < self.timeline < timeline


def parse_snapshot(text: str, lsn: str, timeline: int = 0) -> Snapshot:
    """From PostgreSQL's `xmin:xmax:xip,xip` and `X/Y`."""
    xmin, xmax, under_way = text.split(":")
    high, low = lsn.split("/")
    return Snapshot(
        xmin=int(xmin),
        xmax=int(xmax),
        under_way=frozenset(int(xid) for xid in under_way.split(",") if xid),
        lsn=f"{(int(high, 16) << 32) + int(low, 16):016X}",
        timeline=timeline,
    )
