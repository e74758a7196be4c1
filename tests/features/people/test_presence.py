"""Presence, where it takes an organization of one's own: in small ones a return is told at once."""

from tests.harness.realm import Realm
from tests.harness.talk import Json, Speaker

MODERN = {"notification_settings_null": True, "simplified_presence_events": True}


def test_a_return_is_told_in_the_form_a_client_wants(realm: Realm) -> None:
    with (
        realm.member.register(event_types=["presence"], client_capabilities=MODERN) as new,
        realm.member.register(event_types=["presence"]) as old,
        realm.member.register(event_types=["presence"], slim_presence=True) as slim,
    ):
        back = realm.owner
        back.post("users/me/presence", status="active")
        told: list[Json] = [next(iter(queue.poll())) for queue in (new, old, slim)]
    at = told[0]["presences"][str(back.id)]["active_timestamp"]
    assert told[0]["presences"] == {str(back.id): {"active_timestamp": at, "idle_timestamp": at}}
    website = {"client": "website", "status": "active", "timestamp": at, "pushable": False}
    assert told[1]["presence"] == told[2]["presence"] == {"website": website}
    assert (told[1]["email"], "email" in told[2]) == (back.email, False)


def test_a_second_ping_tells_nobody_anything(realm: Realm) -> None:
    realm.owner.post("users/me/presence", status="active")
    with realm.member.register(event_types=["presence"], client_capabilities=MODERN) as queue:
        realm.owner.post("users/me/presence", status="active")
        realm.administrator.post("users/me/presence", status="idle")
        assert [*queue.poll()[0]["presences"]] == [str(realm.administrator.id)]


def test_a_guest_who_sees_only_some_sees_only_their_presence(realm: Realm) -> None:
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    value = {"new": groups["role:members"]}
    realm.owner.request("PATCH", "realm", can_access_all_users_group=value)
    for speaker in (realm.owner, realm.guest):
        speaker.post("users/me/presence", status="active")

    def seen(speaker: Speaker) -> set[str]:
        return set(speaker.post("users/me/presence", status="active", last_update_id=-1)["presences"])

    assert seen(realm.member) >= {str(realm.owner.id), str(realm.guest.id)}
    assert seen(realm.guest) == {str(realm.guest.id)}
    assert realm.owner.email not in realm.guest.get("realm/presence")["presences"]


def test_where_presence_is_disabled_nobody_hears_of_anybody(realm: Realm) -> None:
    known = realm.member.post("users/me/presence", status="active", last_update_id=-1)["presence_last_update_id"]
    realm.owner.request("PATCH", "realm", presence_disabled=True)
    with realm.owner.register(event_types=["presence"], client_capabilities=MODERN) as queue:
        realm.guest.post("users/me/presence", status="active", ping_only=True)
        realm.owner.request("PATCH", "realm", presence_disabled=False)
        # Pings wait for each other and are told after they are written: this one would come second.
        realm.moderator.post("users/me/presence", status="active")
        assert [*queue.poll()[0]["presences"]] == [str(realm.moderator.id)]
    news = realm.member.post("users/me/presence", status="active", last_update_id=known)["presences"]
    assert str(realm.guest.id) in news, "who asks on from the number of before misses nobody"
