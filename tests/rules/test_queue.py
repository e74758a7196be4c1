"""What a queue keeps for its listener."""

import msgspec

from tertulia.events.logged import Logged
from tertulia.events.options import QueueOptions
from tertulia.events.queue import MAX_PENDING, Queue
from tertulia.events.record import Audience, record
from tertulia.events.snapshot import Snapshot
from tertulia.events.stream import Stored

NOBODY_ELSE = Snapshot(xmin=10, xmax=10, under_way=frozenset(), lsn="0" * 16)
BODY = msgspec.json.encode(record(Audience(realm=True), "message", {}))


def make_queue() -> Queue:
    return Queue("q", 7, role=400, options=QueueOptions(), snapshot=NOBODY_ELSE)


def event(seq: int, xid: int = 50) -> Logged:
    pos = f"{seq:016X}-000000"
    return Logged(Stored(seq=seq, subject="ev.0.1", pos=pos, epoch=1, xid=xid, xmax=xid, data=BODY))


def test_what_the_client_acknowledged_elsewhere_is_not_delivered_again_when_this_process_comes_to_it() -> None:
    queue = make_queue()
    queue.acknowledged = queue.issued = 5
    for seq in (4, 5, 6):
        queue.replay(event(seq))
    assert [logged.seq for logged in queue.pending] == [6]


def test_a_queue_that_overflowed_takes_nothing_more_even_when_there_is_room_again() -> None:
    queue = make_queue()
    for seq in range(1, MAX_PENDING + 2):
        queue.replay(event(seq))
    queue.acknowledge(1000)
    queue.replay(event(MAX_PENDING + 2))
    assert queue.overflowed
    assert queue.pending[-1].seq == MAX_PENDING, "what follows would hide the hole"


def test_an_event_that_the_state_holds_is_not_delivered() -> None:
    queue = make_queue()
    queue.snapshot = Snapshot(xmin=10, xmax=20, under_way=frozenset({10, 15}), lsn="F" * 16)
    for seq, xid in enumerate((9, 10, 14, 15, 20), start=1):
        queue.replay(event(seq, xid))
    assert [logged.xid for logged in queue.pending] == [10, 15, 20]


def test_an_audience_may_leave_some_out() -> None:
    queue = make_queue()
    queue.channels = {1}
    inside, elsewhere = Audience(channel=1), Audience(channel=2)
    for to, hears in (
        (Audience(realm=True, without=inside), False),
        (Audience(members=True, without=elsewhere), True),
        (Audience(users=(7,), without=Audience(users=(7,))), False),
        (Audience(realm=True, without=Audience(realm=True, without=inside)), True),
        (Audience(channel=2, without=inside), False),
    ):
        data = msgspec.json.encode(record(to, "stream", {}))
        logged = Logged(Stored(seq=1, subject="ev.0.1", pos="0" * 16, epoch=1, xid=50, xmax=50, data=data))
        queue.pending.clear()
        queue.replay(logged)
        assert bool(queue.pending) is hears, to
