"""Polls and to-do lists: POST /submessage (protocol/messages.md#widgets)."""

import json

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique


@pytest.fixture
def poll(member: Speaker, channel: Channel) -> int:
    return member.send(channel.stream_id, unique("Lunch"), "/poll Where?\nMill\nBridge")


@pytest.fixture
def todo(member: Speaker, channel: Channel) -> int:
    return member.send(channel.stream_id, unique("Tasks"), "/todo Trip\nTickets: two of them")


def say(speaker: Speaker, message: int, said: object) -> Json:
    return speaker.post("submessage", message_id=message, msg_type="widget", content=json.dumps(said))


@pytest.mark.holds("widgets.open")
def test_a_poll_is_opened_by_its_text(member: Speaker, poll: int, todo: int) -> None:
    [opening] = member.message(poll)["submessages"]
    assert (opening["message_id"], opening["sender_id"], opening["msg_type"]) == (poll, member.id, "widget")
    data = {"question": "Where?", "options": ["Mill", "Bridge"]}
    assert json.loads(opening["content"]) == {"widget_type": "poll", "extra_data": data}
    [opening] = member.message(todo)["submessages"]
    tasks = {"task_list_title": "Trip", "tasks": [{"task": "Tickets", "desc": "two of them"}]}
    assert json.loads(opening["content"]) == {"widget_type": "todo", "extra_data": tasks}


@pytest.mark.holds("widgets.submessage")
def test_a_vote_is_kept_and_told(member: Speaker, other: Speaker, poll: int) -> None:
    said = {"type": "vote", "key": "canned,0", "vote": 1}
    with member.register(event_types=["submessage"]) as queue:
        assert say(other, poll, said) == {"result": "success", "msg": ""}
        [event] = queue.poll()
    [_, vote] = member.message(poll)["submessages"]
    assert vote == {
        "id": event["submessage_id"],
        "message_id": poll,
        "sender_id": other.id,
        "msg_type": "widget",
        "content": json.dumps(said),
    }
    assert event == {
        "id": event["id"],
        "type": "submessage",
        "submessage_id": vote["id"],
        **{key: value for key, value in vote.items() if key != "id"},
    }


@pytest.mark.holds("widgets.submessage")
def test_what_each_widget_can_be_told(member: Speaker, other: Speaker, poll: int, todo: int) -> None:
    say(other, poll, {"type": "new_option", "idx": 1, "option": "Garden"})
    say(member, poll, {"type": "question", "question": "Where to?"})
    say(other, todo, {"type": "new_task", "key": 2, "task": "Hats", "desc": "", "completed": False})
    say(other, todo, {"type": "strike", "key": "canned,0"})
    say(other, todo, {"type": "strike", "key": "0,canned"})
    say(member, todo, {"type": "new_task_list_title", "title": "Journey"})
    assert len(member.message(poll)["submessages"]) == 3
    assert len(member.message(todo)["submessages"]) == 5


@pytest.mark.holds("widgets.rules")
@pytest.mark.parametrize(
    "said",
    [
        {"type": "vote", "key": "canned,0", "vote": 2},
        {"type": "vote", "key": "somebody", "vote": 1},
        {"type": "new_option", "idx": 1001, "option": "x"},
        {"type": "strike", "key": "canned,0"},
        {"type": "dance"},
        {},
        [],
        "vote",
    ],
    ids=str,
)
def test_what_a_poll_cannot_be_told(other: Speaker, poll: int, said: object) -> None:
    check_error(other.request("POST", "submessage", message_id=poll, msg_type="widget", content=json.dumps(said)))


@pytest.mark.holds("widgets.rules")
def test_only_the_author_changes_question_and_title(other: Speaker, poll: int, todo: int) -> None:
    for message, said in (
        (poll, {"type": "question", "question": "Why?"}),
        (todo, {"type": "new_task_list_title", "title": "Mine"}),
    ):
        check_error(
            other.request("POST", "submessage", message_id=message, msg_type="widget", content=json.dumps(said))
        )


@pytest.mark.holds("widgets.rules")
def test_what_is_no_submessage_is_refused(member: Speaker, poll: int, channel: Channel) -> None:
    plain = member.send(channel.stream_id, "Plain")
    vote = json.dumps({"type": "vote", "key": "canned,0", "vote": 1})
    for fields in (
        {"message_id": plain, "msg_type": "widget", "content": vote},
        {"message_id": 999_999_999, "msg_type": "widget", "content": vote},
        {"message_id": poll, "msg_type": "plugin", "content": vote},
        {"message_id": poll, "msg_type": "widget", "content": "{"},
        {"msg_type": "widget", "content": vote},
    ):
        check_error(member.request("POST", "submessage", **fields))


@pytest.mark.holds("widgets.rules")
@pytest.mark.parametrize(
    "unknown",
    ["[" * 4_900 + "]" * 4_900, '{"a":' * 1_900 + "1" + "}" * 1_900, r'"a\u0000b"', "9" * 5_000],
    ids=["lists in lists", "objects in objects", "NUL", "a number of 5,000 digits"],
)
def test_a_submessage_is_guarded_like_other_json(other: Speaker, poll: int, unknown: str) -> None:
    said = f'{{"type":"vote","key":"canned,0","vote":1,"more":{unknown}}}'
    check_error(other.request("POST", "submessage", message_id=poll, msg_type="widget", content=said))
    assert other.message(poll)["submessages"][1:] == []
