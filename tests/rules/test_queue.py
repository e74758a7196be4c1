"""What a queue keeps for its listener."""

import time
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from tertulia.events.log.ranges import SeqSet
from tertulia.events.log.record import Audience, Change, record
from tertulia.events.log.snapshot import Snapshot
from tertulia.events.log.stream import Stored
from tertulia.events.queues.kinds import kinds
from tertulia.events.queues.logged_event import LoggedEvent
from tertulia.events.queues.memberships import Memberships
from tertulia.events.queues.options import QueueOptions
from tertulia.events.queues.queue import MAX_PENDING, Queue
from tertulia.events.queues.queue_record import QueueRecord
from tertulia.messaging.sending.events import MessageFilter, MessagePresenter
from tertulia.messaging.sending.model import MessageSent, Stamp

NOBODY_ELSE = Snapshot(xmin=10, xmax=10, under_way=frozenset(), lsn="0" * 16)
KINDS = kinds({"message", "subscription", "realm_user"})
BODY = msgspec.json.encode(record(Audience(realm=True), "message", {}))


class Span(NamedTuple):
    lower: int | None
    upper: int | None


def message_in(channel: str, mentioned: Sequence[int] = ()) -> bytes:
    sent = MessageSent(
        8,
        "Ann",
        "ann@example.com",
        "",
        "",
        "test",
        "Hello",
        "<p>Hello</p>",
        3,
        channel,
        group_mentioned=tuple(mentioned),
    )
    logged = record(Audience(realm=True), "message", sent)
    stamp = msgspec.Raw(msgspec.json.encode(Stamp(id=1, seq=1, at=1, topic="topic")))
    return msgspec.json.encode(msgspec.structs.replace(logged, stamp=stamp))


def make_queue(
    after: int = 0,
    snapshot: Snapshot = NOBODY_ELSE,
    channels: Sequence[int] = (),
    narrow: tuple[tuple[str, str], ...] = (),
    registered_with: str = "",
) -> Queue:
    record = QueueRecord(
        id="q",
        realm_id=1,
        user_id=7,
        role=400,
        epoch=1,
        start=after,
        snapshot=snapshot,
        options=QueueOptions(narrow=narrow),
        idle_seconds=600,
        knows=registered_with,
    )
    numbers = {channel: SeqSet([Span(1, None)]) for channel in channels}
    return Queue(record, Memberships(NOBODY_ELSE, numbers), after, filters={"message": MessageFilter()}, knows="this")


def event(seq: int, xid: int = 50, body: bytes = BODY) -> LoggedEvent:
    pos = f"{seq:016X}-000000"
    stored = Stored(seq=seq, subject="ev.0.1", pos=pos, epoch=1, xid=xid, xmax=xid, data=body)
    return LoggedEvent(stored, KINDS)


class Counted(str):
    """An operand that counts how often it is read."""

    __slots__ = ()
    read = 0

    def strip(self, chars: str | None = None) -> str:
        Counted.read += 1
        return super().strip(chars)


def test_a_narrow_is_read_once_and_not_for_each_event() -> None:
    words = [("channel", Counted(" Tea ")), *[("is", Counted("Ä" * 999))] * 62, ("stream", Counted("TEA"))]
    listening = make_queue(narrow=tuple(words))
    Counted.read = 0
    for seq in range(1, 21):
        listening.replay(event(seq, body=message_in("Tea" if seq % 2 else "Coffee")))
    assert [logged.seq for logged in listening.pending] == list(range(1, 21, 2))
    assert Counted.read == 0
    assert len(listening.options.narrow) == 1


def test_a_listener_costs_no_more_where_thousands_are_mentioned() -> None:
    """Each is asked about on the thread that answers everybody."""
    listener, presenter = make_queue(), MessagePresenter()

    def seconds(mentioned: int) -> float:
        logged = event(1, body=message_in("Tea", range(100, 100 + mentioned)))
        presenter.variant(logged, listener)  # decoded once for all
        took = []
        for _ in range(20):
            began = time.perf_counter()
            for _ in range(50):
                presenter.variant(logged, listener)
            took.append(time.perf_counter() - began)
        return min(took)

    assert seconds(20_000) < 10 * seconds(2), "in a list it was a hundred times as much"


def test_what_the_client_acknowledged_elsewhere_is_not_delivered_again_when_this_process_comes_to_it() -> None:
    queue = make_queue(after=5)
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
    queue = make_queue(snapshot=Snapshot(xmin=10, xmax=20, under_way=frozenset({10, 15}), lsn="F" * 16))
    for seq, xid in enumerate((9, 10, 14, 15, 20), start=1):
        queue.replay(event(seq, xid))
    assert [logged.xid for logged in queue.pending] == [10, 15, 20]


def test_a_number_that_was_given_out_again_neither_saves_a_queue_nor_hides_who_joined() -> None:
    """After a crash the number of a transaction that the snapshot counts as ended belongs to another one."""
    snapshot = Snapshot(xmin=60, xmax=60, under_way=frozenset(), lsn=f"{5:016X}")
    joined = record(Audience(realm=True), "subscription", {}, changes=(Change(3, (7,), True, 0),))
    ended = record(Audience(realm=True), "realm_user", {}, ends=(7,))
    queue = make_queue(snapshot=snapshot)
    is_dead = []
    for position in (4, 5):
        queue.replay(event(position, 50, msgspec.json.encode(ended)))
        is_dead.append(queue.is_dead)
    assert is_dead == [False, True], "the state holds the first one"
    memberships = Memberships(snapshot, {})
    memberships.replay(joined.changes[0], event(4, 50))
    assert not memberships.channels
    memberships.replay(joined.changes[0], event(5, 50))
    assert memberships.channels == {3}


def test_an_audience_may_leave_some_out() -> None:
    queue = make_queue(channels=[1])
    inside, elsewhere = Audience(channel=1), Audience(channel=2)
    for to, hears in (
        (Audience(realm=True, without=inside), False),
        (Audience(members=True, without=elsewhere), True),
        (Audience(users=(7,), without=Audience(users=(7,))), False),
        (Audience(realm=True, without=Audience(realm=True, without=inside)), True),
        (Audience(channel=2, without=inside), False),
    ):
        data = msgspec.json.encode(record(to, "stream", {}))
        logged = LoggedEvent(Stored(seq=1, subject="ev.0.1", pos="0" * 16, epoch=1, xid=50, xmax=50, data=data))
        queue.pending.clear()
        queue.replay(logged)
        assert bool(queue.pending) is hears, to


NEWS = msgspec.json.encode(record(Audience(realm=True), "news", {}, changes=(Change(3, (7,), True, 0),)))
"""Of a version that this one does not know."""


def test_a_kind_that_only_a_newer_version_knows_is_told_to_nobody_and_the_rest_goes_on() -> None:
    for version in ("", "this"):
        listening = make_queue(registered_with=version)
        for seq, body in enumerate((NEWS, BODY), 1):
            listening.replay(event(seq, body=body))
        assert [logged.seq for logged in listening.pending] == [2]
        assert not listening.is_dead
        assert listening.memberships.include(3, 1), "what it changes about later events is changed"


def test_a_queue_of_another_version_ends_at_a_kind_that_this_one_does_not_know() -> None:
    listening = make_queue(registered_with="newer")
    listening.replay(event(1))
    assert not listening.is_dead
    listening.replay(event(2, body=NEWS))
    assert listening.is_dead


def test_keys_that_only_a_newer_version_knows_are_ignored_but_not_in_an_audience() -> None:
    plain = msgspec.json.decode(BODY)
    assert not event(1, body=msgspec.json.encode(plain | {"later": 1})).is_broken
    limited = plain | {"to": plain["to"] | {"not_for": "guests"}}
    assert event(1, body=msgspec.json.encode(limited)).is_broken, "nobody knows whom it leaves out"
