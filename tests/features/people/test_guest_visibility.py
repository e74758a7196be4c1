"""Guests who do not see everybody hear of whom they come to see, and of whom they lose sight."""

import time

import pytest

from tertulia.conversations.channels.actions import subscribe
from tests.harness import realm as realms
from tests.harness.realm import Realm
from tests.harness.server import GUEST, MEMBER, Channel
from tests.harness.stage import at_once
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique


@pytest.fixture
def closed(realm: Realm) -> Realm:
    """Guests see only whom they share something with."""
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    new = {"new": groups["role:members"]}
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group=new))
    return realm


def channel_of(realm: Realm, *people: Speaker) -> Channel:
    return realm.stage.channel(*people, realm_id=realm.id)


def joins(who: Speaker, channel: Channel) -> None:
    who.post("users/me/subscriptions", subscriptions=[{"name": channel.name}])


def leaves(who: Speaker, channel: Channel) -> None:
    who.delete("users/me/subscriptions", subscriptions=[channel.name])


def invites(realm: Realm, channel: Channel, *people: Speaker) -> None:
    ids = [one.id for one in people]
    realm.stage.write(lambda tx: subscribe(tx, realm.id, [channel.stream_id], ids))


def listening(speaker: Speaker, *types: str, does_without: bool = True) -> Queue:
    """A client that knows only whom its user sees, or one that counts on knowing everybody."""
    capabilities = {"notification_settings_null": True, "user_list_incomplete": does_without}
    return realms.listening(speaker, *types, client_capabilities=capabilities)


def check_adds_up(queue: Queue, *, does_without: bool = True) -> list[tuple[str, int]]:
    """What the queue's client knows is what a new registration says; the events of people, as (op, user id)."""
    known = {one["user_id"]: one | {"is_active": True} for one in queue.state["realm_users"]}
    known |= {one["user_id"]: one | {"is_active": False} for one in queue.state["realm_non_active_users"]}
    told = [event for event in queue.so_far() if event["type"] == "realm_user"]
    for event in told:
        person: Json = event["person"]
        if event["op"] == "add":
            assert person["user_id"] not in known or known[person["user_id"]]["full_name"] == "Unknown user"
            known[person["user_id"]] = person | {"is_active": True}
        elif event["op"] == "remove":
            del known[person["user_id"]]
        else:
            known[person["user_id"]] |= person
    with listening(queue.speaker, does_without=does_without) as later:
        now = {one["user_id"]: one | {"is_active": True} for one in later.state["realm_users"]}
        now |= {one["user_id"]: one | {"is_active": False} for one in later.state["realm_non_active_users"]}
    assert known == now
    return [(event["op"], event["person"]["user_id"]) for event in told]


def test_somebody_joins_and_leaves_a_channel_of_the_guests(closed: Realm) -> None:
    channel = channel_of(closed, closed.guest)
    with listening(closed.guest, "subscription") as queue:
        joins(closed.member, channel)
        events = queue.until(lambda event: event.get("op") == "peer_add")
        assert [event["op"] for event in events] == ["add", "peer_add"]
        assert events[0]["person"]["full_name"] == "Somebody New"
    with listening(closed.guest) as queue:
        leaves(closed.member, channel)
        joins(closed.member, channel)
        assert check_adds_up(queue) == [("remove", closed.member.id), ("add", closed.member.id)]


def test_what_is_shared_twice_is_told_once(closed: Realm) -> None:
    first, second = channel_of(closed, closed.guest), channel_of(closed, closed.guest)
    with listening(closed.guest) as queue:
        joins(closed.member, first)
        joins(closed.member, second)
        closed.member.send([closed.guest.id])
        leaves(closed.member, first)
        leaves(closed.member, second)
        assert check_adds_up(queue) == [("add", closed.member.id)]


def test_a_guest_comes_into_a_channel_and_goes(closed: Realm) -> None:
    gone = closed.speaker(MEMBER)
    channel = channel_of(closed, closed.owner, closed.member, closed.bot(closed.owner), gone)
    closed.owner.delete(f"users/{gone.id}")
    ids = sorted([closed.owner.id, closed.member.id, gone.id])
    with listening(closed.guest) as queue:
        invites(closed, channel, closed.guest)
        told = check_adds_up(queue)
        assert [one for one in told if one[0] == "add"] == [("add", id) for id in ids]
    with listening(closed.guest) as queue:
        leaves(closed.guest, channel)
        assert check_adds_up(queue) == [("remove", id) for id in ids]


def test_two_guests_who_come_together_see_each_other(closed: Realm) -> None:
    other = closed.speaker(GUEST)
    channel = channel_of(closed, closed.owner)
    with listening(closed.guest) as queue, listening(other) as theirs:
        invites(closed, channel, closed.guest, other)
        assert ("add", other.id) in check_adds_up(queue)
        assert ("add", closed.guest.id) in check_adds_up(theirs)


def test_a_client_that_counts_on_knowing_everybody_is_shown_unknown_users(closed: Realm) -> None:
    gone = closed.speaker(MEMBER)
    closed.owner.delete(f"users/{gone.id}")
    channel = channel_of(closed, closed.member)
    hidden = sorted({one.id for one in (*closed.all, gone)} - {closed.guest.id})
    with listening(closed.guest) as shy, listening(closed.guest, does_without=False) as queue:
        assert [one["user_id"] for one in shy.state["realm_users"]] == [closed.guest.id]
        unknown = [dict(one) for one in queue.state["realm_users"] if one["user_id"] != closed.guest.id]
        assert [one.pop("user_id") for one in unknown] == hidden
        assert {one.pop("email") for one in unknown} == {f"user{id}@{domain_of(closed)}" for id in hidden}
        assert {(one["full_name"], one["role"], one["delivery_email"]) for one in unknown} == {
            ("Unknown user", 400, None)
        }
        assert all(one == unknown[0] for one in unknown)
        new = closed.speaker(MEMBER)
        invites(closed, channel, closed.guest)
        leaves(closed.guest, channel)
        closed.owner.request("PATCH", f"users/{closed.member.id}", full_name="Nobody hears of it")
        seen = closed.member.id
        told = check_adds_up(queue, does_without=False)
        assert told == [("add", new.id), ("add", seen), ("remove", seen), ("add", seen)]
        assert check_adds_up(shy) == [("add", seen), ("remove", seen)]


def domain_of(realm: Realm) -> str:
    """Where addresses of people who hide theirs seem to be."""
    check_success(realm.moderator.request("PATCH", "settings", email_address_visibility=4))
    shown: str = realm.owner.get(f"users/{realm.moderator.id}")["user"]["email"]
    return shown.partition("@")[2]


MODERN = {"notification_settings_null": True, "user_list_incomplete": True, "simplified_presence_events": True}


def test_whoever_comes_into_sight_is_told_with_their_status_and_presence(closed: Realm) -> None:
    shy, member, quiet = closed.moderator, closed.member, closed.speaker(MEMBER)
    check_success(shy.request("PATCH", "settings", email_address_visibility=4))
    channel = channel_of(closed, member, shy, quiet)
    member.post("users/me/status", status_text="At tea", emoji_name="tea")
    for speaker in (member, shy):
        speaker.post("users/me/presence", status="active")
    types = ["user_status", "presence"]
    options: Json = {"event_types": [*types, "realm_user", "message"], "fetch_event_types": types}
    with (
        Queue(closed.guest, **options, client_capabilities=MODERN) as queue,
        Queue(closed.guest, **options) as old,
    ):
        assert queue.state["user_status"] == queue.state["presences"] == {}
        invites(closed, channel, closed.guest)
        told, told_old = queue.so_far(), old.so_far()
    with Queue(closed.guest, **options, slim_presence=True) as later, Queue(closed.guest, **options) as old_later:
        [status] = [event for event in told if event["type"] == "user_status"]
        expected = later.state["user_status"][str(member.id)]
        assert {key: status[key] for key in expected} == expected
        assert (status["user_id"], status["away"]) == (member.id, False)
        presences = {id: one for event in told if event["type"] == "presence" for id, one in event["presences"].items()}
        assert presences == {id: one for id, one in later.state["presences"].items() if id != str(closed.guest.id)}
        assert presences.keys() == {str(member.id), str(shy.id)}
        by_email = {event["email"]: event["presence"] for event in told_old if event["type"] == "presence"}
        assert by_email.keys() == old_later.state["presences"].keys() - {closed.guest.email}
    with Queue(closed.guest, **options, client_capabilities=MODERN) as queue:
        leaves(closed.guest, channel)
        member.post("users/me/status", status_text="", emoji_name="")
        closed.moderator.send([closed.guest.id])
        member.send([closed.guest.id])
        statuses = [event for event in queue.so_far() if event["type"] == "user_status"]
        assert [(one["user_id"], one["status_text"], one["emoji_name"]) for one in statuses] == [(member.id, "", "")]


def test_a_direct_message_brings_people_into_sight(closed: Realm) -> None:
    with listening(closed.guest) as queue:
        closed.member.send([closed.guest.id, closed.moderator.id])
        closed.member.send([closed.guest.id])
        told = check_adds_up(queue)
        assert sorted(told) == sorted([("add", closed.moderator.id), ("add", closed.member.id)])


def test_a_message_that_is_only_scheduled_or_refused_begins_no_conversation(closed: Realm) -> None:
    fields: Json = {"type": "direct", "to": [closed.guest.id]}
    due = int(time.time()) + 3600
    with listening(closed.guest) as queue:
        closed.member.post("scheduled_messages", **fields, content="Later", scheduled_delivery_timestamp=due)
        groups = {group["name"]: group["id"] for group in closed.owner.get("user_groups")["user_groups"]}
        quiet: Json = {"name": "quiet", "description": "", "members": [], "can_mention_group": groups["role:nobody"]}
        closed.owner.post("user_groups/create", **quiet)
        check_error(closed.member.request("POST", "messages", **fields, content="@*quiet*"))
        assert check_adds_up(queue) == []
    people = sorted([closed.member.id, closed.guest.id])
    begun = "select count(*) from conversation where realm_id = %s and participants = %s::bigint[]"
    assert closed.stage.sql(begun, closed.id, people) == [(0,)]
    with listening(closed.guest, "message") as queue:
        closed.stage.sql("update scheduled_message set due = now() where user_id = %s", closed.member.id)
        assert "Later" in queue.until(lambda event: event["type"] == "message")[-1]["message"]["content"]
    assert closed.stage.sql(begun, closed.id, people) == [(1,)]


def test_a_guest_cannot_write_to_somebody_out_of_sight(closed: Realm) -> None:
    for to in ([closed.member.id], [closed.member.email], [closed.member.id, closed.guest.id]):
        fields = {"type": "direct", "to": to, "content": "Hello"}
        unknown = check_error(closed.guest.request("POST", "messages", **fields))
        assert "There is no user" in unknown
    closed.member.send([closed.guest.id])
    closed.guest.send([closed.member.id])


def test_who_hides_their_address_comes_with_the_made_up_one(closed: Realm) -> None:
    check_success(closed.member.request("PATCH", "settings", email_address_visibility=4))
    channel = channel_of(closed, closed.guest)
    with listening(closed.guest) as queue:
        joins(closed.member, channel)
        assert check_adds_up(queue) == [("add", closed.member.id)]


def test_a_guest_who_comes_to_see_very_many_has_to_register_again(closed: Realm) -> None:
    channel = channel_of(closed, closed.owner)
    sql = """
    with made as (
        insert into account (realm_id, email, email_key, full_name, role)
        select %s, name, name, 'One of many', 400 from (select 'many' || n || '@example.com' as name
            from generate_series(1, 201) as n) as wanted
        returning id
    )
    insert into subscription (user_id, channel_id, color) select id, %s, '#76ce90' from made
    """
    closed.stage.sql(sql, closed.id, channel.stream_id)
    with listening(closed.guest) as queue, listening(closed.owner) as owners:
        invites(closed, channel, closed.guest)
        owners.so_far()
        assert queue.request().json()["code"] == "BAD_EVENT_QUEUE_ID"


def test_people_who_come_together_at_the_same_time_see_each_other(closed: Realm) -> None:
    for _ in range(5):
        guest, member = closed.speaker(GUEST), closed.speaker(MEMBER)
        channel, other = channel_of(closed, closed.owner), channel_of(closed, guest)
        name = unique("Name")
        with listening(guest) as queue:
            at_once([
                lambda: invites(closed, channel, guest),  # noqa: B023
                lambda: joins(member, channel),  # noqa: B023
                lambda: joins(member, other),  # noqa: B023
                lambda: leaves(guest, other),  # noqa: B023
                lambda: closed.administrator.request("PATCH", f"users/{member.id}", full_name=name),  # noqa: B023
            ])  # fmt: skip
            check_adds_up(queue)


def test_whoever_changes_people_and_whoever_subscribes_them_never_wait_in_a_circle(closed: Realm) -> None:
    # In the order of their ids: who is in the channel, who changes the guest, and the guest.
    channel = channel_of(closed, closed.owner, closed.administrator, closed.member)
    who: Json = {"subscriptions": [{"name": channel.name}], "principals": [closed.guest.id, closed.moderator.id]}
    gone = who | {"subscriptions": [channel.name]}
    made = {"name": unique("made")}
    by_address: Json = {"subscriptions": [made], "principals": [closed.guest.email, closed.moderator.email]}
    with listening(closed.guest) as queue:
        for turn in range(25):
            made["name"] = unique("made")
            path, name = f"users/{closed.guest.id}", f"Name {turn}"
            replies = at_once([
                lambda: closed.owner.request("POST", "users/me/subscriptions", **who),
                lambda: closed.owner.request("PATCH", path, full_name=name),  # noqa: B023
                lambda: closed.administrator.request("PATCH", path, full_name=f"{name} too"),  # noqa: B023
                lambda: closed.member.request("POST", "users/me/subscriptions", **by_address),
                lambda: closed.owner.request("POST", f"users/{closed.guest.id}/status", status_text=name),  # noqa: B023
                lambda: closed.administrator.request("DELETE", "users/me/subscriptions", **gone),
                lambda: closed.administrator.request("DELETE", f"users/{closed.moderator.id}"),
                lambda: closed.owner.request("POST", f"users/{closed.moderator.id}/reactivate"),
            ])  # fmt: skip
            assert [reply.text for reply in replies if reply.status_code not in (200, 400)] == []
        check_adds_up(queue)


def test_where_guests_see_everybody_nothing_is_told(realm: Realm) -> None:
    channel = channel_of(realm, realm.guest)
    with listening(realm.guest) as queue:
        joins(realm.member, channel)
        realm.moderator.send([realm.guest.id])
        assert check_adds_up(queue) == []
