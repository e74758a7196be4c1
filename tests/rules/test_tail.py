"""The recent events of a realm: what a queue that comes back goes through, and how far back they reach."""

import msgspec

from tertulia.events.log.record import Audience, Change, Record, record
from tertulia.events.log.stream import Stored
from tertulia.events.queues import tail as tail_module
from tertulia.events.queues.logged_event import LoggedEvent
from tertulia.events.queues.tail import TAIL_EVENTS, Tail

MARK = record(Audience(), "mark", {})
HEARD = record(Audience(realm=True), "flood", {})


def logged(seq: int, what: Record = HEARD) -> LoggedEvent:
    data = msgspec.json.encode(what)
    return LoggedEvent(Stored(seq=seq, subject="ev.0.1", pos=f"{seq:016X}", epoch=1, xid=seq, xmax=seq, data=data))


def numbers(found: list[LoggedEvent] | None) -> list[int] | None:
    return None if found is None else [one.seq for one in found]


def test_a_queue_that_comes_back_does_not_go_through_what_is_nothing_to_anybody() -> None:
    tail = Tail(10)
    for seq in range(11, 20):
        tail.append(logged(seq, HEARD if seq % 3 == 0 else MARK))
    assert numbers(tail.after(10)) == [12, 15, 18]
    assert numbers(tail.after(15)) == [18]
    assert tail.has_transaction(19)


def test_what_changes_who_hears_later_events_is_gone_through_though_nobody_hears_it() -> None:
    joining = record(Audience(), "mark", {}, changes=(Change(channel=1, users=(7,), joined=True, seq=0),))
    ending = record(Audience(), "mark", {}, ends=(7,))
    tail = Tail(0)
    tail.append(logged(1, joining))
    tail.append(logged(2, ending))
    tail.append(LoggedEvent(Stored(seq=3, subject="", pos="", epoch=1, xid=None, xmax=0, data=b"")))
    assert numbers(tail.after(0)) == [1, 2, 3]


def test_older_events_come_before_those_that_are_there() -> None:
    tail = Tail(30)
    tail.append(logged(31))
    tail.append(logged(35))
    assert tail.after(20) is None
    tail.put_before([logged(22), logged(25, MARK), logged(31)], 20)
    assert numbers(tail.after(20)) == [22, 31, 35]
    assert tail.after(19) is None
    empty = Tail(30)
    empty.put_before([logged(25), logged(30)], 20)
    assert numbers(empty.after(20)) == [25, 30]


def test_a_tail_has_no_more_room_than_before_and_forgets_the_oldest_first() -> None:
    tail = Tail(1000)
    for seq in range(1001, 1011):
        tail.append(logged(seq, MARK))
    assert tail.has_room_for(TAIL_EVENTS - 10, 1)
    assert not tail.has_room_for(TAIL_EVENTS - 9, 1)
    assert not tail.has_room_for(1, tail_module.TAIL_BYTES)
    tail.put_before([logged(seq) for seq in range(900, 950)], 899)
    for seq in range(1011, 1011 + TAIL_EVENTS - 5):
        tail.append(logged(seq, MARK))
    assert tail.after(899) is None
    assert numbers(tail.after(1011)) == []
