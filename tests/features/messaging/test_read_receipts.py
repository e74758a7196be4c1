"""GET /messages/{id}/read_receipts."""

import pytest

from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, check_error, check_success


@pytest.fixture
def open_realm(realm: Realm) -> Realm:
    """An organization that shows who has read what."""
    check_success(realm.owner.request("PATCH", "realm", enable_read_receipts=True))
    return realm


@pytest.fixture
def channel(stage: Stage, open_realm: Realm) -> Channel:
    return stage.channel(*open_realm.all, realm_id=open_realm.id)


def readers(speaker: Speaker, message_id: int) -> list[int]:
    found: list[int] = speaker.get(f"messages/{message_id}/read_receipts")["user_ids"]
    return found


def read(message_id: int, *people: Speaker) -> None:
    for speaker in people:
        speaker.post("messages/flags", messages=[message_id], op="add", flag="read")


def test_receipts_are_off_unless_the_organization_shows_them(realm: Realm) -> None:
    sent = realm.member.send([realm.member.id])
    assert "disabled" in check_error(realm.member.request("GET", f"messages/{sent}/read_receipts"))


def test_whoever_has_read_a_message_is_listed_but_not_its_sender(open_realm: Realm, channel: Channel) -> None:
    owner, administrator, moderator, member, guest = open_realm.all
    sent = owner.send(channel.stream_id, "topic", read_by_sender=True)
    assert readers(member, sent) == []
    read(sent, moderator, guest)
    for speaker in open_realm.all:
        assert readers(speaker, sent) == sorted([moderator.id, guest.id])
    moderator.post("messages/flags", messages=[sent], op="remove", flag="read")
    assert readers(administrator, sent) == [guest.id]


def test_direct_messages_have_receipts(open_realm: Realm) -> None:
    owner, _, moderator, member, guest = open_realm.all
    sent = owner.send([member.id, moderator.id])
    read(sent, member)
    assert readers(owner, sent) == [member.id]
    check_error(guest.request("GET", f"messages/{sent}/read_receipts"))


def test_what_was_never_received_was_not_read(stage: Stage, open_realm: Realm, channel: Channel) -> None:
    sent = open_realm.owner.send(channel.stream_id, "topic")
    late = open_realm.speaker()
    late.post("users/me/subscriptions", subscriptions=[{"name": channel.name}])
    assert readers(open_realm.owner, sent) == []


def test_whoever_keeps_it_to_themselves_is_not_listed(open_realm: Realm, channel: Channel) -> None:
    sent = open_realm.owner.send(channel.stream_id, "topic")
    read(sent, open_realm.member, open_realm.moderator)
    check_success(open_realm.member.request("PATCH", "settings", send_read_receipts=False))
    assert readers(open_realm.owner, sent) == [open_realm.moderator.id]


def test_muted_users_do_not_see_each_other(open_realm: Realm, channel: Channel) -> None:
    owner, administrator, moderator, member, guest = open_realm.all
    sent = owner.send(channel.stream_id, "topic")
    read(sent, administrator, moderator, guest)
    member.post(f"users/me/muted_users/{moderator.id}")
    guest.post(f"users/me/muted_users/{member.id}")
    assert readers(member, sent) == [administrator.id]
    assert readers(owner, sent) == sorted([administrator.id, moderator.id, guest.id])


def test_deactivated_users_are_not_listed(open_realm: Realm, channel: Channel) -> None:
    sent = open_realm.owner.send(channel.stream_id, "topic")
    read(sent, open_realm.member)
    open_realm.owner.delete(f"users/{open_realm.member.id}")
    assert readers(open_realm.owner, sent) == []


def test_what_is_out_of_reach_is_refused_as_what_does_not_exist(open_realm: Realm) -> None:
    sent = open_realm.owner.send([open_realm.moderator.id])
    texts = {
        check_error(open_realm.member.request("GET", f"messages/{message_id}/read_receipts"))
        for message_id in (sent, 2**50)
    }
    assert len(texts) == 1
