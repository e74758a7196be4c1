"""POST /messages: sending (protocol/messages.md#send-message)."""

import json
import time
from collections.abc import Callable

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, check_success, unique

CHANNEL_FORMS: dict[str, Callable[[Channel], object]] = {
    "its name": lambda channel: channel.name,
    "its name in other case": lambda channel: channel.name.upper(),
    "its name with spaces around": lambda channel: f"  {channel.name} ",
    "its name as JSON": lambda channel: json.dumps(channel.name),
    "its ID": lambda channel: channel.stream_id,
    "a list with its name": lambda channel: [channel.name],
    "a list with its ID": lambda channel: [channel.stream_id],
}
DIRECT_FORMS: dict[str, Callable[[Speaker], object]] = {
    "a list with the ID": lambda to: [to.id],
    "a list with the address": lambda to: [to.email],
    "the address": lambda to: to.email,
    "the address in other case": lambda to: to.email.upper(),
    "the address as JSON": lambda to: json.dumps(to.email),
    "the bare ID": lambda to: to.id,
    "a list with the ID twice": lambda to: [to.id, to.id],
    "the address twice": lambda to: f"{to.email}, {to.email}",
    "the address and a blank": lambda to: f"{to.email}, ,",
}


def refused(speaker: Speaker, *, code: str = "BAD_REQUEST", extra: Json | None = None, **fields: object) -> str:
    return check_error(speaker.request("POST", "messages", **fields), code, **(extra or {}))


# Where it goes


@pytest.mark.holds("send-message.to-channel", "message.to-channel", "send-message.type")
@pytest.mark.parametrize("kind", ["channel", "stream"])
@pytest.mark.parametrize("form", CHANNEL_FORMS)
def test_a_channel_is_named_in_many_ways(member: Speaker, channel: Channel, form: str, kind: str) -> None:
    topic = unique("forms")
    sent = member.post("messages", type=kind, to=CHANNEL_FORMS[form](channel), topic=topic, content="Hello")["id"]
    message = member.message(sent)
    assert (message["stream_id"], message["display_recipient"]) == (channel.stream_id, channel.name)
    assert (message["type"], message["subject"]) == ("stream", topic)


@pytest.mark.holds("send-message.to-direct", "message.to-direct", "send-message.type")
@pytest.mark.parametrize("kind", ["direct", "private"])
@pytest.mark.parametrize("form", DIRECT_FORMS)
def test_a_person_is_named_in_many_ways(member: Speaker, other: Speaker, form: str, kind: str) -> None:
    sent = member.post("messages", type=kind, to=DIRECT_FORMS[form](other), content="Hello")["id"]
    for reader in (member, other):
        message = reader.message(sent)
        assert (message["type"], message["subject"]) == ("private", "")
        assert [person["id"] for person in message["display_recipient"]] == sorted([member.id, other.id])
        assert "stream_id" not in message


@pytest.mark.holds("send-message.to-direct", "message.to-direct")
@pytest.mark.parametrize("with_sender", [False, True])
def test_a_group_is_a_list_of_ids_or_addresses_and_the_sender_is_in_it_anyway(
    member: Speaker, other: Speaker, owner: Speaker, with_sender: bool
) -> None:
    people = [other, owner, member] if with_sender else [other, owner]
    forms: list[object] = [
        [person.id for person in people],
        [person.email for person in people],
        ",".join(person.email for person in people),
        ", ".join(person.email for person in reversed(people)),
    ]
    ids = [member.send(form) for form in forms]
    for reader in (member, other, owner):
        places = {reader.message(sent)["recipient_id"] for sent in ids}
        assert len(places) == 1
    assert [person["id"] for person in owner.message(ids[0])["display_recipient"]] == sorted(
        [member.id, other.id, owner.id]
    )


@pytest.mark.holds("send-message.conversation")
def test_both_sides_of_a_direct_conversation_have_one_conversation(member: Speaker, other: Speaker) -> None:
    there, back = member.send([other.id]), other.send([member.id])
    assert member.message(there)["recipient_id"] == member.message(back)["recipient_id"]


@pytest.mark.holds("send-message.conversation")
def test_a_message_to_oneself_lists_one_person(member: Speaker) -> None:
    sent = member.send([member.id])
    [person] = member.message(sent)["display_recipient"]
    assert {"id": member.id, "email": member.email, "is_mirror_dummy": False}.items() <= person.items()
    assert isinstance(person["full_name"], str)


@pytest.mark.holds("send-message.conversation")
def test_only_the_participants_see_a_direct_message(member: Speaker, other: Speaker, owner: Speaker) -> None:
    sent = member.send([other.id])
    assert owner.window(sent)["messages"] == []


@pytest.mark.holds("send-message.to-channel")
def test_a_channel_with_a_numeric_name_must_be_quoted(member: Speaker) -> None:
    name = str(10**15 + time.time_ns() % 10**15)
    member.post("users/me/subscriptions", subscriptions=[{"name": name}])
    assert member.message(member.send(json.dumps(name), "topic"))["display_recipient"] == name
    refused(
        member,
        code="STREAM_DOES_NOT_EXIST",
        extra={"stream_id": int(name)},
        type="channel",
        to=name,
        topic="t",
        content="x",
    )


@pytest.mark.holds("send-message.to-channel")
@pytest.mark.parametrize("form", ["{}.5", "true {}", "true", "null", "false", "{{}}", '{{"a": {}}}', "-{}.25e3", "NaN"])
def test_a_channel_whose_name_looks_like_other_json_is_reached_by_it(member: Speaker, form: str) -> None:
    name = form.format(10**14 + time.time_ns() % 10**14)
    member.post("users/me/subscriptions", subscriptions=[{"name": name}])
    for to in (name, json.dumps(name), json.dumps([name])):
        assert member.message(member.send(to, "topic"))["display_recipient"] == name


# What it says


@pytest.mark.holds("send-message.answer")
def test_the_message_has_all_its_fields(member: Speaker, channel: Channel) -> None:
    topic = unique("fields")
    before = int(time.time())
    sent = member.send(channel.stream_id, topic, "a <b> & c", client="contract tests")
    message = member.message(sent)
    assert before - 2 <= message.pop("timestamp") <= time.time() + 2
    assert "a &lt;b&gt; &amp; c" in message.pop("content")
    for key in ("sender_full_name", "sender_realm_str"):
        assert isinstance(message.pop(key), str)
    assert isinstance(message.pop("avatar_url"), str | None)
    assert isinstance(message.pop("recipient_id"), int)
    assert message == {
        "id": sent,
        "sender_id": member.id,
        "sender_email": member.email,
        "client": "contract tests",
        "content_type": "text/html",
        "type": "stream",
        "stream_id": channel.stream_id,
        "display_recipient": channel.name,
        "subject": topic,
        "topic_links": [],
        "is_me_message": False,
        "reactions": [],
        "submessages": [],
        "flags": [],
    }


@pytest.mark.holds("send-message.order")
def test_ids_rise_in_the_order_of_sending(member: Speaker, other: Speaker, channel: Channel) -> None:
    ids = [speaker.send(channel.stream_id, unique("order")) for speaker in (member, other) * 3]
    assert ids == sorted(set(ids))


@pytest.mark.holds("send-message.content-trimmed")
def test_the_end_of_the_content_is_trimmed_and_its_first_spaces_are_kept(member: Speaker) -> None:
    sent = member.send([member.id], content="\n\n    code\n  more \n\t ")
    assert member.message(sent, apply_markdown=False)["content"] == "    code\n  more"


@pytest.mark.holds("send-message.content-trimmed")
@pytest.mark.parametrize("content", ["", "   ", "\n\n", " \t\r\n "])
def test_content_is_not_empty(member: Speaker, content: str) -> None:
    refused(member, type="direct", to=[member.id], content=content)


@pytest.mark.holds("send-message.me")
def test_me_at_the_beginning_makes_a_me_message(member: Speaker) -> None:
    assert member.message(member.send([member.id], content="/me waves"))["is_me_message"] is True
    assert member.message(member.send([member.id], content="/meow"))["is_me_message"] is False


@pytest.mark.holds("send-message.client")
def test_the_client_is_the_parameter_or_the_beginning_of_the_user_agent(member: Speaker) -> None:
    fields = {"type": "direct", "to": json.dumps([member.id]), "content": "x"}
    agent = {"User-Agent": "SomeBot/1.5 (Linux)"}
    by_agent = check_success(member.http.post("messages", data=fields, headers=agent))["id"]
    by_name = check_success(member.http.post("messages", data={**fields, "client": "mine"}, headers=agent))["id"]
    assert (member.message(by_agent)["client"], member.message(by_name)["client"]) == ("SomeBot", "mine")


# Topics


@pytest.mark.holds("send-message.subject", "versioning.deprecated-subject")
def test_subject_is_an_alias_of_topic(member: Speaker, channel: Channel) -> None:
    topic = unique("old name")
    sent = member.post("messages", type="stream", to=channel.stream_id, subject=topic, content="Hello")["id"]
    assert member.message(sent)["subject"] == topic


@pytest.mark.holds("send-message.subject")
def test_topic_and_subject_together_are_refused(member: Speaker, channel: Channel) -> None:
    both = {"type": "channel", "to": channel.stream_id, "topic": "a", "subject": "b", "content": "x"}
    names = {"var_name1": "topic", "var_name2": "subject"}
    refused(member, code="REQUEST_CONFUSING_VAR", extra=names, **both)


@pytest.mark.holds("send-message.topic", "message.topic")
def test_a_channel_message_needs_a_topic(member: Speaker, channel: Channel) -> None:
    assert "topic" in refused(member, type="channel", to=channel.stream_id, content="x")


@pytest.mark.holds("send-message.topic-direct")
def test_a_topic_is_ignored_for_a_direct_message(member: Speaker) -> None:
    for topic in ("\x01" * 500, "a\0b", "\ufdd0", "x" * 100_000):
        sent = member.post("messages", type="direct", to=[member.id], topic=topic, content="x")["id"]
        assert member.message(sent)["subject"] == ""
    for other in ("a\0b", 5, ["x"], {"a": None}, None):
        body = {"type": "direct", "to": [member.id], "subject": other, "content": "x"}
        sent = check_success(member.http.post("messages", json=body))["id"]
        assert member.message(sent)["subject"] == ""


@pytest.mark.holds("send-message.topic-case")
def test_a_topic_is_trimmed_and_keeps_the_case_it_was_made_with(member: Speaker, channel: Channel) -> None:
    topic = unique("Case")
    first = member.send(channel.stream_id, f"  {topic} ")
    assert member.message(first)["subject"] == topic
    narrow = [{"operator": "channel", "operand": channel.stream_id}, {"operator": "topic", "operand": topic.upper()}]
    second = member.send(channel.stream_id, topic.lower())
    found = member.window(before=9, narrow=narrow)["messages"]
    assert [(message["id"], message["subject"]) for message in found] == [(first, topic), (second, topic)]


@pytest.mark.holds("send-message.topic-characters")
@pytest.mark.parametrize("topic", ["a\tb", "line\nbreak", "\x7f", "a\ufffe", "\ufdd0"])
def test_a_topic_has_no_control_or_non_characters(member: Speaker, channel: Channel, topic: str) -> None:
    refused(member, type="channel", to=channel.stream_id, topic=topic, content="x")


# Whom it is refused


@pytest.mark.holds("send-message.type", "send-message.to", "send-message.content")
def test_a_missing_parameter_is_named(member: Speaker, channel: Channel) -> None:
    whole: Json = {"type": "channel", "to": channel.stream_id, "topic": "t", "content": "x"}
    for name in whole:
        assert name in refused(member, **{**whole, name: None})


@pytest.mark.holds("send-message.type")
@pytest.mark.parametrize("kind", ["", "Channel", "huddle", '"direct"'])
def test_another_type_is_refused(member: Speaker, kind: str) -> None:
    assert "type" in refused(member, type=kind, to=[member.id], content="x")


@pytest.mark.holds("send-message.unknown-channel", "errors.stream-does-not-exist")
def test_a_channel_that_does_not_exist_is_named_back(member: Speaker) -> None:
    name = unique("nowhere")
    fields = {"type": "channel", "topic": "t", "content": "x"}
    refused(member, code="STREAM_DOES_NOT_EXIST", extra={"stream": name}, to=name, **fields)
    refused(member, code="STREAM_DOES_NOT_EXIST", extra={"stream_id": 2**50}, to=2**50, **fields)


@pytest.mark.holds("send-message.unknown-channel")
def test_a_private_channel_looks_like_none_to_those_outside(member: Speaker, private: Channel) -> None:
    fields = {"type": "channel", "topic": "t", "content": "x"}
    refused(member, code="STREAM_DOES_NOT_EXIST", extra={"stream": private.name}, to=private.name, **fields)
    refused(
        member, code="STREAM_DOES_NOT_EXIST", extra={"stream_id": private.stream_id}, to=private.stream_id, **fields
    )


@pytest.mark.holds("send-message.unknown-channel", "send-message.rights")
def test_a_guest_sends_only_where_they_are_subscribed(guest: Speaker, channel: Channel) -> None:
    extra = {"stream_id": channel.stream_id}
    fields = {"type": "channel", "to": channel.stream_id, "topic": "t", "content": "x"}
    refused(guest, code="STREAM_DOES_NOT_EXIST", extra=extra, **fields)


@pytest.mark.holds("send-message.to-unreadable")
@pytest.mark.parametrize(
    "to",
    [
        "[]",
        '["a", "b"]',
        "[1, 2]",
        "[[1]]",
        "[null]",
        "[true]",
        "[1.5]",
        "",
        '""',
    ],
)
def test_what_names_no_channel_is_refused(member: Speaker, to: str) -> None:
    refused(member, type="channel", to=to, topic="t", content="x")


@pytest.mark.holds("send-message.to-unreadable")
@pytest.mark.parametrize("to", [1.5, True, {}, {"id": 1}, None])
def test_a_decoded_value_that_names_no_channel_is_refused(member: Speaker, to: object) -> None:
    body = {"type": "channel", "to": to, "topic": "t", "content": "x"}
    check_error(member.http.post("messages", json=body))


@pytest.mark.holds("send-message.to-unreadable")
@pytest.mark.parametrize("to", ["a" * 61, "a\tb", json.dumps("a\nb")])
def test_what_cannot_be_a_channel_name_is_refused(member: Speaker, to: str) -> None:
    refused(member, type="channel", to=to, topic="t", content="x")


@pytest.mark.holds("send-message.to-unreadable")
@pytest.mark.parametrize(
    "to",
    ["[]", "", '""', ",", "null", '[1, "a@example.com"]', "{}", "[[1]]", "[null]", "[true]", "[1.5]", "true", "1.5",
     "[-1]", "[0]", str(2**62), str(10**30), '["nobody at all"]', "nobody@nowhere.example", "[9007199254740993]"],
)  # fmt: skip
def test_what_names_no_people_is_refused(member: Speaker, to: str) -> None:
    refused(member, type="direct", to=to, content="x")


@pytest.mark.holds("send-message.unknown-user")
def test_one_unknown_recipient_refuses_the_whole_message(member: Speaker, other: Speaker) -> None:
    with other.register() as queue:
        refused(member, type="direct", to=[other.id, 2**50], content="x")
        refused(member, type="direct", to=f"{other.email},nobody@nowhere.example", content="x")
        assert [event for event in queue.so_far() if event["message"]["sender_id"] == member.id] == []


# Read state of the sender


@pytest.mark.holds("send-message.read-by-sender")
@pytest.mark.parametrize(("asked", "flags"), [(True, ["read"]), (False, [])])
def test_read_by_sender_decides_for_the_sender_only(
    member: Speaker, other: Speaker, channel: Channel, asked: bool, flags: list[str]
) -> None:
    sent = member.send(channel.stream_id, unique("seen"), read_by_sender=asked)
    assert member.message(sent)["flags"] == flags
    assert other.message(sent)["flags"] == []


@pytest.mark.holds("send-message.read-by-sender-absent")
@pytest.mark.parametrize(("client", "flags"), [("website", ["read"]), ("ZulipMobile", ["read"]), ("a script", [])])
def test_without_it_the_name_of_the_client_decides(member: Speaker, client: str, flags: list[str]) -> None:
    assert member.message(member.send([member.id], client=client))["flags"] == flags


@pytest.mark.holds("send-message.read-by-sender")
def test_read_by_sender_is_a_boolean(member: Speaker) -> None:
    refused(member, type="direct", to=[member.id], content="x", read_by_sender="yes")


# Sending once


@pytest.mark.holds("send-message.idempotency")
def test_a_repeat_with_the_same_key_sends_nothing_and_returns_the_first_answer(
    member: Speaker, other: Speaker, channel: Channel
) -> None:
    topic, key = unique("once"), {"Idempotency-Key": unique("key")}
    fields = {"type": "channel", "to": str(channel.stream_id), "topic": topic, "content": "Hello"}
    first = member.http.post("messages", data=fields, headers=key)
    again = member.http.post("messages", data=fields, headers=key)
    assert first.json() == again.json()
    narrow = [["channel", channel.name], ["topic", topic]]
    assert len(member.window(before=9, narrow=narrow)["messages"]) == 1
    assert check_success(other.http.post("messages", data=fields, headers=key))["id"] != first.json()["id"]


@pytest.mark.holds("send-message.idempotency")
def test_a_refused_message_does_not_use_its_key(member: Speaker) -> None:
    key = {"Idempotency-Key": unique("key")}
    fields = {"type": "direct", "to": json.dumps([member.id])}
    check_error(member.http.post("messages", data={**fields, "content": " "}, headers=key))
    assert check_success(member.http.post("messages", data={**fields, "content": "x"}, headers=key))["id"] > 0


@pytest.mark.holds("send-message.idempotency")
@pytest.mark.parametrize("key", ["", "k" * 201])
def test_a_key_has_1_to_200_characters(member: Speaker, key: str) -> None:
    fields = {"type": "direct", "to": json.dumps([member.id]), "content": "x"}
    check_error(member.http.post("messages", data=fields, headers={"Idempotency-Key": key}))
