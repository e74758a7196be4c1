"""Past advisories, class AZ: a right that is asked at the main door and forgotten at a side door.

The numbers in the names are those of docs/reference/advisories.md.
"""

import json
import time

import pytest

from tests.features.security.probing import NOBODY_MADE, check_channel_is_gone, check_message_is_gone
from tests.features.tables.privacy_table import Target
from tests.harness.channels import make
from tests.harness.files import fetch, may_fetch, upload
from tests.harness.realm import Realm
from tests.harness.server import ADMINISTRATOR, GUEST, OWNER, Channel
from tests.harness.stage import Stage, Web
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, eventually, unique

QUIET = {"send_notification_to_old_thread": False, "send_notification_to_new_thread": False}
STAR = {"op": "add", "flag": "starred"}
FAR_OFF = 4_000_000_000


def found(speaker: Speaker, *terms: object) -> list[int]:
    return [message["id"] for message in speaker.window(before=50, narrow=list(terms))["messages"]]


def change_realm(realm: Realm, **fields: object) -> None:
    check_success(realm.owner.request("PATCH", "realm", **fields))


def remove(realm: Realm, channel: Channel, *people: Speaker) -> None:
    realm.owner.delete("users/me/subscriptions", subscriptions=[channel.name], principals=[one.id for one in people])


@pytest.mark.parametrize("mode", ["change_one", "change_later", "change_all"])
def test_az_01_a_message_moved_into_a_private_channel_is_read_there_only(realm: Realm, mode: str) -> None:
    mover, reader = realm.speaker(), realm.speaker()
    public, private = make(realm, mover, reader), make(realm, mover, kind="shared")
    word, topic = unique("word").replace(" ", ""), unique("topic")
    first, middle, last = (mover.send(public.stream_id, topic, f"{word} octopus") for _ in range(3))
    reader.post("messages/flags", messages=[middle], **STAR)
    moved = {"change_one": [middle], "change_later": [middle, last], "change_all": [first, middle, last]}[mode]
    there = {"stream_id": private.stream_id, "propagate_mode": mode, **QUIET}
    check_success(mover.request("PATCH", f"messages/{middle}", **there))
    for sent in moved:
        check_message_is_gone(reader, Target(private.stream_id, private.name, sent, topic))
        assert mover.message(sent)["display_recipient"] == private.name
    left = [sent for sent in (first, middle, last) if sent not in moved]
    assert found(reader, {"operator": "search", "operand": word}) == left
    assert found(reader, {"operator": "channels", "operand": "public"}, ["topic", topic]) == left
    assert found(reader, {"operator": "sender", "operand": mover.id}) == left
    assert found(reader, ["is", "starred"]) == []


@pytest.mark.parametrize("kind", ["shared", "protected"])
def test_az_02_who_was_removed_does_nothing_to_what_they_wrote(realm: Realm, kind: str) -> None:
    former = realm.speaker()
    channel, topic = make(realm, realm.member, former, kind=kind), unique("topic")
    own, poll = (former.send(channel.stream_id, topic, text) for text in ("mine", "/poll Tea?\nyes\nno"))
    remove(realm, channel, former)
    for sent in (own, poll):
        target = Target(channel.stream_id, channel.name, sent, topic)
        # What they had received keeps its flags, so that they can take a star away (privacy_table.KEPT).
        check_message_is_gone(former, target, besides=["POST /messages/flags"])
    for fields in ({"content": "other"}, {"topic": "other"}, {"topic": f"✔ {topic}", "propagate_mode": "change_all"}):
        check_error(former.request("PATCH", f"messages/{own}", **fields))
    vote = json.dumps({"type": "vote", "key": "canned,0", "vote": 1})
    check_error(former.request("POST", "submessage", message_id=poll, msg_type="widget", content=vote))
    message = realm.member.message(own, apply_markdown=False)
    assert (message["content"], message["subject"]) == ("mine", topic)


def test_az_04_opening_a_channel_to_the_web_needs_the_right_to_make_one(realm: Realm, other_web: Web) -> None:
    change_realm(realm, enable_spectator_access=True)
    owner, administrator = realm.speaker(OWNER, url=other_web.url), realm.speaker(ADMINISTRATOR, url=other_web.url)
    for kind in ("public", "shared"):
        path = f"streams/{make(realm, owner, administrator, kind=kind).stream_id}"
        check_error(administrator.request("PATCH", path, is_web_public=True, is_private=False))
        check_success(owner.request("PATCH", path, is_web_public=True, is_private=False))


@pytest.mark.parametrize("policy", ["moves", "none"])
def test_az_05_a_former_text_is_in_no_event_where_the_organization_does_not_show_it(realm: Realm, policy: str) -> None:
    channel = make(realm, realm.member, realm.guest)
    change_realm(realm, message_edit_history_visibility_policy=policy)
    secret = unique("secret")
    sent = realm.member.send(channel.stream_id, "topic", secret)
    with realm.guest.register(event_types=["update_message"]) as queue:
        check_success(realm.member.request("PATCH", f"messages/{sent}", content="harmless"))
        event = queue.until(lambda event: event["type"] == "update_message")[-1]
    assert event["content"] == "harmless"
    assert secret not in json.dumps(event)
    assert secret not in json.dumps(realm.guest.message(sent))
    assert secret not in realm.guest.request("GET", f"messages/{sent}/history").text


def test_az_06_what_was_open_to_the_web_is_closed_with_the_next_request(
    realm: Realm, stage: Stage, other_web: Web
) -> None:
    owner = realm.speaker(OWNER, url=other_web.url)
    change_realm(realm, enable_spectator_access=True)
    channel = make(realm, owner, kind="web-public")
    nobody = stage.nobody(url=other_web.url, host=realm.host)
    url = upload(owner)
    owner.send(channel.stream_id, "topic", f"[file]({url})")
    narrow = [{"operator": "channels", "operand": "web-public"}]
    asked: list[tuple[str, str, Json]] = [
        ("GET", "messages", {"anchor": "newest", "narrow": narrow}),
        ("GET", f"users/me/{channel.stream_id}/topics", {}),
        ("POST", "register", {}),
        ("GET", "users", {}),
    ]

    def statuses() -> list[int]:
        return [nobody.request(method, path, **fields).status_code for method, path, fields in asked]

    assert (statuses(), fetch(nobody, url).status_code) == ([200] * 4, 200)
    change_realm(realm, enable_spectator_access=False)
    assert (statuses(), fetch(nobody, url).status_code) == ([401] * 4, 401)
    change_realm(realm, enable_spectator_access=True)
    check_success(owner.request("PATCH", f"streams/{channel.stream_id}", is_web_public=False))
    check_error(nobody.request(*asked[1][:2]), "STREAM_DOES_NOT_EXIST", stream_id=channel.stream_id)
    assert nobody.request(*asked[0][:2], **asked[0][2]).json()["messages"] == []
    assert not may_fetch(nobody, url)


def test_az_07_a_guest_addresses_nobody_whom_they_do_not_see(realm: Realm) -> None:
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    change_realm(realm, can_access_all_users_group={"new": groups["role:members"]})
    guest, nobody = realm.guest, 987_654_321

    def asked(user_id: int) -> list[tuple[int, str]]:
        draft = {"type": "private", "to": [user_id], "topic": "", "content": "x"}
        later: Json = {"type": "direct", "to": [user_id], "content": "x", "scheduled_delivery_timestamp": FAR_OFF}
        replies = [
            guest.request("POST", "drafts", drafts=[draft]),
            guest.request("POST", "scheduled_messages", **later),
            guest.request("POST", "messages", type="direct", to=[user_id], content="x"),
            guest.request("POST", "typing", op="start", to=[user_id]),
            guest.request("GET", "users", user_ids=[user_id]),
        ]
        return [(reply.status_code, reply.text.replace(str(user_id), "*")) for reply in replies]

    assert asked(realm.member.id) == asked(nobody)


ANONYMOUS_USER = {
    *("user_id", "delivery_email", "email", "full_name", "date_joined", "is_active", "is_owner", "is_admin"),
    *("is_guest", "is_bot", "bot_type", "bot_owner_id", "role", "timezone", "avatar_url", "avatar_version"),
    "is_imported_stub",
}


def test_az_08_without_an_account_one_sees_the_listed_keys_of_people_and_no_profile(
    realm: Realm, stage: Stage, other_web: Web
) -> None:
    change_realm(realm, enable_spectator_access=True)
    field = realm.owner.post("realm/profile_fields", field_type=1, name="Tea")["id"]
    secret = unique("secret")
    check_success(realm.member.request("PATCH", "users/me/profile_data", data=[{"id": field, "value": secret}]))
    nobody = stage.nobody(url=other_web.url, host=realm.host)
    state = nobody.request("POST", "register")
    listed = nobody.request("GET", "users", include_custom_profile_fields=True)
    chosen = nobody.request("GET", "users", include_custom_profile_fields=True, user_ids=[realm.member.id])
    for reply in (state, listed, chosen):
        assert reply.status_code == 200
        assert secret not in reply.text
        assert realm.member.email not in reply.text
        assert "profile_data" not in reply.text
    people = [*state.json()["realm_users"], *listed.json()["members"], *chosen.json()["members"]]
    assert {key for person in people for key in person} <= ANONYMOUS_USER
    assert {person["delivery_email"] for person in people} == {None}


def test_az_10_public_channels_are_empty_for_guests(realm: Realm) -> None:
    channel = make(realm, realm.member)
    word = unique("word").replace(" ", "")
    realm.member.send(channel.stream_id, "topic", word)
    check_error(realm.guest.request("POST", "register", all_public_streams=True))
    sender = {"operator": "sender", "operand": realm.member.id}
    for term in (["channels", "public"], ["streams", "public"], ["search", word], sender):
        assert found(realm.guest, term) == []


def test_az_12_a_search_finds_what_a_fetch_shows(realm: Realm) -> None:
    former = realm.speaker()
    channel = make(realm, realm.member, former, kind="protected")
    word = unique("word").replace(" ", "")
    sent = [realm.member.send(channel.stream_id, word, f"{word} octopus") for _ in range(2)]
    remove(realm, channel, former)
    guest = realm.speaker(GUEST)
    for reader in (former, guest, realm.owner, realm.administrator):
        assert found(reader, ["search", word]) == []
        assert found(reader, ["search", f'"{word} octopus"']) == []
        matched = reader.get("messages/matches_narrow", msg_ids=sent, narrow=[["search", word]])
        assert matched["messages"] == {}


def test_az_16_two_names_in_one_request_belong_together(realm: Realm) -> None:
    reader = realm.speaker()
    public, private = make(realm, realm.member, reader), make(realm, realm.member, kind="shared")
    topic = unique("topic")
    hidden, shown = realm.member.send(private.stream_id, topic), realm.member.send(public.stream_id, "other")
    for terms in (
        [["channel", public.name], ["topic", topic]],
        [["channel", public.name], ["id", str(hidden)]],
        [["channel", public.name], ["near", str(hidden)], ["topic", topic]],
    ):
        assert found(reader, *terms) == []
    # `with` leads to where a message is: one out of reach leads nowhere, and the rest of the narrow counts.
    assert found(reader, ["channel", public.name], ["topic", "other"], ["with", str(hidden)]) == [shown]
    mine, theirs = upload(reader), upload(realm.member)
    [attachment] = reader.get("attachments")["attachments"]
    check_success(reader.request("DELETE", f"attachments/{attachment['id']}"))
    assert not may_fetch(reader, mine)
    [other] = realm.member.get("attachments")["attachments"]
    absent = reader.request("DELETE", "attachments/987654321")
    assert reader.request("DELETE", f"attachments/{other['id']}").json() == absent.json()
    assert may_fetch(realm.member, theirs)


def test_az_17_an_anchor_out_of_reach_is_as_one_that_nobody_wrote(realm: Realm) -> None:
    reader = realm.speaker()
    public, private = make(realm, realm.member, reader), make(realm, realm.member, kind="shared")
    first = realm.member.send(public.stream_id, "topic")
    hidden = realm.member.send(private.stream_id, "topic")
    last = realm.member.send(public.stream_id, "topic")
    gone = realm.member.send(public.stream_id, "topic")
    realm.member.delete(f"messages/{gone}")
    around = reader.window(hidden, 5, 5, narrow=[["channel", public.name]])
    assert [message["id"] for message in around["messages"]] == [first, last]
    assert around["found_anchor"] is False
    behind = reader.window(gone, 5, 5, narrow=[["channel", public.name]])
    assert [message["id"] for message in behind["messages"]] == [first, last]
    assert set(around) == set(behind)


def test_az_20_rights_are_asked_when_a_scheduled_message_is_due(realm: Realm) -> None:
    former = realm.speaker()
    channel = make(realm, realm.member, former, kind="shared")
    fields: Json = {"type": "channel", "to": channel.stream_id, "topic": "topic", "content": "late"}
    scheduled = former.post("scheduled_messages", scheduled_delivery_timestamp=int(time.time()) + 600, **fields)
    remove(realm, channel, former)
    due = "update scheduled_message set due = now() where id = %s"
    realm.stage.sql(due, scheduled["scheduled_message_id"])
    eventually(lambda: former.get("scheduled_messages")["scheduled_messages"][0]["failed"])
    assert found(realm.member, ["channel", channel.name]) == []


def test_az_21_lists_of_messages_follow_present_access(realm: Realm) -> None:
    former = realm.speaker()
    channel, topic = make(realm, realm.member, former, kind="shared"), unique("topic")
    word = unique("word").replace(" ", "")
    url = upload(realm.member)
    sent = realm.member.send(channel.stream_id, topic, f"{word} @**all** [file]({url})")
    former.post("messages/flags", messages=[sent], **STAR)
    remove(realm, channel, former)
    for terms in ([["is", "starred"]], [["is", "mentioned"]], [["is", "unread"]], [["has", "attachment"]], []):
        assert sent not in found(former, *terms), terms
    state = Queue(former).state
    assert state["unread_msgs"]["streams"] == []
    assert state["unread_msgs"]["mentions"] == []
    for value in (word, topic, channel.name):
        assert value not in json.dumps(state)
    assert not may_fetch(former, url)


def test_az_22_what_is_done_to_channels_is_not_done_to_direct_conversations(realm: Realm) -> None:
    sent = realm.member.send([realm.owner.id])
    [(conversation,)] = realm.stage.sql("select conversation_id from message where id = %s", sent)
    for speaker in (realm.owner, realm.member):
        check_channel_is_gone(speaker, Target(conversation, NOBODY_MADE.name, sent, NOBODY_MADE.topic))
    target = make(realm, realm.owner, realm.member)
    check_error(realm.member.request("PATCH", f"messages/{sent}", stream_id=target.stream_id))
    check_error(realm.owner.request("PATCH", f"messages/{sent}", stream_id=target.stream_id))
    fields: Json = {"subscriptions": [{"name": "x"}], "principals": [realm.guest.id]}
    check_success(realm.owner.request("POST", "users/me/subscriptions", **fields))
    check_message_is_gone(realm.administrator, Target(conversation, "x", sent, NOBODY_MADE.topic))


def test_az_29_no_verb_of_moderation_reaches_what_cannot_be_read(realm: Realm) -> None:
    channel, topic = make(realm, realm.member, kind="shared"), unique("topic")
    sent = realm.member.send(channel.stream_id, topic)
    for speaker in (realm.owner, realm.administrator, realm.moderator):
        check_message_is_gone(speaker, Target(channel.stream_id, channel.name, sent, topic))
        resolve = {"topic": f"✔ {topic}", "propagate_mode": "change_all"}
        check_error(speaker.request("PATCH", f"messages/{sent}", **resolve))
        absent = speaker.request("POST", f"streams/{NOBODY_MADE.channel_id}/delete_topic", topic_name=topic).json()
        reply = speaker.request("POST", f"streams/{channel.stream_id}/delete_topic", topic_name=topic).json()
        assert (reply["result"], reply["code"]) == ("error", absent["code"])
    message = realm.member.message(sent)
    assert message["subject"] == topic
