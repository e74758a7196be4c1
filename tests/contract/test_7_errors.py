"""Errors (specification 7): what every one of them has, and what belongs to which code."""

import pytest

from tests.server import Channel
from tests.talk import Json, Speaker, check_error


def test_every_error_has_result_msg_and_code(nobody: Speaker, member: Speaker) -> None:
    replies = [
        nobody.request("GET", "nothing"),
        nobody.request("PUT", "events"),
        nobody.request("GET", "users/me"),
        member.request("POST", "messages"),
        member.request("GET", "events", queue_id="x", last_event_id=-1),
        member.http.post("messages", content=b"{", headers={"Content-Type": "application/json"}),
    ]
    for reply in replies:
        body: Json = reply.json()
        assert reply.status_code >= 400
        assert reply.headers["content-type"] == "application/json"
        assert body["result"] == "error"
        assert all(isinstance(body[key], str) and body[key] for key in ("msg", "code"))
        assert reply.text.endswith("}\n")


@pytest.mark.parametrize("accept", ["text/html", "*/*", "image/png"])
def test_an_error_is_json_whatever_is_accepted(nobody: Speaker, accept: str) -> None:
    check_error(nobody.http.get("users/me", headers={"Accept": accept}), "UNAUTHORIZED", 401)


def test_an_invalid_or_missing_parameter_is_a_bad_request_without_extra_keys(member: Speaker) -> None:
    check_error(member.request("GET", "messages"))
    check_error(member.request("GET", "messages", anchor="newest", num_before=-1))
    check_error(member.request("POST", "messages/flags", messages=[], op="toggle", flag="read"))
    check_error(member.request("GET", "events"))


def test_an_unknown_user_is_a_bad_request_without_extra_keys(member: Speaker) -> None:
    check_error(member.request("POST", "messages", type="direct", to=[2**50], content="x"))
    check_error(member.request("POST", "messages", type="direct", to=["nobody@nowhere.example"], content="x"))


def test_a_missing_channel_has_its_own_code_and_the_name_or_id(member: Speaker) -> None:
    fields = {"type": "channel", "topic": "t", "content": "x"}
    by_name = member.request("POST", "messages", to="no such <channel>", **fields)
    check_error(by_name, "STREAM_DOES_NOT_EXIST", stream="no such <channel>")
    by_id = member.request("POST", "messages", to=2**50, **fields)
    check_error(by_id, "STREAM_DOES_NOT_EXIST", stream_id=2**50)


def test_only_the_first_fault_is_reported(member: Speaker) -> None:
    check_error(member.request("POST", "messages", type="nonsense", to="[", queue_id="x"))


def test_a_refused_request_changes_nothing(member: Speaker, channel: Channel) -> None:
    before = member.window(before=1)["messages"]
    for fields in (
        {"topic": "t"},
        {"topic": "a\x07b", "content": "x"},
        {"topic": "t", "content": "x", "queue_id": "q"},
    ):
        check_error(member.request("POST", "messages", type="channel", to=channel.stream_id, **fields))
    assert member.window(before=1)["messages"] == before
