"""The door: how many requests are let in, whose turn it is, and who is turned away."""

import asyncio
import time

import pytest

from tertulia.kernel.door import FEWEST, FIRST, LESS, MOST, PARTS, VISIT, Door, Kind, Visit, kind_of, next_limit
from tertulia.kernel.errors import Refusal
from tertulia.kernel.tasks import end_tasks
from tertulia.server.opening import Opening


def shut(seconds: float = 0.5) -> Door:
    """One that has all it can take of every kind."""
    door = Door(seconds)
    for kind in PARTS:
        for _ in range(FIRST):
            door.enter(kind)
    return door


def test_a_limit_falls_while_answers_are_slow_and_rises_while_they_are_not_and_somebody_is_turned_away() -> None:
    assert next_limit(100, 100, is_slow=True, was_reached=True) == 100 * LESS
    assert next_limit(100, 100, is_slow=False, was_reached=True) > 100


def test_a_limit_has_a_least_and_a_most() -> None:
    fallen, risen = 100.0, 100.0
    for _ in range(200):
        fallen = next_limit(fallen, 1000, is_slow=True, was_reached=True)
        risen = next_limit(risen, 1000, is_slow=False, was_reached=True)
    assert (fallen, risen) == (FEWEST, MOST)


def test_what_is_slow_while_few_are_under_way_is_not_slow_because_of_their_number() -> None:
    assert next_limit(100, 20, is_slow=True, was_reached=False) == 100


def test_a_limit_comes_back_when_the_storm_is_over() -> None:
    limit = float(FEWEST)
    for _ in range(40):  # ten seconds
        limit = next_limit(limit, 1, is_slow=False, was_reached=False)
    assert limit > 0.9 * FIRST


def test_the_first_line_tells_what_a_request_wants() -> None:
    assert kind_of(b"GET", b"/api/v1/events") is Kind.POLL
    assert kind_of(b"DELETE", b"/api/v1/events") is Kind.OTHER
    assert kind_of(b"POST", b"/api/v1/messages") is Kind.SEND
    assert kind_of(b"GET", b"/api/v1/messages") is Kind.OTHER
    assert kind_of(b"POST", b"/api/v1/register") is Kind.REGISTER
    assert kind_of(b"GET", b"/login") is Kind.ELSEWHERE


def test_a_door_that_is_shut_lets_polls_and_pages_in() -> None:
    door = shut()
    assert {kind for kind in Kind if door.lets_in(kind)} == {Kind.POLL, Kind.ELSEWHERE}


def test_no_kind_takes_what_is_kept_for_another() -> None:
    door = Door(0.5)
    while door.lets_in(Kind.OTHER):
        door.enter(Kind.OTHER)
    assert door.lets_in(Kind.SEND)
    assert door.lets_in(Kind.REGISTER)


def test_registrations_are_turned_away_before_messages_are() -> None:
    door = Door(0.5)
    for _ in range(FIRST * 3 // 4):
        door.enter(Kind.OTHER)
    door.enter(Kind.REGISTER)
    while door.lets_in(Kind.REGISTER):
        door.enter(Kind.REGISTER)
    assert door.lets_in(Kind.SEND)


def test_whoever_is_turned_away_is_told_another_time_than_others() -> None:
    door = shut()
    assert {door.turn_away(Kind.SEND) for _ in range(100)} == {1, 2, 3}


def test_a_request_that_is_not_complete_takes_no_place_and_one_that_ended_gives_it_back_once() -> None:
    door = Door(0.5)
    while door.lets_in(Kind.SEND):
        door.enter(Kind.SEND)
    door.leave(Kind.SEND, None)
    first, second = Visit(door, Kind.SEND), Visit(door, Kind.SEND)
    assert door.lets_in(Kind.SEND)
    first.begin()
    first.begin()
    assert not door.lets_in(Kind.SEND)
    first.end()
    first.end()
    assert door.lets_in(Kind.SEND)
    second.end()  # it was refused before its body was complete
    second.begin()
    assert door.lets_in(Kind.SEND)


@pytest.mark.anyio
async def test_whoever_comes_while_the_server_starts_takes_no_place() -> None:
    async def nothing(*_: object) -> None: ...

    door = Door(0.5)
    while door.lets_in(Kind.SEND):
        door.enter(Kind.SEND)
    door.leave(Kind.SEND, None)
    visit = Visit(door, Kind.SEND)
    visit.begin()
    answering = asyncio.create_task(Opening()({"type": "http", VISIT: visit}, nothing, nothing))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    assert door.lets_in(Kind.SEND)
    await end_tasks([answering])


def test_a_request_that_waited_too_long_is_refused_before_it_begins() -> None:
    visit = Visit(Door(0.01), Kind.OTHER)
    visit.begin()
    visit.check_patience()
    time.sleep(0.05)
    with pytest.raises(Refusal) as refused:
        visit.check_patience()
    assert refused.value.status == 503
    assert "Retry-After" in (refused.value.headers or {})


def test_where_everything_takes_long_by_itself_it_may_take_longer() -> None:
    door = Door(0.5)
    for _ in range(200):
        door.enter(Kind.OTHER)
        door.leave(Kind.OTHER, 2.0)
    assert 3.9 < door.threshold < 4.1
