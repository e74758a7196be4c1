"""GET /messages/{id} (protocol/messages.md#get-messages)."""

import pytest

from tests.contract.conftest import Cast
from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, unique


def one(speaker: Speaker, message_id: int, **fields: object) -> Json:
    message: Json = speaker.get(f"messages/{message_id}", **fields)["message"]
    return message


@pytest.mark.holds("get-messages.one")
def test_a_message_is_what_a_fetch_shows_and_its_raw_text_is_beside_it(member: Speaker, channel: Channel) -> None:
    sent = member.send(channel.stream_id, unique("one"), "a < b")
    answer = member.get(f"messages/{sent}")
    assert answer["message"] == member.message(sent)
    assert answer["raw_content"] == "a < b"
    assert one(member, sent, apply_markdown=False)["content"] == "a < b"


@pytest.mark.holds("get-messages.empty-topic")
def test_the_empty_topic_is_shown_by_name_unless_asked_otherwise(
    member: Speaker, channel: Channel, empty_topic: str
) -> None:
    sent = member.send(channel.stream_id, "")
    assert one(member, sent)["subject"] == empty_topic
    assert one(member, sent, allow_empty_topic_name=True)["subject"] == ""


@pytest.mark.holds("get-messages.one-reach")
def test_a_direct_message_is_seen_by_those_who_take_part(cast: Cast) -> None:
    sent = cast.member.send([cast.other.id])
    assert one(cast.other, sent)["id"] == one(cast.member, sent)["id"] == sent
    refused(cast.owner, sent)


@pytest.mark.holds("get-messages.one-reach")
def test_a_public_channel_is_read_by_every_member_but_not_by_guests(cast: Cast) -> None:
    name = unique("open")
    cast.owner.post("users/me/subscriptions", subscriptions=[{"name": name}])
    sent = cast.owner.send(name, "topic")
    assert one(cast.member, sent)["flags"] == ["read", "historical"]
    refused(cast.guest, sent)


@pytest.mark.holds("get-messages.one-reach")
def test_a_private_channel_is_read_by_its_subscribers_only(cast: Cast) -> None:
    sent = cast.owner.send(cast.private.stream_id, unique("private"))
    assert one(cast.owner, sent)["id"] == sent
    refused(cast.member, sent)


@pytest.mark.holds("get-messages.one-reach")
@pytest.mark.parametrize("message_id", [0, 2**62, 2**63 - 1])
def test_an_unknown_message_is_refused_in_the_same_words(cast: Cast, message_id: int) -> None:
    sent = cast.owner.send([cast.owner.id])
    assert refused(cast.member, message_id) == refused(cast.member, sent)


def refused(speaker: Speaker, message_id: int) -> str:
    return check_error(speaker.request("GET", f"messages/{message_id}"))
