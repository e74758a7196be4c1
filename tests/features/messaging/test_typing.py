"""Who learns that a message is being changed, beyond what any client may see of it."""

from tertulia.conversations.channels.actions import subscribe
from tests.harness.channels import make
from tests.harness.realm import Realm
from tests.harness.talk import Queue, Speaker, check_error, check_success


def hearing(speaker: Speaker) -> Queue:
    return Queue(speaker, event_types=["typing_edit_message", "typing"])


def edited(queue: Queue, marker: Speaker) -> list[int]:
    """The messages that were said to be changed, before a signal of `marker`. One's own signals come to oneself as well."""
    marker.post("typing", op="stop", to=[queue.speaker.id])
    found: list[int] = []
    while True:
        for event in queue.poll():
            if event["type"] != "typing":
                found.append(event["message_id"])
            elif event["sender"]["user_id"] == marker.id:
                return found


def test_with_protected_history_only_those_hear_who_have_the_message(realm: Realm) -> None:
    channel = make(realm, realm.member, kind="protected")
    early = realm.member.send(channel.stream_id, "tea")
    realm.stage.write(lambda tx: subscribe(tx, realm.id, [channel.stream_id], [realm.moderator.id]))
    late = realm.member.send(channel.stream_id, "tea")
    with hearing(realm.moderator) as queue:
        for sent in (early, late):
            realm.member.post(f"messages/{sent}/typing", op="start")
        assert edited(queue, realm.owner) == [late]


def test_guests_do_not_hear_of_somebody_they_do_not_see(realm: Realm) -> None:
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    new = {"new": groups["role:members"]}
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group=new))
    channel = make(realm, realm.member, realm.moderator, realm.guest)
    sent = realm.member.send(channel.stream_id, "tea")
    with hearing(realm.guest) as queue, hearing(realm.moderator) as theirs:
        realm.member.post(f"messages/{sent}/typing", op="start")
        assert edited(queue, realm.moderator) == [sent]
        assert edited(theirs, realm.owner) == [sent]
        realm.member.delete("users/me/subscriptions", subscriptions=[channel.name])
        realm.member.post(f"messages/{sent}/typing", op="stop")
        assert edited(queue, realm.moderator) == []
        assert edited(theirs, realm.owner) == [sent]


def test_guests_learn_of_nobody_who_begins_to_write_to_them(realm: Realm) -> None:
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    new = {"new": groups["role:members"]}
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group=new))
    make(realm, realm.member, realm.guest)
    pair, group = [realm.guest.id], [realm.guest.id, realm.member.id]
    with Queue(realm.guest, event_types=["typing"]) as queue:
        realm.owner.post("typing", op="start", to=pair)
        realm.owner.post("typing", op="start", to=group)
        realm.member.post("typing", op="start", to=[realm.guest.id, realm.owner.id])
        realm.member.post("typing", op="start", to=pair)
        [told] = queue.poll()
        assert [one["user_id"] for one in told["recipients"]] == sorted([realm.member.id, realm.guest.id])
    realm.owner.send(group)
    with Queue(realm.guest, event_types=["typing"]) as queue:
        for to in (pair, group):
            realm.owner.post("typing", op="start", to=to)
            [told] = queue.poll()
            assert told["sender"]["user_id"] == realm.owner.id


def test_what_cannot_be_edited_any_more_is_not_being_edited(realm: Realm) -> None:
    channel = make(realm, realm.member)
    sent = realm.member.send(channel.stream_id, "tea")

    def refused(**settings: object) -> None:
        check_success(realm.owner.request("PATCH", "realm", **settings))
        check_error(realm.member.request("POST", f"messages/{sent}/typing", op="start"))

    refused(allow_message_editing=False)
    check_success(realm.owner.request("PATCH", "realm", allow_message_editing=True))
    # PATCH would still be let through for some seconds.
    realm.stage.sql("update message set sent_at = sent_at - interval '65 seconds' where id = %s", sent)
    refused(message_content_edit_limit_seconds=60)
    check_success(realm.member.request("PATCH", f"messages/{sent}", content="just in time"))
    check_success(realm.owner.request("PATCH", "realm", message_content_edit_limit_seconds='"unlimited"'))
    realm.member.post(f"messages/{sent}/typing", op="start")
    check_success(realm.owner.request("DELETE", f"streams/{channel.stream_id}"))
    check_error(realm.member.request("POST", f"messages/{sent}/typing", op="start"))
