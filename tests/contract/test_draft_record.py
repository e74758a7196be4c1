"""The draft and its fields, as they come back (protocol/records.md#draft)."""

import time

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error


def kept(speaker: Speaker, draft: Json) -> Json:
    """Keep a draft; as it comes back."""
    [draft_id] = speaker.post("drafts", drafts=[draft])["ids"]
    [found] = [one for one in speaker.get("drafts")["drafts"] if one["id"] == draft_id]
    shown: Json = found
    return shown


@pytest.mark.holds("draft.id", "draft.type", "draft.to-channel", "draft.topic", "draft.content")
def test_a_channel_draft_has_one_channel_and_a_topic(newcomer: Speaker, channel: Channel) -> None:
    sent = {"type": "stream", "to": [channel.stream_id], "topic": "Plans", "content": "Let us", "timestamp": 1595479019}
    found = kept(newcomer, sent)
    assert isinstance(found.pop("id"), int)
    assert found == sent


@pytest.mark.holds("draft.to-direct", "draft.type")
def test_a_direct_draft_names_people_without_oneself(newcomer: Speaker, member: Speaker, other: Speaker) -> None:
    people = [other.id, newcomer.id, member.id]
    found = kept(newcomer, {"type": "private", "to": people, "topic": "ignored", "content": "Hi"})
    assert (found["type"], found["to"], found["topic"]) == ("private", sorted([member.id, other.id]), "")
    assert kept(newcomer, {"type": "private", "to": [newcomer.id], "topic": "", "content": "Me"})["to"] == [newcomer.id]


@pytest.mark.holds("draft.to-none", "draft.type", "draft.topic")
def test_a_draft_without_address_ignores_whom_and_what_about(newcomer: Speaker) -> None:
    found = kept(newcomer, {"type": "", "to": [1, 2, 3], "topic": "ignored", "content": "Somewhere"})
    assert (found["type"], found["to"], found["topic"]) == ("", [], "")
    nobody_yet = kept(newcomer, {"type": "private", "to": [], "topic": "", "content": "To whom?"})
    assert (nobody_yet["type"], nobody_yet["to"]) == ("", [])


@pytest.mark.holds("draft.timestamp")
def test_the_time_is_filled_in_and_is_whole_seconds(newcomer: Speaker) -> None:
    found = kept(newcomer, {"type": "", "to": [], "topic": "", "content": "Now"})
    assert isinstance(found["timestamp"], int)
    assert abs(found["timestamp"] - time.time()) < 60
    assert kept(newcomer, {"type": "", "to": [], "topic": "", "content": "Then", "timestamp": 11})["timestamp"] == 11


@pytest.mark.holds("draft.type", "draft.to", "draft.topic", "draft.content")
@pytest.mark.parametrize("field", ["type", "to", "topic", "content"])
def test_each_field_but_the_time_is_required(newcomer: Speaker, field: str) -> None:
    draft: Json = {"type": "", "to": [], "topic": "", "content": "Text"}
    del draft[field]
    assert field in check_error(newcomer.request("POST", "drafts", drafts=[draft]))


@pytest.mark.holds("draft.id", "draft.type", "draft.to", "draft.content", "draft.timestamp")
@pytest.mark.parametrize(
    "change",
    [
        {"id": 7},
        {"colour": "red"},
        {"type": "channel"},
        {"to": 5},
        {"to": ["five"]},
        {"timestamp": -1},
        {"timestamp": 1.5},
        {"timestamp": 1000000000.75},
        {"timestamp": True},
        {"timestamp": "soon"},
        {"content": ""},
        {"content": " \n "},
        {"content": "a\0b"},
        {"type": "private", "to": [999_999_999]},
        {"type": "stream", "to": []},
        {"type": "stream", "to": [1, 2]},
    ],
    ids=lambda change: str(change)[:40],
)
def test_what_a_draft_cannot_be(newcomer: Speaker, change: Json) -> None:
    draft: Json = {"type": "", "to": [], "topic": "", "content": "Text"} | change
    check_error(newcomer.request("POST", "drafts", drafts=[draft]))
    assert newcomer.get("drafts") == {"result": "success", "msg": "", "count": 0, "drafts": []}


@pytest.mark.holds("draft.topic")
def test_no_topic_has_null_bytes(member: Speaker, channel: Channel) -> None:
    for kind, to in (("stream", [channel.stream_id]), ("private", []), ("", [])):
        draft = {"type": kind, "to": to, "topic": "a\0b", "content": "Text"}
        check_error(member.request("POST", "drafts", drafts=[draft]))
