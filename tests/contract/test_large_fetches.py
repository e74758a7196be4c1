"""GET /messages of very long messages (protocol/messages.md#get-messages): the answer stays small, has no hole, and whoever
goes on asking gets everything.
"""

from typing import NamedTuple

import pytest

from tests.contract.conftest import Cast
from tests.harness.talk import Json, Queue, Speaker, check_error, unique

LONG = "\N{SLIGHTLY SMILING FACE}" * 10_000
"""More than a megabyte of HTML."""
COUNT = 26
ALLOWED = 14_000_000
"""The bound, one message that was begun before it, and what JSON adds."""


class Room(NamedTuple):
    narrow: list[Json]
    ids: list[int]
    queue: Queue


@pytest.fixture(scope="module")
def room(cast: Cast) -> Room:
    name = unique("room")
    for speaker in (cast.member, cast.other):
        speaker.post("users/me/subscriptions", subscriptions=[{"name": name}])
    queue = Queue(cast.member, event_types=["message"], fetch_event_types=[], apply_markdown=True)
    ids = [cast.other.send(name, "long", f"pelican {number} {LONG[:-20]}") for number in range(COUNT)]
    return Room([{"operator": "channel", "operand": name}], ids, queue)


def fetch(speaker: Speaker, room: Room, anchor: object, before: int, after: int) -> Json:
    fields = {"anchor": anchor, "num_before": before, "num_after": after, "narrow": room.narrow}
    answer = speaker.request("GET", "messages", **fields)
    assert len(answer.content) < ALLOWED
    found: Json = answer.json()
    return found


def ids_of(window: Json) -> list[int]:
    return [message["id"] for message in window["messages"]]


@pytest.mark.holds("get-messages.size")
def test_a_large_window_ends_earlier_on_both_sides_and_has_no_hole(member: Speaker, room: Room) -> None:
    middle = COUNT // 2
    window = fetch(member, room, room.ids[middle], 1000, 1000)
    found = ids_of(window)
    first, last = room.ids.index(found[0]), room.ids.index(found[-1])
    assert found == room.ids[first : last + 1]
    assert 0 < first < middle - 2
    assert middle + 2 < last < COUNT - 1
    assert (window["found_anchor"], window["found_oldest"], window["found_newest"]) == (True, False, False)


@pytest.mark.holds("get-messages.size")
def test_who_goes_on_asking_downwards_gets_everything(member: Speaker, room: Room) -> None:
    window = fetch(member, room, "newest", 5000, 0)
    assert (window["found_oldest"], window["found_newest"]) == (False, True)
    found, pages = ids_of(window), 1
    while not window["found_oldest"]:
        window = fetch(member, room, found[0], 5000, 0)
        found, pages = [*ids_of(window)[:-1], *found], pages + 1
    assert found == room.ids
    assert 2 <= pages <= 5


@pytest.mark.holds("get-messages.size")
def test_who_goes_on_asking_upwards_gets_everything(member: Speaker, room: Room) -> None:
    window = fetch(member, room, "oldest", 0, 5000)
    found, pages = ids_of(window), 1
    while not window["found_newest"]:
        window = fetch(member, room, found[-1], 0, 5000)
        found, pages = [*found, *ids_of(window)[1:]], pages + 1
    assert found == room.ids
    assert 2 <= pages <= 5


@pytest.mark.holds("get-messages.size")
def test_given_messages_that_are_too_long_together_are_refused_and_fewer_are_not(member: Speaker, room: Room) -> None:
    assert "fewer" in check_error(member.request("GET", "messages", message_ids=room.ids))
    assert ids_of(member.get("messages", message_ids=room.ids[:3])) == room.ids[:3]


@pytest.mark.holds("matches-narrow.size")
def test_matches_that_are_too_long_together_are_refused_and_fewer_are_not(member: Speaker, room: Room) -> None:
    narrow = [{"operator": "search", "operand": "pelican"}]
    asked = {"msg_ids": room.ids, "narrow": narrow}
    assert "fewer" in check_error(member.request("GET", "messages/matches_narrow", **asked))
    few = member.get("messages/matches_narrow", msg_ids=room.ids[:2], narrow=narrow)
    assert list(few["messages"]) == [str(sent) for sent in room.ids[:2]]


@pytest.mark.holds("event-queue.size")
def test_a_poll_brings_so_much_and_the_next_one_the_rest(room: Room) -> None:
    brought: list[int] = []
    while len(brought) < COUNT:
        answer = room.queue.request()
        assert len(answer.content) < ALLOWED
        events = answer.json()["events"]
        assert events
        room.queue.last = events[-1]["id"]
        brought += [event["message"]["id"] for event in events if event["type"] == "message"]
    assert brought == room.ids
