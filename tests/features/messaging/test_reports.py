"""Telling moderators of a message."""

from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.talk import Json, check_error, check_success


def prepare(realm: Realm) -> tuple[Channel, Channel]:
    """Where reports go, and where people talk."""
    moderators = realm.stage.channel(realm.owner, realm_id=realm.id, invite_only=True)
    return moderators, realm.stage.channel(realm.owner, realm.member, realm.guest, realm_id=realm.id)


def reports_in(realm: Realm, channel: Channel) -> list[Json]:
    narrow = [{"operator": "channel", "operand": channel.stream_id}]
    found: list[Json] = realm.owner.window(before=10, narrow=narrow, apply_markdown=False)["messages"]
    return found


def test_a_report_is_told_in_the_channel_for_moderation_requests(realm: Realm) -> None:
    moderators, talk = prepare(realm)
    text = "Buy ~~~ this\n~~~~quote\n@**all**\n~~~~"
    message_id = realm.member.send(talk.stream_id, "tea", text)
    path = f"messages/{message_id}/report"
    check_error(realm.guest.request("POST", path, report_type="spam"))
    check_error(realm.owner.request("PATCH", "realm", moderation_request_channel_id=talk.stream_id))
    check_success(realm.owner.request("PATCH", "realm", moderation_request_channel_id=moderators.stream_id))
    check_error(realm.guest.request("POST", path, report_type="other", description=" "))
    check_error(realm.guest.request("POST", path, report_type="boredom"))
    check_error(realm.guest.request("POST", path, report_type="spam", description="x" * 1001))
    realm.guest.post(path, report_type="other", description="They sell things")
    [told] = reports_in(realm, moderators)
    assert told["sender_full_name"] == "Notification Bot"
    assert told["subject"].startswith("Reports about ")
    for part in (text, "They sell things", f"|{realm.guest.id}**", f"|{realm.member.id}**", f"tea@{message_id}**"):
        assert part in told["content"]
    assert "mentioned" not in told["flags"]
    assert "wildcard_mentioned" not in told["flags"]


def test_only_who_reads_a_message_reports_it(realm: Realm) -> None:
    moderators, talk = prepare(realm)
    check_success(realm.owner.request("PATCH", "realm", moderation_request_channel_id=moderators.stream_id))
    secret = realm.owner.send([realm.member.id], content="x" * 10_000)
    for speaker, message_id in ((realm.guest, secret), (realm.guest, 1), (realm.moderator, secret)):
        check_error(speaker.request("POST", f"messages/{message_id}/report", report_type="spam"))
    realm.member.post(f"messages/{secret}/report", report_type="harassment")
    [told] = reports_in(realm, moderators)
    assert "a direct message" in told["content"]
    assert "longer" in told["content"]
    del talk
