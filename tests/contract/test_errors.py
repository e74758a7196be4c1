"""Errors: what every one of them has, and what belongs to which code (protocol/basics.md#errors)."""

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error


@pytest.mark.holds("errors.shape", "conventions.error", "conventions.json")
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


@pytest.mark.holds("errors.always-json")
@pytest.mark.parametrize("accept", ["text/html", "*/*", "image/png"])
def test_an_error_is_json_whatever_is_accepted(nobody: Speaker, accept: str) -> None:
    check_error(nobody.http.get("users/me", headers={"Accept": accept}), "UNAUTHORIZED", 401)


@pytest.mark.holds("errors.bad-request", "errors.bad-request-keys", "errors.bad-request-status")
def test_an_invalid_or_missing_parameter_is_a_bad_request_without_extra_keys(member: Speaker) -> None:
    check_error(member.request("GET", "messages"))
    check_error(member.request("GET", "messages", anchor="newest", num_before=-1))
    check_error(member.request("POST", "messages/flags", messages=[], op="toggle", flag="read"))
    check_error(member.request("GET", "events"))


@pytest.mark.holds("errors.bad-request", "errors.bad-request-keys")
def test_an_unknown_user_is_a_bad_request_without_extra_keys(member: Speaker) -> None:
    check_error(member.request("POST", "messages", type="direct", to=[2**50], content="x"))
    check_error(member.request("POST", "messages", type="direct", to=["nobody@nowhere.example"], content="x"))


@pytest.mark.holds("errors.bad-request", "errors.bad-request-keys", "errors.bad-request-status")
@pytest.mark.parametrize(
    ("method", "path", "fields"),
    [
        ("GET", "users/999999999", {}),
        ("PATCH", "scheduled_messages/999999999", {"content": "x"}),
        ("PATCH", "drafts/999999999", {"draft": {"type": "", "to": [], "topic": "", "content": "x"}}),
        ("PATCH", "user_groups/999999999", {"name": "x"}),
        ("POST", "users/me/status", {"emoji_name": "no_such_emoji"}),
        ("POST", "users/me/status", {"status_text": "x" * 61}),
        ("POST", "drafts", {"drafts": [{"type": "stream", "to": [], "topic": "", "content": "x"}]}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_does_not_exist_or_cannot_be_is_a_bad_request_without_extra_keys(
    member: Speaker, method: str, path: str, fields: Json
) -> None:
    check_error(member.request(method, path, **fields))


@pytest.mark.holds("errors.stream-does-not-exist")
def test_a_missing_channel_has_its_own_code_and_the_name_or_id(member: Speaker) -> None:
    fields = {"type": "channel", "topic": "t", "content": "x"}
    by_name = member.request("POST", "messages", to="no such <channel>", **fields)
    check_error(by_name, "STREAM_DOES_NOT_EXIST", stream="no such <channel>")
    by_id = member.request("POST", "messages", to=2**50, **fields)
    check_error(by_id, "STREAM_DOES_NOT_EXIST", stream_id=2**50)


IMPOSSIBLE = (-1, 0, 2**63 - 1, 2**63, -(2**63) - 1, 10**30)


@pytest.mark.holds("errors.impossible-ids", "errors.bad-request", "change-scheduled.unknown", "drafts.edit-unknown")
@pytest.mark.parametrize(
    ("method", "path", "fields"),
    [
        ("PATCH", "scheduled_messages/{}", {"content": "x"}),
        ("DELETE", "scheduled_messages/{}", {}),
        ("PATCH", "user_groups/{}", {"name": "x"}),
        ("POST", "user_groups/{}/deactivate", {}),
        ("PATCH", "drafts/{}", {"draft": {"type": "", "to": [], "topic": "", "content": "x"}}),
        ("DELETE", "drafts/{}", {}),
        ("DELETE", "messages/{}/reactions", {"emoji_name": "smile"}),
        ("GET", "messages/{}", {}),
        ("GET", "users/{}", {}),
    ],
)
def test_an_id_that_nothing_can_have_is_an_unknown_one(member: Speaker, method: str, path: str, fields: Json) -> None:
    unknown = check_error(member.request(method, path.format(2**50), **fields))
    for number in IMPOSSIBLE:
        msg = check_error(member.request(method, path.format(number), **fields))
        assert msg == unknown
    assert path != "user_groups/{}" or unknown == "Invalid user group"


@pytest.mark.holds("errors.impossible-ids", "errors.stream-does-not-exist", "send-message.unknown-channel")
@pytest.mark.parametrize(
    ("method", "path", "fields"),
    [
        ("GET", "streams/{id}", {}),
        ("GET", "users/me/{id}/topics", {}),
        ("POST", "messages", {"type": "channel", "to": "{id}", "topic": "t", "content": "x"}),
        ("POST", "messages", {"type": "stream", "to": "[{id}]", "topic": "t", "content": "x"}),
        (
            "POST",
            "scheduled_messages",
            {"type": "channel", "to": "{id}", "topic": "t", "content": "x", "scheduled_delivery_timestamp": 4 * 10**9},
        ),
        ("POST", "user_topics", {"stream_id": "{id}", "topic": "t", "visibility_policy": 1}),
        ("PATCH", "users/me/subscriptions/muted_topics", {"stream_id": "{id}", "topic": "t", "op": "remove"}),
        ("POST", "mark_topic_as_read", {"stream_id": "{id}", "topic_name": "t"}),
        (
            "POST",
            "users/me/subscriptions/properties",
            {"subscription_data": '[{{"stream_id": {id}, "property": "pin_to_top", "value": true}}]'},
        ),
    ],
)
def test_an_id_that_no_channel_can_have_is_an_unknown_channel(
    member: Speaker, method: str, path: str, fields: Json
) -> None:
    for number in IMPOSSIBLE:
        filled = {name: value.format(id=number) if isinstance(value, str) else value for name, value in fields.items()}
        reply = member.request(method, path.format(id=number), **filled)
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=number)


@pytest.mark.holds("errors.impossible-ids", "send-message.unknown-user")
def test_an_id_that_nobody_can_have_is_an_unknown_user(member: Speaker) -> None:
    for number in IMPOSSIBLE:
        for to in (number, [number], [member.id, number]):
            check_error(member.request("POST", "messages", type="direct", to=to, content="x"))


@pytest.mark.holds("errors.first-fault")
def test_only_the_first_fault_is_reported(member: Speaker) -> None:
    whole: Json = {"type": "direct", "to": [member.id], "content": "x", "read_by_sender": True}
    faults: Json = {"type": "nonsense", "read_by_sender": "perhaps"}
    alone = {check_error(member.request("POST", "messages", **whole | {name: faults[name]})) for name in faults}
    assert len(alone) == 2
    assert check_error(member.request("POST", "messages", **whole | faults)) in alone


@pytest.mark.holds("errors.nothing-changes")
def test_a_refused_request_changes_nothing(member: Speaker, channel: Channel) -> None:
    before = member.window(before=1)["messages"]
    for fields in (
        {"topic": "t"},
        {"topic": "a\x07b", "content": "x"},
        {"topic": "t", "content": "x", "queue_id": "q"},
    ):
        check_error(member.request("POST", "messages", type="channel", to=channel.stream_id, **fields))
    assert member.window(before=1)["messages"] == before
