"""Changing channels: who may, what is refused, what is told."""

import pytest

from tertulia.conversations.channels.actions import subscribe
from tests.harness.channels import KINDS, change, heard, hidden, listening, make, record_of, refused, seen
from tests.harness.realm import Realm
from tests.harness.stage import at_once
from tests.harness.talk import Json, Speaker, unique

SETTINGS = (
    *("can_add_subscribers_group", "can_administer_channel_group", "can_create_topic_group"),
    *("can_delete_any_message_group", "can_delete_own_message_group", "can_move_messages_out_of_channel_group"),
    *("can_move_messages_within_channel_group", "can_remove_subscribers_group", "can_resolve_topics_group"),
    *("can_send_message_group", "can_subscribe_group"),
)


def group(speaker: Speaker, name: str) -> int:
    groups = speaker.get("user_groups")["user_groups"]
    found: int = next(one["id"] for one in groups if one["name"] == f"role:{name}")
    return found


def anonymous(*people: Speaker) -> Json:
    return {"direct_members": sorted(person.id for person in people), "direct_subgroups": []}


def permit(realm: Realm, **settings: object) -> None:
    """Let the organization's owner change who holds permissions."""
    fields = {name: {"new": value} for name, value in settings.items()}
    assert realm.owner.request("PATCH", "realm", **fields).status_code == 200


# Who may


def test_administrators_and_those_who_administer_the_channel_change_it(realm: Realm) -> None:
    channel = make(realm, realm.member, realm.guest)
    for who in (realm.moderator, realm.member, realm.guest):
        refused(who, channel, description="mine")
    for who in (realm.owner, realm.administrator):
        change(who, channel, description=unique("by"))
    change(realm.administrator, channel, can_administer_channel_group={"new": anonymous(realm.member)})
    change(realm.member, channel, description="mine")
    assert record_of(realm.member, channel)["description"] == "mine"


def test_a_guest_never_administers(realm: Realm) -> None:
    channel = make(realm, realm.guest)
    change(realm.owner, channel, can_administer_channel_group={"new": anonymous(realm.guest)})
    refused(realm.guest, channel, description="mine")


@pytest.mark.parametrize("kind", ["shared", "protected"])
def test_a_private_channel_does_not_exist_for_those_outside(realm: Realm, kind: str) -> None:
    channel = make(realm, realm.member, kind=kind)
    for who in (realm.moderator, realm.guest):
        hidden(who, channel, description="mine")
        hidden(who, 999_999_999, description="mine")
    change(realm.administrator, channel, description="an administrator may, without being inside")


def test_a_channel_of_another_organization_does_not_exist(realm: Realm) -> None:
    other = Realm(realm.stage)
    hidden(other.owner, make(realm), description="mine")


def test_nothing_to_change_is_refused(realm: Realm) -> None:
    refused(realm.owner, make(realm))


# Name and description


def test_a_new_name_is_told_with_the_old_one(realm: Realm) -> None:
    channel, name = make(realm, realm.member), unique("Renamed")
    with listening(realm.member) as queue, listening(realm.guest) as outside:
        change(realm.owner, channel, new_name=f"  {name} ")
        change(realm.owner, channel, new_name=name.upper())
        told = {"op": "update", "property": "name", "stream_id": channel.stream_id}
        assert heard(queue) == [
            {**told, "value": name, "name": channel.name},
            {**told, "value": name.upper(), "name": name},
        ]
        assert heard(outside) == []
    assert record_of(realm.member, channel)["name"] == name.upper()
    realm.member.send(name, "by its new name")


def test_names_that_cannot_be(realm: Realm) -> None:
    channel, other = make(realm), make(realm)
    for bad in ("", "  ", "x" * 61, "a\nb"):
        refused(realm.owner, channel, new_name=bad)
    refused(realm.owner, channel, new_name=channel.name)
    for taken in (other.name, other.name.upper()):
        body = refused(realm.owner, channel, "CHANNEL_ALREADY_EXISTS", new_name=taken)
        assert body["channel_name"] == taken
    realm.owner.delete(f"streams/{other.stream_id}")
    refused(realm.owner, channel, "CHANNEL_ALREADY_EXISTS", new_name=other.name)


def test_two_channels_do_not_get_one_name_at_once(realm: Realm) -> None:
    channels, name = [make(realm) for _ in range(4)], unique("wanted")
    replies = at_once(
        [
            lambda channel=channel: realm.owner.request("PATCH", f"streams/{channel.stream_id}", new_name=name)  # type: ignore[misc]
            for channel in channels
        ]
    )
    assert sorted(reply.status_code for reply in replies) == [200, 409, 409, 409]


def test_a_description_is_told_with_its_html(realm: Realm) -> None:
    channel = make(realm, realm.member)
    with listening(realm.member) as queue:
        change(realm.owner, channel, description="a < b\nand more")
        change(realm.owner, channel, description="a < b and more")  # as it is
        assert heard(queue) == [
            {
                "op": "update",
                "property": "description",
                "value": "a < b and more",
                "rendered_description": record_of(realm.member, channel)["rendered_description"],
                "stream_id": channel.stream_id,
                "name": channel.name,
            }
        ]
    refused(realm.owner, channel, description="x" * 1025)
    change(realm.owner, channel, description="")
    assert record_of(realm.member, channel)["rendered_description"] == ""


# Privacy


def fields_of(kind: str) -> Json:
    wanted = dict(KINDS[kind])
    wanted["is_private"] = wanted.pop("invite_only")
    return wanted


@pytest.mark.parametrize("before", KINDS)
@pytest.mark.parametrize("after", ["public", "shared", "protected"])
def test_from_each_privacy_to_each_other_one(realm: Realm, before: str, after: str) -> None:
    """Whoever sees the channel before and after hears of the change, the others that it is there or gone."""
    member = realm.speaker()
    channel = make(realm, realm.owner, member, kind=before)
    sights = {
        "web-public": {"inside", "administrator", "outside", "guest"},
        "public": {"inside", "administrator", "outside"},
        "shared": {"inside", "administrator"},
        "protected": {"inside", "administrator"},
    }
    people = {"inside": member, "administrator": realm.administrator, "outside": realm.moderator, "guest": realm.guest}
    queues = {name: listening(speaker) for name, speaker in people.items()}
    change(realm.owner, channel, **fields_of(after))
    record = record_of(realm.owner, channel)
    assert {key: record[key] for key in KINDS[after]} == KINDS[after]
    for name, queue in queues.items():
        told = heard(queue)
        seen_before, seen_after = name in sights[before], name in sights[after]
        if before == after or not (seen_before or seen_after):
            assert told == [], name
        elif seen_before and seen_after:
            privacy = {"property": "invite_only", "value": KINDS[after]["invite_only"]}
            privacy |= {key: KINDS[after][key] for key in ("history_public_to_subscribers", "is_web_public")}
            assert told == [{"op": "update", "stream_id": channel.stream_id, "name": channel.name, **privacy}], name
        elif seen_after:
            [event] = told
            assert (event["op"], event["streams"]) == ("create", [shown(people[name], channel.stream_id)]), name
        else:
            gone = {"op": "delete", "stream_ids": [channel.stream_id]}
            assert told == [gone | {"streams": [{"stream_id": channel.stream_id}]}], name
        assert (seen(people[name], channel) is not None) == seen_after, name


def shown(speaker: Speaker, channel_id: int) -> Json:
    """The record of a channel somebody sees and was never in."""
    with listening(speaker) as queue:
        [found] = [one for one in queue.state["never_subscribed"] if one["stream_id"] == channel_id]
        record: Json = found
        return record


def test_a_channel_made_private_is_protected_unless_said_otherwise(realm: Realm) -> None:
    channel = make(realm, realm.owner)
    change(realm.owner, channel, is_private=True)
    assert record_of(realm.owner, channel)["history_public_to_subscribers"] is False
    change(realm.owner, channel, is_private=False)
    assert record_of(realm.owner, channel)["history_public_to_subscribers"] is True
    change(realm.owner, channel, is_private=True, history_public_to_subscribers=True)
    change(realm.owner, channel, is_private=True)  # as it is: its history stays shared
    assert record_of(realm.owner, channel)["history_public_to_subscribers"] is True


def test_what_is_none_of_the_four_is_refused(realm: Realm) -> None:
    public = make(realm, realm.owner)
    refused(realm.owner, public, history_public_to_subscribers=False)
    refused(realm.owner, public, is_private=True, is_web_public=True)
    refused(realm.owner, public, is_private=False, history_public_to_subscribers=False)
    refused(realm.owner, public, is_web_public=True)  # not enabled on this server


def test_privacy_is_changed_only_by_those_who_can_read_the_channel(realm: Realm) -> None:
    channel = make(realm, realm.member, kind="shared")
    refused(realm.administrator, channel, is_private=False)
    refused(realm.administrator, channel, history_public_to_subscribers=False)
    for setting in ("can_add_subscribers_group", "can_subscribe_group"):
        refused(realm.administrator, channel, **{setting: {"new": anonymous(realm.administrator)}})
        change(realm.administrator, channel, **{setting: {"new": group(realm.owner, "nobody")}})  # as it is
    change(realm.administrator, channel, can_administer_channel_group={"new": anonymous(realm.member)})
    change(realm.member, channel, is_private=False)


def test_privacy_needs_the_right_to_make_such_a_channel(realm: Realm) -> None:
    channel = make(realm, realm.member)
    change(realm.owner, channel, can_administer_channel_group={"new": anonymous(realm.member)})
    permit(realm, can_create_private_channel_group=group(realm.owner, "moderators"))
    refused(realm.member, channel, is_private=True)
    permit(realm, can_create_private_channel_group=group(realm.owner, "members"))
    change(realm.member, channel, is_private=True)
    permit(realm, can_create_public_channel_group=group(realm.owner, "moderators"))
    refused(realm.member, channel, is_private=False)
    change(realm.member, channel, history_public_to_subscribers=True)


def test_what_was_said_before_is_open_to_those_who_join_later_only_where_history_is_shared(realm: Realm) -> None:
    late = realm.speaker()
    channel = make(realm, realm.owner, kind="protected")
    early = realm.owner.send(channel.stream_id, "early")
    realm.stage.write(lambda tx: subscribe(tx, realm.id, [channel.stream_id], [late.id]))
    narrow = [{"operator": "channel", "operand": channel.stream_id}]
    found = late.window(before=10, narrow=narrow)["messages"]
    assert found == []
    change(realm.owner, channel, history_public_to_subscribers=True)
    found = late.window(before=10, narrow=narrow)["messages"]
    assert [message["id"] for message in found] == [early]


# Default, retention, topics, folder


def test_default_channels_are_chosen_by_administrators_and_public(realm: Realm) -> None:
    channel = make(realm, realm.owner)
    change(realm.owner, channel, can_administer_channel_group={"new": anonymous(realm.member)})
    refused(realm.member, channel, is_default_stream=True)
    with listening(realm.member) as queue:
        change(realm.administrator, channel, is_default_stream=True)
        assert heard(queue, "default_streams") == [{"default_streams": [channel.stream_id]}]
    refused(realm.owner, channel, is_private=True)
    refused(realm.owner, channel, is_private=True, is_default_stream=True)
    change(realm.owner, channel, is_private=True, is_default_stream=False)
    refused(realm.owner, channel, is_default_stream=True)


@pytest.mark.parametrize(
    ("sent", "stored"), [(30, 30), ("unlimited", -1), ('"unlimited"', -1), ("realm_default", None)]
)
def test_owners_say_how_long_messages_are_kept(realm: Realm, sent: object, stored: int | None) -> None:
    channel = make(realm, realm.member)
    change(realm.owner, channel, message_retention_days=7)
    with listening(realm.member) as queue:
        change(realm.owner, channel, message_retention_days=sent)
        assert [(event["property"], event["value"]) for event in heard(queue)] == [("message_retention_days", stored)]
    refused(realm.administrator, channel, "UNAUTHORIZED_PRINCIPAL", message_retention_days=3)
    for bad in (0, -1, "forever", 1.5):
        refused(realm.owner, channel, message_retention_days=bad)


@pytest.mark.holds("channel.topics-policy-empty-only")
def test_the_policy_for_topics_is_told_and_kept(realm: Realm) -> None:
    channel = make(realm, realm.member)
    with listening(realm.member) as queue:
        change(realm.owner, channel, topics_policy="empty_topic_only")
        assert [(event["property"], event["value"]) for event in heard(queue)] == [
            ("topics_policy", "empty_topic_only")
        ]
    body = realm.member.request("POST", "messages", type="channel", to=channel.stream_id, topic="named", content="x")
    assert body.status_code == 400
    realm.member.send(channel.stream_id, "")
    change(realm.owner, channel, topics_policy="inherit")
    realm.member.send(channel.stream_id, "named")
    assert "general chat" in refused(realm.owner, channel, topics_policy="empty_topic_only")["msg"]
    refused(realm.owner, channel, topics_policy="anything")


def test_a_policy_for_topics_needs_its_right(realm: Realm) -> None:
    channel = make(realm, realm.member)
    change(realm.owner, channel, can_administer_channel_group={"new": anonymous(realm.member)})
    permit(realm, can_set_topics_policy_group=group(realm.owner, "moderators"))
    refused(realm.member, channel, topics_policy="disable_empty_topic")
    change(realm.administrator, channel, topics_policy="disable_empty_topic")


def test_a_channel_goes_into_a_folder_and_out(realm: Realm) -> None:
    channel = make(realm, realm.member)
    folder_id = realm.owner.post("channel_folders/create", name=unique("folder"), description="")["channel_folder_id"]
    with listening(realm.member) as queue:
        change(realm.owner, channel, folder_id=folder_id)
        change(realm.owner, channel, folder_id="null")
        assert [(event["property"], event["value"]) for event in heard(queue)] == [
            ("folder_id", folder_id),
            ("folder_id", None),
        ]
    for bad in (999_999_999, "x", "true", "1.5"):
        refused(realm.owner, channel, folder_id=bad)
    elsewhere = Realm(realm.stage).owner.post("channel_folders/create", name="x", description="")
    refused(realm.owner, channel, folder_id=elsewhere["channel_folder_id"])


def test_a_folder_with_channels_is_not_archived(realm: Realm) -> None:
    channel = make(realm)
    folder_id = realm.owner.post("channel_folders/create", name=unique("folder"), description="")["channel_folder_id"]
    change(realm.owner, channel, folder_id=folder_id)
    path = f"channel_folders/{folder_id}"
    assert realm.owner.request("PATCH", path, is_archived=True).status_code == 400
    change(realm.owner, channel, folder_id="null")
    assert realm.owner.request("PATCH", path, is_archived=True).status_code == 200
    refused(realm.owner, channel, folder_id=folder_id)


# Permissions


@pytest.mark.parametrize("setting", SETTINGS)
def test_each_setting_takes_both_forms_and_is_told(realm: Realm, setting: str) -> None:
    channel = make(realm, realm.owner, realm.member)
    moderators = group(realm.owner, "moderators")
    with listening(realm.member) as queue:
        for value in (moderators, anonymous(realm.moderator)):
            change(realm.owner, channel, **{setting: {"new": value}})
            change(realm.owner, channel, **{setting: {"new": value, "old": value}})  # as it is
            assert record_of(realm.member, channel)[setting] == value
            told = [event for event in heard(queue) if event["property"] == setting]
            wanted = {"op": "update", "property": setting, "value": value, "stream_id": channel.stream_id}
            assert told == [wanted | {"name": channel.name}]
    old = group(realm.owner, "nobody")
    body = refused(realm.owner, channel, "EXPECTATION_MISMATCH", **{setting: {"new": moderators, "old": old}})
    assert body["field_name"] == "old"
    refused(realm.owner, channel, **{setting: moderators})
    refused(realm.owner, channel, **{setting: {"new": group(realm.owner, "internet")}})


def test_the_old_forms_of_who_may_send_follow(realm: Realm) -> None:
    channel = make(realm, realm.owner, realm.member)
    with listening(realm.member) as queue:
        change(realm.owner, channel, can_send_message_group={"new": group(realm.owner, "administrators")})
        told = {event["property"]: event["value"] for event in heard(queue)}
        assert (told["stream_post_policy"], told["is_announcement_only"]) == (2, True)
    assert (
        realm.member.request(
            "POST", "messages", type="channel", to=channel.stream_id, topic="x", content="x"
        ).status_code
        == 400
    )


def test_who_may_delete_is_set_by_those_whom_the_organization_lets(realm: Realm) -> None:
    channel = make(realm, realm.member)
    change(realm.owner, channel, can_administer_channel_group={"new": anonymous(realm.member)})
    for setting in ("can_delete_any_message_group", "can_delete_own_message_group"):
        refused(realm.member, channel, **{setting: {"new": group(realm.owner, "members")}})
        change(realm.administrator, channel, **{setting: {"new": group(realm.owner, "members")}})


def test_everybody_opens_topics_where_history_is_protected(realm: Realm) -> None:
    channel = make(realm, realm.owner, kind="protected")
    refused(realm.owner, channel, can_create_topic_group={"new": group(realm.owner, "moderators")})
    change(realm.owner, channel, history_public_to_subscribers=True)
    change(realm.owner, channel, can_create_topic_group={"new": group(realm.owner, "moderators")})
    refused(realm.owner, channel, history_public_to_subscribers=False)


@pytest.mark.parametrize(
    "setting", ["can_add_subscribers_group", "can_administer_channel_group", "can_subscribe_group"]
)
def test_a_setting_shows_a_private_channel_and_hides_it_again(realm: Realm, setting: str) -> None:
    channel = make(realm, realm.owner, kind="shared")
    with listening(realm.member) as queue, listening(realm.moderator) as outside:
        change(realm.owner, channel, **{setting: {"new": anonymous(realm.member)}})
        [event] = heard(queue)
        assert (event["op"], [one["stream_id"] for one in event["streams"]]) == ("create", [channel.stream_id])
        assert event["streams"] == [shown(realm.member, channel.stream_id)]
        change(realm.owner, channel, **{setting: {"new": group(realm.owner, "nobody")}})
        assert [event["op"] for event in heard(queue)] == ["delete"]
        assert seen(realm.member, channel) is None
        assert heard(outside) == []


def test_all_changes_of_a_call_are_made_or_none(realm: Realm) -> None:
    channel = make(realm, realm.owner)
    before = record_of(realm.owner, channel)
    with listening(realm.owner) as queue:
        refused(realm.owner, channel, new_name=unique("new"), description="new", is_private=True, folder_id=999_999_999)
        refused(realm.owner, channel, description="new", can_send_message_group={"new": 999_999_999})
        assert heard(queue) == []
    assert record_of(realm.owner, channel) == before


# What the notification bot says


def test_the_channel_reads_of_changes_where_the_organization_wants_it(realm: Realm) -> None:
    channel = make(realm, realm.owner, realm.member)
    change(realm.owner, channel, description="quiet")
    assert realm.owner.request("PATCH", "realm", send_channel_events_messages=True).status_code == 200
    name = unique("loud")
    change(realm.owner, channel, new_name=name, description="loud", is_private=True)
    found = realm.member.window(before=10, narrow=[{"operator": "channel", "operand": channel.stream_id}])["messages"]
    assert [message["subject"] for message in found] == ["channel events"] * 3
    assert name in found[0]["content"]
    assert "loud" in found[1]["content"]
    assert "Private, protected history" in found[2]["content"]
    assert {message["sender_id"] for message in found}.isdisjoint({realm.owner.id, realm.member.id})
