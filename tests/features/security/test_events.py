"""Past advisories, class EV: what an event tells to whom (docs/reference/advisories.md)."""

import json

import pytest

from tests.harness.channels import make
from tests.harness.realm import Realm
from tests.harness.server import GUEST
from tests.harness.talk import Json, Queue, Speaker, check_success, unique

CAPABILITIES = {
    "notification_settings_null": True,
    "bulk_message_deletion": True,
    "stream_typing_notifications": True,
    "user_settings_object": True,
}


def listening(speaker: Speaker) -> Queue:
    """Everything there is to hear."""
    return Queue(speaker, client_capabilities=CAPABILITIES, slim_presence=True)


def heard(queue: Queue) -> list[Json]:
    """Without what the queue's own person does to know that everything has come."""
    own = {"presence", "heartbeat"}
    return [event for event in queue.so_far() if event["type"] not in own]


def handle(speaker: Speaker, sent: int, text: str) -> None:
    """Everything that is told of a message: it is edited, reacted to, voted on, and deleted."""
    check_success(speaker.request("PATCH", f"messages/{sent}", content=text))
    check_success(speaker.request("POST", f"messages/{sent}/typing", op="start"))
    speaker.post(f"messages/{sent}/reactions", emoji_name="octopus")
    speaker.post("messages/flags", messages=[sent], op="add", flag="starred")
    speaker.delete(f"messages/{sent}")


def test_ev_01_no_parameter_of_registration_brings_messages_out_of_reach(realm: Realm) -> None:
    public, private = make(realm, realm.member), make(realm, realm.member, kind="shared")
    types = ["message", "update_message_flags"]
    narrows = [[["channel", public.name]], [["is", "unread"]], [["sender", realm.member.email]], []]
    queues = [realm.guest.register(event_types=types, narrow=narrow) for narrow in narrows]
    narrow = [["channel", private.name]]
    queues += [who.register(event_types=types, narrow=narrow) for who in (realm.speaker(), realm.owner)]
    queues.append(realm.speaker().register(event_types=types, all_public_streams=True))
    sent = [realm.member.send(channel.stream_id, "topic") for channel in (public, private)]
    for queue in queues:
        own = queue.speaker.send([queue.speaker.id])
        queue.speaker.post("messages/flags", messages=[own], op="add", flag="starred")  # passes every narrow
        events = queue.until(lambda event: event.get("flag") == "starred")
        found = {event["message"]["id"] for event in events if event["type"] == "message"}
        assert found & set(sent) == ({sent[0]} if queue is queues[-1] else set())


def test_ev_02_whoever_came_later_hears_nothing_of_what_was_said_before(realm: Realm) -> None:
    newcomer, guest = realm.speaker(), realm.speaker(GUEST)
    channel = make(realm, realm.member, kind="protected")
    text = unique("secret")
    sent = realm.member.send(channel.stream_id, "topic", text)
    poll = realm.member.send(channel.stream_id, "topic", "/poll Tea?\nyes")
    fields: Json = {"subscriptions": [{"name": channel.name}], "principals": [newcomer.id, guest.id]}
    realm.member.post("users/me/subscriptions", **fields)
    queues = [listening(newcomer), listening(guest)]
    vote = json.dumps({"type": "vote", "key": "canned,0", "vote": 1})
    realm.member.post("submessage", message_id=poll, msg_type="widget", content=vote)
    handle(realm.member, sent, f"{text} again")
    for queue in queues:
        events = heard(queue)
        types = {event["type"] for event in events}
        assert not types & {"update_message", "delete_message", "reaction", "submessage", "typing_edit_message"}
        assert text not in json.dumps(events)


def test_ev_05_what_is_personal_is_told_to_nobody_else(realm: Realm) -> None:
    member = realm.member
    channel = make(realm, member, *(one for one in realm.all if one is not member))
    sent = realm.owner.send(channel.stream_id, "topic", "Hello")
    queues = [listening(one) for one in realm.all if one is not member]
    member.post("drafts", drafts=[{"type": "", "to": [], "topic": "", "content": "mine"}])
    member.post("saved_snippets", title="mine", content="mine")
    member.post("users/me/alert_words", alert_words=["mine"])
    member.post(f"users/me/muted_users/{realm.owner.id}")
    member.post("user_topics", stream_id=channel.stream_id, topic="topic", visibility_policy=3)
    member.post("messages/flags", messages=[sent], op="add", flag="starred")
    member.post("messages/flags", messages=[sent], op="add", flag="read")
    later = {"scheduled_delivery_timestamp": 4_000_000_000}
    member.post("scheduled_messages", type="direct", to=[realm.owner.id], content="mine", **later)
    member.post("reminders", message_id=sent, **later)
    data = [{"stream_id": channel.stream_id, "property": "color", "value": "#123456"}]
    member.post("users/me/subscriptions/properties", subscription_data=data)
    check_success(member.request("PATCH", "settings", twenty_four_hour_time=True, enable_sounds=False))
    for queue in queues:
        assert heard(queue) == []


def test_ev_06_a_message_tells_nobody_who_else_was_notified(realm: Realm) -> None:
    named = realm.speaker()
    channel = make(realm, realm.member, realm.owner, named)
    check_success(realm.owner.request("POST", "users/me/alert_words", alert_words=["octopus"]))
    queues = [one.register(event_types=["message", "update_message"]) for one in (realm.member, named, realm.owner)]
    sent = realm.member.send(channel.stream_id, "topic", f"@**Somebody New|{named.id}** octopus")
    check_success(realm.member.request("PATCH", f"messages/{sent}", content=f"octopus @**Somebody New|{named.id}**"))
    flags = []
    for queue in queues:
        event, edit = queue.until(lambda event: event["type"] == "update_message")
        assert set(event) == {"id", "type", "message", "flags"}
        assert not [key for key in {*event["message"], *edit} if "user_ids" in key or "notif" in key]
        flags.append((set(event["flags"]), set(edit["flags"])))
    mentioned, alerted = "mentioned", "has_alert_word"
    assert [(mentioned in new, alerted in new) for new, _ in flags] == [(False, False), (True, False), (False, True)]
    assert [(mentioned in now, alerted in now) for _, now in flags] == [(False, False), (True, False), (False, True)]


@pytest.mark.parametrize("kind", ["direct", "private"])
def test_ev_10_what_goes_on_in_a_closed_conversation_is_heard_inside_only(realm: Realm, kind: str) -> None:
    other = realm.speaker()
    outside = [realm.moderator, realm.guest, realm.speaker()]
    channel = make(realm, realm.member, other, kind="shared")
    queues = [listening(one) for one in outside]
    to, topic = ([other.id], None) if kind == "direct" else (channel.stream_id, "topic")
    where: Json = {"to": to} if kind == "direct" else {"type": "channel", "stream_id": to, "topic": topic}
    realm.member.post("typing", op="start", **where)
    sent = realm.member.send(to, topic, unique("secret"))
    other.post("messages/flags", messages=[sent], op="add", flag="read")
    handle(realm.member, sent, "again")
    realm.member.post("typing", op="stop", **where)
    for queue in queues:
        assert heard(queue) == []
