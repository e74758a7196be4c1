"""GET and DELETE /events: the event queue (protocol/events.md#event-queue)."""

import time
from concurrent.futures import FIRST_COMPLETED, wait
from itertools import pairwise

import httpx
import pytest

from tests.harness.server import Channel
from tests.harness.talk import Speaker, check_error, check_success, message_ids, unique

NEVER_ISSUED = "5d7f2f6a-9b7e-4c53-8a2e-1f1f4d6c0e11"
"""Looks like the id of a queue. Written down, because a test has the same name in every run."""


@pytest.mark.holds("event-queue.poll", "events.delivery")
def test_a_poll_waits_for_an_event(member: Speaker, other: Speaker, channel: Channel) -> None:
    with member.register() as queue:
        poll = queue.later()
        time.sleep(0.2)
        assert not poll.done()
        sent = other.send(channel.stream_id, unique("wait"))
        assert message_ids(check_success(poll.result(10))["events"]) == [sent]


@pytest.mark.holds("event-queue.answer")
def test_the_answer_is_events_and_nothing_else(member: Speaker) -> None:
    with member.register() as queue:
        assert check_success(queue.request(dont_block=True)) == {"result": "success", "msg": "", "events": []}


@pytest.mark.holds("event-queue.dont-block")
def test_dont_block_answers_at_once_with_what_there_is(member: Speaker, channel: Channel) -> None:
    with member.register() as queue, member.register() as witness:
        assert queue.poll(dont_block=True) == []
        sent = member.send(channel.stream_id, unique("now"))
        witness.until_message(sent)
        assert message_ids(queue.poll(dont_block=True)) == [sent]


@pytest.mark.holds("event-queue.ids")
def test_ids_are_small_whole_numbers_that_rise(member: Speaker, channel: Channel) -> None:
    with member.register() as queue:
        sent = [member.send(channel.stream_id, unique("rise")) for _ in range(5)]
        events = queue.until_message(sent[-1])
    assert message_ids(events) == sent
    assert all(0 <= event["id"] < 2**53 for event in events)
    assert all(earlier["id"] < later["id"] for earlier, later in pairwise(events))


@pytest.mark.holds("event-queue.acknowledge")
def test_an_event_comes_again_until_it_is_acknowledged(member: Speaker, channel: Channel) -> None:
    with member.register() as queue:
        start = queue.last
        first, second = (member.send(channel.stream_id, unique("again")) for _ in range(2))
        events = check_success(queue.request(last_event_id=start))["events"]
        while message_ids(events) != [first, second]:  # the second may come a moment later
            assert message_ids(events) == [first]
            events = check_success(queue.request(last_event_id=start))["events"]
        assert check_success(queue.request(last_event_id=start))["events"] == events
        rest = check_success(queue.request(last_event_id=events[0]["id"]))["events"]
        assert message_ids(rest) == [second]
        assert queue.poll(last_event_id=events[1]["id"], dont_block=True) == []


@pytest.mark.holds("event-queue.lower")
@pytest.mark.parametrize("lower", [-1, 0, None])
def test_a_lower_last_event_id_than_acknowledged_brings_what_is_left(
    member: Speaker, channel: Channel, lower: int | None
) -> None:
    with member.register() as queue:
        start = queue.last
        queue.until_message(member.send(channel.stream_id, unique("lower")))
        assert queue.poll(dont_block=True) == []
        late = member.send(channel.stream_id, unique("lower"))
        events = check_success(queue.request(last_event_id=start if lower is None else lower))["events"]
        assert message_ids(events) == [late]


@pytest.mark.holds("event-queue.never-issued")
def test_a_last_event_id_never_issued_is_refused_and_harms_nothing(member: Speaker, channel: Channel) -> None:
    with member.register() as queue:
        check_error(queue.request(last_event_id=2**52))
        sent = member.send(channel.stream_id, unique("after"))
        assert message_ids(queue.until_message(sent)) == [sent]
        check_error(queue.request(last_event_id=queue.last + 10**6, dont_block=True))


@pytest.mark.holds("event-queue.second-poll")
def test_a_second_poll_ends_the_first_and_gets_the_events(member: Speaker, channel: Channel) -> None:
    with member.register() as queue:
        first = queue.later()
        time.sleep(0.2)
        second = queue.later()
        done, _ = wait([first, second], 10, return_when=FIRST_COMPLETED)
        assert done == {first}
        ended = check_success(first.result())["events"]
        # Never an empty list: there are clients that take it for a new beginning.
        assert [event["type"] for event in ended] == ["heartbeat"]
        assert ended[0]["id"] >= queue.last
        sent = member.send(channel.stream_id, unique("second"))
        assert message_ids(check_success(second.result(10))["events"]) == [sent]


@pytest.mark.holds("event-queue.second-poll")
def test_the_end_of_a_first_poll_can_be_acknowledged(member: Speaker, channel: Channel) -> None:
    with member.register() as queue:
        first = queue.later()
        time.sleep(0.2)
        second = queue.later()
        [heartbeat] = check_success(first.result(10))["events"]
        sent = member.send(channel.stream_id, unique("beat"))
        second.result(10)
        events = check_success(queue.request(last_event_id=heartbeat["id"]))["events"]
        assert message_ids(events) == [sent]


@pytest.mark.holds("event-queue.queues")
def test_two_queues_of_a_user_get_the_same_events(member: Speaker, channel: Channel) -> None:
    with member.register() as one, member.register() as two:
        assert one.id != two.id
        sent = member.send(channel.stream_id, unique("two"))
        assert one.message_event(sent)["message"] == two.message_event(sent)["message"]


@pytest.mark.holds("event-queue.parameters")
@pytest.mark.parametrize("name", ["queue_id", "last_event_id"])
def test_a_poll_names_its_queue_and_its_last_event(member: Speaker, name: str) -> None:
    with member.register() as queue:
        assert name in check_error(queue.request(**{name: None}))


@pytest.mark.holds("event-queue.parameters")
@pytest.mark.parametrize("value", ["x", "1.5", '"1"', "", "9" * 25])
def test_a_last_event_id_is_an_integer(member: Speaker, value: str) -> None:
    with member.register() as queue:
        check_error(queue.request(last_event_id=value))


@pytest.mark.holds("event-queue.unknown")
@pytest.mark.parametrize("queue_id", ["", "0", "no such queue", "*", "a.b", ">", "x" * 5000, NEVER_ISSUED, "ü"])
def test_an_unknown_queue_is_said_in_words_that_clients_know(member: Speaker, queue_id: str) -> None:
    polled = member.request("GET", "events", queue_id=queue_id, last_event_id=-1)
    deleted = member.request("DELETE", "events", queue_id=queue_id)
    for reply in (polled, deleted):
        msg = check_error(reply, "BAD_EVENT_QUEUE_ID", queue_id=queue_id)
        assert msg.startswith(f"Bad event queue id: {queue_id}")


@pytest.mark.holds("event-queue.unknown")
def test_somebody_elses_queue_looks_like_an_unknown_one(member: Speaker, other: Speaker, channel: Channel) -> None:
    with member.register() as queue:
        check_error(queue.request(other), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)
        check_error(other.request("DELETE", "events", queue_id=queue.id), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)
        sent = member.send(channel.stream_id, unique("mine"))
        assert message_ids(queue.until_message(sent)) == [sent]


@pytest.mark.holds("event-queue.delete")
def test_a_deleted_queue_is_gone(member: Speaker) -> None:
    queue = member.register()
    assert member.delete("events", queue_id=queue.id) == {"result": "success", "msg": ""}
    check_error(queue.request(), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)
    check_error(member.request("DELETE", "events", queue_id=queue.id), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)


@pytest.mark.holds("event-queue.delete")
def test_deleting_ends_a_waiting_poll(member: Speaker) -> None:
    queue = member.register()
    poll = queue.later()
    time.sleep(0.2)
    member.delete("events", queue_id=queue.id)
    check_error(poll.result(10), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)


@pytest.mark.holds("event-queue.survives")
def test_a_queue_survives_a_client_that_went_away(member: Speaker, channel: Channel) -> None:
    with member.register() as queue:
        for _ in range(3):
            reply = member.http.build_request(
                "GET", "events", params={"queue_id": queue.id, "last_event_id": queue.last}
            )
            with pytest.raises(Exception, match="timed out"):
                member.http.send(_hasty(reply))
        sent = member.send(channel.stream_id, unique("back"))
        assert message_ids(queue.until_message(sent)) == [sent]


def _hasty(request: httpx.Request) -> httpx.Request:
    request.extensions["timeout"] = {"connect": 5, "read": 0.1, "write": 5, "pool": 5}
    return request


@pytest.mark.holds("event-queue.order")
def test_events_of_one_queue_come_in_the_order_of_sending(
    member: Speaker, other: Speaker, owner: Speaker, channel: Channel
) -> None:
    with member.register() as queue:
        sent = []
        for turn in range(4):
            sent.append(other.send(channel.stream_id, unique(f"turn {turn}")))
            sent.append(owner.send([member.id]))
        assert message_ids(queue.until_message(sent[-1])) == sent


@pytest.mark.holds("event-queue.order")
def test_flags_and_messages_come_in_the_order_they_happened(member: Speaker, other: Speaker, channel: Channel) -> None:
    with member.register(event_types=["message", "update_message_flags"]) as queue:
        sent = other.send(channel.stream_id, unique("flags"))
        member.post("messages/flags", messages=[sent], op="add", flag="read")
        last = other.send(channel.stream_id, unique("flags"))
        kinds = [event["type"] for event in queue.until_message(last)]
        assert kinds == ["message", "update_message_flags", "message"]
