"""GET /messages: windows around an anchor (protocol/messages.md#get-messages)."""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.contract.conftest import Cast
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique

PAST_THE_END = 10_000_000_000_000_000


class Room(NamedTuple):
    """A new channel with talk in two topics."""

    name: str
    narrow: list[Json]
    ids: list[int]
    lunch: list[int]
    dinner: list[int]


@pytest.fixture(scope="module")
def room(cast: Cast) -> Room:
    name = unique("room")
    for speaker in (cast.member, cast.other):
        speaker.post("users/me/subscriptions", subscriptions=[{"name": name}])
    topics = ["Lunch", "Dinner", "lunch", "Dinner", "LUNCH", "Lunch"]
    ids = [cast.other.send(name, topic, f"number {number}") for number, topic in enumerate(topics)]
    lunch = [sent for sent, topic in zip(ids, topics, strict=True) if topic != "Dinner"]
    narrow = [{"operator": "channel", "operand": name}]
    return Room(name, narrow, ids, lunch, [ids[1], ids[3]])


def found(window: Json) -> list[int]:
    return [message["id"] for message in window["messages"]]


def flags(window: Json) -> dict[str, bool]:
    return {word: window[f"found_{word}"] for word in ("anchor", "oldest", "newest")}


# Windows


@pytest.mark.holds("get-messages.window")
def test_a_window_has_so_many_before_the_anchor_the_anchor_and_so_many_after(member: Speaker, room: Room) -> None:
    window = member.window(room.ids[3], 2, 1, narrow=room.narrow)
    assert found(window) == room.ids[1:5]
    assert window["anchor"] == room.ids[3]
    assert flags(window) == {"anchor": True, "oldest": False, "newest": False}
    assert window["history_limited"] is False


@pytest.mark.holds("get-messages.ends")
def test_fewer_messages_than_asked_for_means_the_end_was_found(member: Speaker, room: Room) -> None:
    window = member.window(room.ids[3], 4, 3, narrow=room.narrow)
    assert found(window) == room.ids
    assert flags(window) == {"anchor": True, "oldest": True, "newest": True}


@pytest.mark.holds("get-messages.ends")
def test_exactly_as_many_as_asked_for_leaves_the_end_open(member: Speaker, room: Room) -> None:
    window = member.window(room.ids[3], 3, 2, narrow=room.narrow)
    assert found(window) == room.ids
    assert flags(window) == {"anchor": True, "oldest": False, "newest": False}


@pytest.mark.holds("get-messages.window")
def test_zero_and_zero_is_just_the_anchor(member: Speaker, room: Room) -> None:
    window = member.window(room.ids[2], narrow=room.narrow)
    assert found(window) == [room.ids[2]]
    assert flags(window) == {"anchor": True, "oldest": False, "newest": False}


@pytest.mark.holds("get-messages.anchor")
def test_newest_brings_the_last_ones(member: Speaker, room: Room) -> None:
    window = member.window("newest", 2, narrow=room.narrow)
    assert found(window) == room.ids[-2:]
    assert window["anchor"] == PAST_THE_END
    assert flags(window) == {"anchor": False, "oldest": False, "newest": True}


@pytest.mark.holds("get-messages.anchor")
def test_oldest_brings_the_first_ones(member: Speaker, room: Room) -> None:
    window = member.window("oldest", 0, 2, narrow=room.narrow)
    assert found(window) == room.ids[:2]
    assert window["anchor"] == 0
    assert flags(window) == {"anchor": False, "oldest": True, "newest": False}


@pytest.mark.holds("get-messages.between")
def test_an_anchor_that_is_no_message_of_the_narrow_lies_between(member: Speaker, room: Room) -> None:
    narrow = [*room.narrow, {"operator": "topic", "operand": "dinner"}]
    window = member.window(room.ids[2], 1, 1, narrow=narrow)
    assert found(window) == room.dinner
    assert flags(window) == {"anchor": False, "oldest": False, "newest": False}
    assert found(member.window(room.ids[2], narrow=narrow)) == []


@pytest.mark.holds("get-messages.between")
@pytest.mark.parametrize("anchor", [-5, 0, PAST_THE_END, 2**62])
def test_an_anchor_beyond_the_ends_is_no_error(member: Speaker, room: Room, anchor: int) -> None:
    window = member.window(anchor, 2, 2, narrow=room.narrow)
    assert found(window) == (room.ids[:2] if anchor <= 0 else room.ids[-2:])
    assert window["found_anchor"] is False
    assert window["found_oldest" if anchor <= 0 else "found_newest"] is True


@pytest.mark.holds("get-messages.include-anchor")
def test_the_anchor_can_be_left_out_at_an_end(member: Speaker, room: Room) -> None:
    before = member.window(room.ids[3], 2, include_anchor=False, narrow=room.narrow)
    after = member.window(room.ids[3], 0, 2, include_anchor=False, narrow=room.narrow)
    assert (found(before), found(after)) == (room.ids[1:3], room.ids[4:])
    assert before["found_anchor"] is after["found_anchor"] is False
    assert found(member.window(room.ids[3], include_anchor=False, narrow=room.narrow)) == []


@pytest.mark.holds("get-messages.include-anchor")
def test_the_anchor_cannot_be_left_out_in_the_middle(member: Speaker) -> None:
    check_error(member.request("GET", "messages", anchor=5, num_before=1, num_after=1, include_anchor=False))


@pytest.mark.holds("get-messages.window")
def test_one_side_only(member: Speaker, room: Room) -> None:
    before, after = (member.window(room.ids[3], *sides, narrow=room.narrow) for sides in ((2, 0), (0, 2)))
    assert (found(before), found(after)) == (room.ids[1:4], room.ids[3:])
    assert flags(before) == {"anchor": True, "oldest": False, "newest": False}
    assert flags(after) == {"anchor": True, "oldest": False, "newest": False}
    assert found(member.window(room.ids[3], 0, 3, narrow=room.narrow)) == room.ids[3:]
    assert member.window(room.ids[3], 0, 3, narrow=room.narrow)["found_newest"] is True


@pytest.mark.holds("get-messages.limit")
def test_at_most_5000_messages_are_given(member: Speaker) -> None:
    member.window("newest", 5000, 0)
    member.window("newest", 2500, 2500)
    check_error(member.request("GET", "messages", anchor="newest", num_before=2501, num_after=2500))


@pytest.mark.holds("get-messages.anchor")
def test_an_anchor_is_required(member: Speaker) -> None:
    assert "anchor" in check_error(member.request("GET", "messages", num_before=5))


@pytest.mark.holds("get-messages.anchor")
@pytest.mark.parametrize(
    "anchor", ["", "first", "NEWEST", "1.5", "1_000", " 5", "5 ", "0x10", "é", "٣", "--5", "-", "[5]"]
)
def test_what_is_no_anchor_is_refused(member: Speaker, anchor: str) -> None:
    assert "anchor" in check_error(member.request("GET", "messages", anchor=anchor, num_before=1)).lower()


@pytest.mark.holds("conventions.integer", "conventions.boolean")
@pytest.mark.parametrize(
    "fields", [{"num_before": -1}, {"num_after": -1}, {"num_before": "x"}, {"apply_markdown": "1"}]
)
def test_a_malformed_parameter_is_refused(member: Speaker, fields: Json) -> None:
    [name] = fields
    assert name in check_error(member.request("GET", "messages", anchor="newest", **fields))


# First unread


@pytest.mark.holds("get-messages.anchor")
def test_first_unread_is_the_first_message_not_read(member: Speaker, room: Room) -> None:
    member.post("messages/flags", messages=room.ids, op="remove", flag="read")
    member.post("messages/flags", messages=room.ids[:2], op="add", flag="read")
    narrow = {"narrow": room.narrow}
    assert member.window("first_unread", 1, 1, **narrow)["anchor"] == room.ids[2]
    assert member.get("messages", use_first_unread_anchor=True, num_after=0, **narrow)["anchor"] == room.ids[2]
    assert member.get("messages", anchor=5, use_first_unread_anchor=True, **narrow)["anchor"] == room.ids[2]
    dinner = [*room.narrow, {"operator": "topic", "operand": "dinner"}]
    assert member.window("first_unread", 1, 1, narrow=dinner)["anchor"] == room.dinner[1]


@pytest.mark.holds("get-messages.anchor")
def test_with_everything_read_first_unread_is_the_newest(member: Speaker, room: Room) -> None:
    member.post("messages/flags", messages=room.ids, op="add", flag="read")
    window = member.window("first_unread", 2, 2, narrow=room.narrow)
    assert (window["anchor"], found(window)) == (PAST_THE_END, room.ids[-2:])
    assert window["found_newest"] is True


# Narrows


OPERANDS: dict[str, Callable[[Room, int], list[object]]] = {
    "an object with the name": lambda room, _: [{"operator": "channel", "operand": room.name}],
    "the name in other case": lambda room, _: [{"operator": "channel", "operand": room.name.upper()}],
    "an object with the ID": lambda _, number: [{"operator": "channel", "operand": number}],
    "the older word": lambda room, _: [{"operator": "stream", "operand": room.name, "negated": False}],
    "a pair": lambda room, _: [["channel", room.name]],
}


@pytest.mark.holds("get-messages.narrow-forms")
@pytest.mark.parametrize("form", OPERANDS)
def test_a_channel_is_narrowed_to_in_many_ways(member: Speaker, room: Room, form: str) -> None:
    number = member.message(room.ids[0])["stream_id"]
    narrow = OPERANDS[form](room, number)
    assert found(member.window(before=99, narrow=narrow)) == room.ids


@pytest.mark.holds("get-messages.narrow-forms")
def test_people_are_narrowed_to_by_id_or_address(newcomer: Speaker, other: Speaker, member: Speaker) -> None:
    theirs, group = other.send([newcomer.id]), member.send([newcomer.id, other.id])
    both = [other.id, member.id]
    forms: list[tuple[str, object, list[int]]] = [
        *(("sender", operand, [theirs]) for operand in (other.id, other.email)),
        *(("dm", operand, [theirs]) for operand in ([other.id], other.email)),
        *(("dm", operand, [group]) for operand in (both, f"{other.email},{member.email}")),
        ("pm-with", other.email, [theirs]),
        ("dm-including", other.id, [theirs, group]),
    ]
    for operator, operand, expected in forms:
        narrow = [{"operator": operator, "operand": operand}]
        assert found(newcomer.window(before=9, narrow=narrow)) == expected, (operator, operand)


@pytest.mark.holds("get-messages.narrow-forms")
def test_a_topic_is_narrowed_to_whatever_its_case(member: Speaker, room: Room) -> None:
    for topic in ("lunch", "LUNCH", " Lunch "):
        narrow = [*room.narrow, {"operator": "topic", "operand": topic}]
        assert found(member.window(before=99, narrow=narrow)) == room.lunch


@pytest.mark.holds("get-messages.narrow")
def test_a_topic_nobody_wrote_in_is_empty(member: Speaker, room: Room) -> None:
    window = member.window(before=9, narrow=[*room.narrow, {"operator": "topic", "operand": "breakfast"}])
    assert found(window) == []
    assert flags(window) == {"anchor": False, "oldest": True, "newest": True}


@pytest.mark.holds("get-messages.narrow-forms", "conventions.empty-topic-input")
def test_the_empty_topic_is_narrowed_to_by_each_of_its_names(member: Speaker, empty_topic: str) -> None:
    name = unique("empty")
    member.post("users/me/subscriptions", subscriptions=[{"name": name}])
    sent = member.send(name, "")
    member.send(name, "other")
    for topic in ("", empty_topic, "(no topic)"):
        narrow = [["channel", name], ["topic", topic]]
        assert found(member.window(before=9, narrow=narrow)) == [sent]


@pytest.mark.holds("get-messages.narrow")
def test_no_narrow_is_everything_received(member: Speaker, other: Speaker, channel: Channel) -> None:
    sent = [other.send(channel.stream_id, unique("all")), other.send([member.id]), member.send([member.id])]
    for narrow in (None, "[]", "null"):
        assert found(member.window(before=3, narrow=narrow)) == sent


@pytest.mark.holds("get-messages.public")
def test_public_channels_can_be_read_without_subscribing(member: Speaker, owner: Speaker) -> None:
    name = unique("open")
    owner.post("users/me/subscriptions", subscriptions=[{"name": name}])
    sent = owner.send(name, "topic")
    [message] = member.window(before=9, narrow=[["channel", name]])["messages"]
    assert (message["id"], message["flags"]) == (sent, ["read", "historical"])
    assert sent not in found(member.window(before=1))


@pytest.mark.holds("get-messages.out-of-reach", "get-messages.public")
def test_an_unknown_channel_and_a_forbidden_one_are_refused_alike(
    member: Speaker, guest: Speaker, private: Channel, channel: Channel
) -> None:
    cases: list[tuple[Speaker, object]] = [(member, unique("nowhere")), (member, 2**50), (member, private.name)]
    for speaker, operand in [*cases, (member, private.stream_id), (guest, channel.name), (guest, channel.stream_id)]:
        narrow = [{"operator": "channel", "operand": operand}]
        reply = speaker.request("GET", "messages", anchor="newest", narrow=narrow)
        assert check_error(reply, "BAD_NARROW", desc=reply.json().get("desc"))
        assert str(operand) in reply.json()["desc"]


@pytest.mark.holds("get-messages.narrow-unknown")
@pytest.mark.parametrize(
    "narrow",
    ["x", "{}", "5", '"channel"', "[5]", "[null]", '["channel"]', '[["channel"]]', '[["channel", "a", "b"]]', '[["a", 5]]',
     '[{"operator": "channel"}]', '[{"operand": "a"}]', '[{"operator": 5, "operand": "a"}]', "[[]]"],
)  # fmt: skip
def test_a_malformed_narrow_is_a_bad_request(member: Speaker, narrow: str) -> None:
    check_error(member.request("GET", "messages", anchor="newest", narrow=narrow))


@pytest.mark.holds("get-messages.narrow-unknown")
def test_an_unknown_operator_is_a_bad_narrow(member: Speaker) -> None:
    narrow = [{"operator": "weather", "operand": "sunny"}]
    reply = member.request("GET", "messages", anchor="newest", narrow=narrow)
    check_error(reply, "BAD_NARROW", desc=reply.json().get("desc"))


# Form


@pytest.mark.holds("get-messages.content")
def test_content_is_html_unless_asked_otherwise(member: Speaker) -> None:
    sent = member.send([member.id], content="a < b")
    html, plain = member.message(sent), member.message(sent, apply_markdown=False)
    assert (html["content_type"], "a &lt; b" in html["content"]) == ("text/html", True)
    assert (plain["content_type"], plain["content"]) == ("text/x-markdown", "a < b")


@pytest.mark.holds("get-messages.empty-topic")
def test_the_empty_topic_is_shown_by_name_unless_asked_otherwise(
    member: Speaker, channel: Channel, empty_topic: str
) -> None:
    sent = member.send(channel.stream_id, "")
    assert member.message(sent)["subject"] == empty_topic
    assert member.message(sent, allow_empty_topic_name=True)["subject"] == ""


@pytest.mark.holds("get-messages.order")
def test_messages_are_in_ascending_order_across_conversations(
    member: Speaker, other: Speaker, channel: Channel
) -> None:
    for turn in range(3):
        other.send(channel.stream_id, unique(f"turn {turn}"))
        other.send([member.id])
    ids = found(member.window(before=50))
    assert ids == sorted(set(ids))
