"""PATCH /messages/{id} with content (protocol/messages.md#edit-message). Moves: test_move_messages.py."""

import hashlib

import pytest

from tests.contract.changes import edit, events, history, listen, one, refused
from tests.contract.conftest import Cast
from tests.contract.subscribing import make
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique


@pytest.mark.holds("edit-message.content")
def test_the_sender_changes_the_content(member: Speaker, other: Speaker, channel: Channel) -> None:
    sent = member.send(channel.stream_id, unique("edit"), "before")
    assert edit(member, sent, content="after")["detached_uploads"] == []
    for reader in (member, other):
        assert one(reader, sent, apply_markdown=False)["content"] == "after"
    assert one(other, sent)["content"] == "<p>after</p>"


@pytest.mark.holds("edit-message.content")
def test_a_direct_message_can_be_edited(member: Speaker, other: Speaker) -> None:
    sent = member.send([other.id], content="before")
    with listen(other) as queue:
        edit(member, sent, content="after")
        [event] = events(queue)
    assert one(other, sent, apply_markdown=False)["content"] == "after"
    assert "stream_id" not in event
    assert event["message_ids"] == [sent]


@pytest.mark.holds("edit-message.told")
def test_everybody_with_access_hears_all_of_it(member: Speaker, other: Speaker, channel: Channel) -> None:
    sent = member.send(channel.stream_id, unique("event"), "before")
    with listen(other) as queue:
        edit(member, sent, content="/me after")
        [event] = events(queue)
    timestamp = event.pop("edit_timestamp")
    assert isinstance(timestamp, int)
    del event["id"]
    assert event == {
        "type": "update_message",
        "user_id": member.id,
        "rendering_only": False,
        "message_id": sent,
        "message_ids": [sent],
        "flags": [],
        "stream_id": channel.stream_id,
        "stream_name": channel.name,
        "orig_content": "before",
        "orig_rendered_content": "<p>before</p>",
        "content": "/me after",
        "rendered_content": event["rendered_content"],
        "is_me_message": True,
    }


@pytest.mark.holds("edit-message.told")
def test_each_hears_their_own_flags(member: Speaker, other: Speaker, owner: Speaker, channel: Channel) -> None:
    sent = member.send(channel.stream_id, unique("flags"), "before")
    other.post("messages/flags", messages=[sent], op="add", flag="read")
    with listen(other) as reader, listen(owner) as dreamer:
        edit(member, sent, content="after")
        assert events(reader)[0]["flags"] == ["read"]
        assert events(dreamer)[0]["flags"] == []


@pytest.mark.holds("edit-message.read-stays")
def test_editing_leaves_what_is_read_as_it_is(member: Speaker, other: Speaker, channel: Channel) -> None:
    sent = [member.send(channel.stream_id, unique("still"), "before") for _ in range(2)]
    other.post("messages/flags", messages=sent[:1], op="add", flag="read")
    for number in sent:
        edit(member, number, content="after")
    assert [one(other, number)["flags"] for number in sent] == [["read"], []]


@pytest.mark.holds("edit-message.edited")
def test_the_message_says_that_it_was_edited(member: Speaker, channel: Channel) -> None:
    sent = member.send(channel.stream_id, unique("said"), "first")
    assert {"last_edit_timestamp", "last_moved_timestamp", "edit_history"}.isdisjoint(one(member, sent))
    edit(member, sent, content="second")
    edit(member, sent, content="third")
    message = one(member, sent)
    assert "last_moved_timestamp" not in message
    assert message["last_edit_timestamp"] >= message["timestamp"]
    newest, oldest = message["edit_history"]
    assert (newest["prev_content"], oldest["prev_content"]) == ("second", "first")
    assert oldest["prev_rendered_content"] == "<p>first</p>"
    assert oldest["user_id"] == member.id
    assert set(oldest) == {"user_id", "timestamp", "prev_content", "prev_rendered_content"}
    assert member.message(sent)["edit_history"] == message["edit_history"]


@pytest.mark.holds("edit-message.content-rules")
@pytest.mark.parametrize("content", ["", " ", "\n \t"])
def test_a_text_without_anything_in_it_says_deleted(member: Speaker, content: str) -> None:
    sent = member.send([member.id], content="something")
    edit(member, sent, content=content)
    assert one(member, sent, apply_markdown=False)["content"] == "(deleted)"


@pytest.mark.holds("edit-message.content-rules")
def test_content_is_trimmed_as_when_sent(member: Speaker) -> None:
    sent = member.send([member.id], content="x")
    edit(member, sent, content="\n  code \n")
    assert one(member, sent, apply_markdown=False)["content"] == "  code"


@pytest.mark.holds("edit-message.content-rules", "limits.refused-not-cut")
def test_content_over_the_limit_is_refused(member: Speaker, limits: Json) -> None:
    sent = member.send([member.id], content="x")
    refused(member, sent, content="y" * (limits["max_message_length"] + 1))
    assert one(member, sent, apply_markdown=False)["content"] == "x"
    refused(member, sent, content="a\0b")


@pytest.mark.holds("edit-message.content")
def test_nobody_edits_what_another_wrote(cast: Cast) -> None:
    sent = cast.member.send(cast.channel.stream_id, unique("mine"), "mine")
    for speaker in (cast.other, cast.owner, cast.bot):
        refused(speaker, sent, content="theirs")
    assert one(cast.member, sent, apply_markdown=False)["content"] == "mine"


@pytest.mark.holds("edit-message.out-of-reach")
def test_what_is_out_of_reach_looks_like_what_does_not_exist(cast: Cast) -> None:
    private, direct = cast.owner.send(cast.private.stream_id, "x"), cast.owner.send([cast.other.id])
    words = {refused(cast.member, number, content="x") for number in (private, direct, 2**62, 0)}
    assert len(words) == 1


@pytest.mark.holds("edit-message.expected")
def test_the_expected_text_must_be_the_one_that_is_there(member: Speaker) -> None:
    sent = member.send([member.id], content="här")
    right, wrong = (hashlib.sha256(text.encode()).hexdigest() for text in ("här", "there"))
    reply = member.request("PATCH", f"messages/{sent}", content="new", prev_content_sha256=wrong)
    check_error(reply, "EXPECTATION_MISMATCH", field_name="prev_content_sha256")
    edit(member, sent, content="new", prev_content_sha256=right)
    reply = member.request("PATCH", f"messages/{sent}", content="newer", prev_content_sha256=right)
    check_error(reply, "EXPECTATION_MISMATCH", field_name="prev_content_sha256")


@pytest.mark.holds("edit-message.senseless")
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"content": "same"},
        {"propagate_mode": "change_all", "content": "other"},
        {"propagate_mode": "change_some", "content": "other"},
        {"topic": "x"},
        {"stream_id": 1},
        {"stream_id": "x"},
        {"content": "x", "send_notification_to_new_thread": "perhaps"},
    ],
)
def test_a_request_that_makes_no_sense_is_refused(member: Speaker, fields: Json) -> None:
    sent = member.send([member.id], content="same")
    refused(member, sent, **fields)


@pytest.mark.holds("edit-message.widgets")
def test_polls_and_lists_are_not_edited(member: Speaker, channel: Channel) -> None:
    sent = member.send(channel.stream_id, unique("poll"), "/poll Tea?\nyes\nno")
    refused(member, sent, content="/poll Coffee?")


@pytest.mark.holds("conventions.ignored-parameters")
def test_unknown_parameters_are_named(member: Speaker) -> None:
    sent = member.send([member.id], content="x")
    assert edit(member, sent, content="y", colour="red")["ignored_parameters_unsupported"] == ["colour"]


@pytest.mark.holds("edit-message.edited")
def test_the_history_begins_with_the_original(member: Speaker, channel: Channel) -> None:
    topic = unique("history")
    sent = member.send(channel.stream_id, topic, "one two")
    edit(member, sent, content="one three")
    first, second = history(member, sent)
    assert (first["content"], first["rendered_content"], first["topic"]) == ("one two", "<p>one two</p>", topic)
    assert set(first) == {"content", "rendered_content", "topic", "timestamp", "user_id"}
    assert (second["content"], second["prev_content"], second["user_id"]) == ("one three", "one two", member.id)
    assert "two" in second["content_html_diff"]
    assert "three" in second["content_html_diff"]


@pytest.mark.holds("edit-message.told")
def test_mentions_follow_the_text(member: Speaker, other: Speaker, owner: Speaker) -> None:
    channel = make(other, principals=[member.id, other.id, owner.id])  # everybody may be mentioned: few are in it
    names = {who.id: who.get("users/me")["full_name"] for who in (other, owner)}
    sent = member.send(channel["stream_id"], unique("mentions"), f"Hello @**{names[other.id]}|{other.id}**")
    assert one(other, sent)["flags"] == ["mentioned"]
    with listen(other) as left, listen(owner) as came:
        edit(member, sent, content=f"Hello @**{names[owner.id]}|{owner.id}**")
        assert events(left)[0]["flags"] == []
        assert events(came)[0]["flags"] == ["mentioned"]
    assert (one(other, sent)["flags"], one(owner, sent)["flags"]) == ([], ["mentioned"])
    edit(member, sent, content="Hello @**all**")
    assert one(other, sent)["flags"] == ["stream_wildcard_mentioned", "wildcard_mentioned"]
    edit(member, sent, content="Hello")
    assert (one(other, sent)["flags"], one(owner, sent)["flags"]) == ([], [])


@pytest.mark.holds("edit-message.content-rules")
def test_the_new_text_is_rendered_as_any_other(member: Speaker, channel: Channel) -> None:
    sent = member.send(channel.stream_id, unique("markup"), "plain")
    edit(member, sent, content="**bold** <script>")
    assert one(member, sent)["content"] == "<p><strong>bold</strong> &lt;script&gt;</p>"
    found = history(member, sent)[1]
    assert found["rendered_content"] == one(member, sent)["content"]
    assert "<script" not in found["content_html_diff"]


@pytest.mark.holds("edit-message.history-bound")
def test_a_history_has_the_newest_hundred_versions(member: Speaker, other: Speaker, channel: Channel) -> None:
    topic = unique("topic")
    sent = member.send(channel.stream_id, topic, "0")
    for number in range(1, 100):
        edit(member, sent, content=str(number))
    assert [version["content"] for version in history(other, sent)] == [str(number) for number in range(100)]
    edit(member, sent, content="100", topic=f"{topic} 2")
    versions = history(other, sent)
    assert [version["content"] for version in versions] == [str(number) for number in range(1, 101)]
    assert versions[0]["prev_content"] == "0"
    assert versions[-1]["prev_topic"] == topic
    told = [entry["prev_content"] for entry in one(other, sent)["edit_history"]]
    assert told == [str(number) for number in range(99, 89, -1)]
