"""Archiving channels and taking them back into use."""

import pytest

from tests.harness.channels import change, heard, listening, make, record_of, refused, seen
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.talk import Speaker, check_error, check_success, unique


def archive(speaker: Speaker, channel: Channel) -> None:
    speaker.delete(f"streams/{channel.stream_id}")


def send(speaker: Speaker, channel: Channel) -> int:
    fields = {"type": "channel", "to": channel.stream_id, "topic": "x", "content": "x"}
    return speaker.request("POST", "messages", **fields).status_code


def test_whoever_knows_archived_channels_hears_so_and_for_the_others_it_is_gone(realm: Realm) -> None:
    channel = make(realm, realm.member)
    with (
        listening(realm.member, archived=True) as knowing,
        listening(realm.member) as other,
        listening(realm.moderator) as outside,
        listening(realm.guest, archived=True) as guest,
    ):
        archive(realm.owner, channel)
        told = {"op": "update", "property": "is_archived", "value": True}
        assert heard(knowing) == [{**told, "stream_id": channel.stream_id, "name": channel.name}]
        gone = {"op": "delete", "stream_ids": [channel.stream_id], "streams": [{"stream_id": channel.stream_id}]}
        for queue in (other, outside):
            assert heard(queue) == [{**gone, "for_archiving": True}]
        assert heard(guest) == []
    assert seen(realm.member, channel) is None
    found = seen(realm.member, channel, archived=True)
    assert found is not None
    assert (found[0], found[1]["is_archived"]) == ("subscriptions", True)


def test_nobody_sends_to_it_and_what_was_said_stays(realm: Realm) -> None:
    channel = make(realm, realm.member)
    said = realm.member.send(channel.stream_id, "before")
    archive(realm.owner, channel)
    for speaker in (realm.owner, realm.member, realm.moderator):
        assert send(speaker, channel) == 400
    narrow = [{"operator": "channel", "operand": channel.stream_id}]
    found = realm.member.window(before=5, narrow=narrow)["messages"]
    assert [message["id"] for message in found] == [said]
    change(realm.owner, channel, is_archived=False)
    assert send(realm.member, channel) == 200


def test_subscriptions_stay_as_they_are(realm: Realm) -> None:
    channel = make(realm, realm.member)
    archive(realm.owner, channel)
    for method, fields in (
        ("POST", {"subscriptions": [{"name": channel.name}]}),
        ("DELETE", {"subscriptions": [channel.name]}),
    ):
        for speaker in (realm.member, realm.moderator):
            assert speaker.request(method, "users/me/subscriptions", **fields).status_code == 400
    data = [{"stream_id": channel.stream_id, "property": "is_muted", "value": True}]
    check_error(realm.member.request("POST", "users/me/subscriptions/properties", subscription_data=data))
    assert record_of(realm.member, channel)["subscriber_count"] == 1


def test_coming_back_is_told_with_everything_a_client_lost(realm: Realm) -> None:
    channel = make(realm, realm.member)
    data = [{"stream_id": channel.stream_id, "property": "color", "value": "#123123"}]
    realm.member.post("users/me/subscriptions/properties", subscription_data=data)
    archive(realm.owner, channel)
    with (
        listening(realm.member, archived=True) as knowing,
        listening(realm.member) as other,
        listening(realm.moderator) as outside,
    ):
        change(realm.owner, channel, is_archived=False)
        assert [(event["op"], event["property"], event["value"]) for event in heard(knowing)] == [
            ("update", "is_archived", False)
        ]
        events = [event for event in other.so_far() if event["type"] in ("stream", "subscription")]
        assert [(event["type"], event["op"]) for event in events] == [("stream", "create"), ("subscription", "add")]
        assert events[0]["for_unarchiving"] is True
        assert events[1]["subscriptions"][0]["color"] == "#123123"
        assert events[1]["subscriptions"] == [seen(realm.member, channel)[1]]  # type: ignore[index]
        [event] = heard(outside)
        assert event["streams"] == [seen(realm.moderator, channel)[1]]  # type: ignore[index]


def test_archiving_twice_and_taking_back_what_is_in_use_are_refused(realm: Realm) -> None:
    channel = make(realm, realm.member)
    refused(realm.owner, channel, is_archived=False)
    archive(realm.owner, channel)
    check_error(realm.owner.request("DELETE", f"streams/{channel.stream_id}"))
    change(realm.owner, channel, is_archived=True)  # without effect
    change(realm.owner, channel, is_archived=False, new_name=unique("back"))


def test_a_private_channel_without_subscribers_stays_archived(realm: Realm) -> None:
    channel = make(realm, kind="shared")
    archive(realm.owner, channel)
    refused(realm.owner, channel, is_archived=False)


def test_who_may_archive(realm: Realm) -> None:
    channel, private = make(realm, realm.member), make(realm, realm.member, kind="protected")
    for speaker in (realm.moderator, realm.member):
        check_error(speaker.request("DELETE", f"streams/{channel.stream_id}"))
    for unknown in (private.stream_id, 999_999_999):
        reply = realm.moderator.request("DELETE", f"streams/{unknown}")
        check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=unknown)
    archive(realm.administrator, private)
    change(
        realm.owner,
        channel,
        can_administer_channel_group={"new": {"direct_members": [realm.member.id], "direct_subgroups": []}},
    )
    archive(realm.member, channel)


def test_it_leaves_the_default_channels_and_the_settings_of_the_organization(realm: Realm) -> None:
    channel = make(realm, realm.owner)
    change(realm.owner, channel, is_default_stream=True)
    fields = {"new_stream_announcements_stream_id": channel.stream_id}
    check_success(realm.owner.request("PATCH", "realm", **fields))
    with listening(realm.member) as queue:
        archive(realm.owner, channel)
        events = queue.so_far()
        assert [event["default_streams"] for event in events if event["type"] == "default_streams"] == [[]]
        [told] = [event for event in events if event["type"] == "realm"]
        shown = told.get("data", {told.get("property"): told.get("value")})
        assert shown == {"new_stream_announcements_stream_id": -1}
    refused(realm.owner, channel, is_default_stream=True)


def test_changes_of_an_archived_channel_are_told_to_those_who_know_it(realm: Realm) -> None:
    channel = make(realm, realm.member)
    archive(realm.owner, channel)
    with listening(realm.member, archived=True) as knowing, listening(realm.member) as other:
        change(realm.owner, channel, description="it was about this")
        assert [event["property"] for event in heard(knowing)] == ["description"]
        assert heard(other) == []


@pytest.mark.parametrize("kind", ["public", "protected"])
def test_the_mail_address_is_for_those_who_may_post(realm: Realm, kind: str) -> None:
    channel = make(realm, realm.member, kind=kind)
    path = f"streams/{channel.stream_id}/email_address"
    assert realm.member.get(path)["email"] == ""  # nobody has made one
    hidden = realm.guest if kind == "public" else realm.administrator
    check_error(hidden.request("GET", path), "STREAM_DOES_NOT_EXIST", stream_id=channel.stream_id)
    everybody = realm.owner.get("user_groups")["user_groups"]
    nobody = next(group["id"] for group in everybody if group["name"] == "role:nobody")
    change(realm.owner, channel, can_send_message_group={"new": nobody})
    check_error(realm.member.request("GET", path))
