"""What is no narrow, and how it is refused; anchors and given messages (protocol/messages.md#get-messages)."""

import pytest

from tests.contract.conftest import Cast
from tests.harness.talk import Json, Speaker, check_error, unique


def refused(speaker: Speaker, narrow: object, code: str = "BAD_NARROW") -> Json:
    reply = speaker.request("GET", "messages", anchor="newest", num_before=1, narrow=narrow)
    body: Json = reply.json()
    extra: Json = {"desc": body.get("desc")} if code == "BAD_NARROW" else {}
    check_error(reply, code, **extra)
    return body


@pytest.mark.holds("get-messages.narrow-unknown")
@pytest.mark.parametrize(
    ("operator", "operand"),
    [
        ("channel", "no such channel"),
        ("stream", 2**50),
        ("channels", "secret"),
        ("sender", "nobody@example.com"),
        ("sender", 2**50),
        ("sender", "7"),
        ("dm", "nobody@example.com"),
        ("pm-with", "a@example.com,b@example.com"),
        ("dm", [2**50]),
        ("dm-including", 2**50),
        ("group-pm-with", "nobody@example.com"),
        ("mentions", -1),
        ("is", "sunny"),
        ("in", "garden"),
        ("has", "nose"),
        ("id", "first"),
        ("id", "-5"),
        ("with", "me"),
        ("with", 2**50),
        ("weather", "fine"),
    ],
)
def test_an_unknown_operator_or_operand_is_a_bad_narrow(member: Speaker, operator: str, operand: object) -> None:
    body = refused(member, [{"operator": operator, "operand": operand}])
    assert body["desc"]
    assert body["desc"] in body["msg"]


@pytest.mark.holds("get-messages.narrow-unknown")
@pytest.mark.parametrize(
    ("operator", "operand"),
    [
        ("channel", [1]),
        ("sender", {"id": 1}),
        ("id", True),
        ("dm", 5),
        ("dm", ["a@example.com"]),
        ("dm", [1, "x"]),
        ("topic", 5),
        ("is", 1),
        ("search", 7),
        ("search", " "),
        ("topic", "with\0nul"),
    ],
)
def test_an_operand_of_the_wrong_type_is_a_bad_request(member: Speaker, operator: str, operand: object) -> None:
    refused(member, [{"operator": operator, "operand": operand}], "BAD_REQUEST")


@pytest.mark.holds("get-messages.narrow-exclusive")
def test_channels_and_direct_messages_exclude_each_other(cast: Cast) -> None:
    direct: list[Json] = [
        {"operator": "dm", "operand": [cast.other.id]},
        {"operator": "dm-including", "operand": cast.other.id},
        {"operator": "is", "operand": "private"},
    ]
    in_channels: list[Json] = [
        {"operator": "channel", "operand": cast.channel.stream_id},
        {"operator": "topic", "operand": "x"},
        {"operator": "channels", "operand": "public"},
        {"operator": "is", "operand": "dm", "negated": True},
    ]
    for one in direct:
        for other in in_channels:
            refused(cast.member, [one, other])


@pytest.mark.holds("get-messages.narrow-exclusive")
def test_two_channels_at_once_are_empty_and_both_ends_are_found(cast: Cast) -> None:
    name = unique("second")
    cast.member.post("users/me/subscriptions", subscriptions=[{"name": name}])
    narrow = [["channel", name], ["channel", cast.channel.name]]
    window = cast.member.window(before=5, after=5, narrow=narrow)
    assert (window["messages"], window["found_oldest"], window["found_newest"]) == ([], True, True)


@pytest.mark.holds("get-messages.narrow-with")
def test_there_is_one_with_at_most(member: Speaker) -> None:
    sent = member.send([member.id])
    refused(member, [{"operator": "with", "operand": sent}, {"operator": "with", "operand": sent}])


@pytest.mark.holds("get-messages.narrow-with")
def test_with_an_unknown_message_the_rest_counts_if_it_names_a_conversation(cast: Cast) -> None:
    topic = unique("with")
    sent = cast.member.send(cast.channel.stream_id, topic)
    narrow = [{"operator": "channel", "operand": cast.channel.stream_id}, {"operator": "topic", "operand": topic}]
    window = cast.member.window(before=5, narrow=[*narrow, {"operator": "with", "operand": 2**50}])
    assert [message["id"] for message in window["messages"]] == [sent]


@pytest.mark.holds("get-messages.narrow-with")
def test_with_a_message_that_was_moved_the_narrow_is_where_it_went(cast: Cast) -> None:
    old, new = unique("old"), unique("new")
    moved, stays = (cast.member.send(cast.channel.stream_id, topic) for topic in (old, new))
    reply = cast.member.request("PATCH", f"messages/{moved}", topic=new, send_notification_to_new_thread=False)
    assert reply.status_code == 200, reply.text
    narrow = [{"operator": "channel", "operand": cast.channel.stream_id}, {"operator": "topic", "operand": old}]
    window = cast.member.window(before=5, after=5, narrow=[*narrow, {"operator": "with", "operand": moved}])
    assert [message["id"] for message in window["messages"]] == [moved, stays]


@pytest.mark.holds("get-messages.narrow")
def test_near_and_in_all_change_nothing(member: Speaker) -> None:
    sent = member.send([member.id])
    window = member.window(before=1, narrow=[["near", "what"], ["in", "all"]])
    assert [message["id"] for message in window["messages"]] == [sent]


@pytest.mark.holds("get-messages.anchor")
def test_a_date_is_an_anchor(member: Speaker) -> None:
    ids = [member.send([member.id]) for _ in range(2)]
    narrow = [{"operator": "dm", "operand": [member.id]}]
    window = member.window("date", 0, 0, anchor_date="2100-01-01", narrow=narrow)
    assert (window["anchor"], window["found_anchor"]) == (ids[1], True)
    oldest = member.window("date", 0, 1, anchor_date="2001-01-01T10:00:00+02:00", narrow=narrow)
    assert oldest["anchor"] == member.window("oldest", 0, 1, narrow=narrow)["messages"][0]["id"]
    nothing = member.window("date", 5, 5, anchor_date="2001-01-01", narrow=[*narrow, {"operator": "id", "operand": 1}])
    assert not any(nothing[key] for key in ("messages", "found_anchor", "found_oldest", "found_newest"))


@pytest.mark.holds("get-messages.anchor")
@pytest.mark.parametrize(
    "fields", [{}, {"anchor_date": "yesterday"}, {"anchor_date": ""}, {"anchor_date": "2024-13-01"}]
)
def test_a_date_must_be_one(member: Speaker, fields: Json) -> None:
    assert "anchor_date" in check_error(member.request("GET", "messages", anchor="date", **fields))


@pytest.mark.holds("get-messages.ids")
@pytest.mark.parametrize("fields", [{"anchor": 5}, {"num_before": 0}, {"num_after": 1}, {"include_anchor": True}])
def test_given_messages_and_a_window_exclude_each_other(member: Speaker, fields: Json) -> None:
    assert "message_ids" in check_error(member.request("GET", "messages", message_ids=[1], **fields))


@pytest.mark.holds("get-messages.ids")
def test_given_messages_come_as_far_as_they_are_accessible(cast: Cast) -> None:
    own, other = cast.member.send([cast.member.id]), cast.owner.send([cast.owner.id])
    answer = cast.member.get("messages", message_ids=[other, own, 2**60])
    assert [message["id"] for message in answer["messages"]] == [own]
    assert "anchor" not in answer
    assert answer["found_anchor"] is answer["found_oldest"] is answer["found_newest"] is False
