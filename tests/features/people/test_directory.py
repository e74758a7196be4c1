"""The list of all users: never stale, whoever changes what; anonymous readers; guests who see only some."""

import asyncio
import json

import pytest

import tertulia.people.users.routes
from tertulia.conversations.channels.handover import hold_conversations, part
from tertulia.conversations.invitations.arrival import ARRIVAL
from tertulia.kernel.limits import LocalBudgets, RateLimits
from tertulia.kernel.settings import Settings
from tertulia.notifications.account_mails.feature import account_mails
from tertulia.people.profiles.queries import hold_fields
from tertulia.people.profiles.values import say_of
from tertulia.people.users.directory import Directory
from tertulia.people.users.handover import BotHandover
from tertulia.people.users.profile import ProfileWriter
from tertulia.people.users.reauthentication import Reauthentication
from tests.harness.counting import counting
from tests.harness.realm import Realm, listening, people_events
from tests.harness.stage import Web, at_once
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, unique


def listed(speaker: Speaker, **more: object) -> dict[int, Json]:
    return {one["user_id"]: one for one in speaker.get("users", **more)["members"]}


def set_realm(realm: Realm, **settings: object) -> None:
    realm.stage.sql("update realm set settings = %s where id = %s", json.dumps(settings), realm.id)


# Never stale


@pytest.mark.holds("user.imported-stub", "user.is-active", "user.role")
@pytest.mark.parametrize(
    ("column", "value", "field"),
    [
        ("full_name", "Renamed", "full_name"),
        ("role", 300, "role"),
        ("is_active", False, "is_active"),
        ("timezone", "Europe/Madrid", "timezone"),
        ("avatar_version", 2, "avatar_version"),
        ("is_imported_stub", True, "is_imported_stub"),
    ],
)
def test_every_change_is_in_the_next_answer_of_every_process(
    realm: Realm, second: Web, column: str, value: object, field: str
) -> None:
    readers = [realm.owner, realm.as_user(realm.owner.user, url=second.url)]
    for reader in readers:
        assert listed(reader)[realm.member.id][field] != value
    tags = {reader.http.get("users").headers["etag"] for reader in readers}
    assert len(tags) == 1
    realm.stage.sql(f"update account set {column} = %s where id = %s", value, realm.member.id)
    for reader in readers:
        assert listed(reader)[realm.member.id][field] == value
        assert reader.http.get("users", headers={"If-None-Match": tags.pop() if tags else "x"}).status_code == 200


def test_profile_values_are_shown_and_never_stale(realm: Realm) -> None:
    [(field,)] = realm.stage.sql(
        "insert into profile_field (realm_id, type, name, position) values (%s, 1, 'Town', 1) returning id", realm.id
    )
    assert listed(realm.guest, include_custom_profile_fields=True)[realm.member.id]["profile_data"] == {}
    insert = "insert into profile_value (realm_id, user_id, field_id, value, rendered) values (%s, %s, %s, %s, %s)"
    realm.stage.sql(insert, realm.id, realm.member.id, field, 'a "town"', "<p>town</p>")
    expected = {str(field): {"value": 'a "town"', "rendered_value": "<p>town</p>"}}
    assert listed(realm.guest, include_custom_profile_fields=True)[realm.member.id]["profile_data"] == expected
    assert realm.member.get("users/me")["profile_data"] == expected
    assert "profile_data" not in listed(realm.guest)[realm.member.id]
    realm.stage.sql("update profile_value set rendered = null where field_id = %s", field)
    state = Queue(realm.owner, event_types=[], fetch_event_types=["realm_user"]).state
    [registered] = [one for one in state["realm_users"] if one["user_id"] == realm.member.id]
    assert registered["profile_data"] == {str(field): {"value": 'a "town"'}}
    realm.stage.sql("delete from profile_field where id = %s", field)
    assert listed(realm.guest, include_custom_profile_fields=True)[realm.member.id]["profile_data"] == {}


def test_what_no_record_shows_does_not_make_the_list_new(realm: Realm) -> None:
    tag = realm.owner.http.get("users").headers["etag"]
    realm.stage.sql("update account set password_hash = 'x', settings = '{\"a\": 1}' where id = %s", realm.member.id)
    assert realm.owner.http.get("users", headers={"If-None-Match": tag}).status_code == 304


def test_lists_read_while_users_come_are_never_older_than_what_was_seen_before(realm: Realm) -> None:
    def read() -> list[int]:
        return [len(listed(realm.owner)) for _ in range(15)]

    def make() -> list[int]:
        for _ in range(15):
            realm.stage.user(realm_id=realm.id)
        return []

    for counts in at_once([read, read, make])[:2]:
        assert counts == sorted(counts)
    assert len(listed(realm.owner)) == 5 + 15


def test_names_are_written_as_they_are(realm: Realm) -> None:
    for name in ("Zoë 🦜 </script>", "O'Neil & Söhne", "x\u200dy", "{user_id: 1}"):
        reply = realm.owner.request("PATCH", f"users/{realm.member.id}", full_name=name)
        if reply.status_code == 200:
            assert listed(realm.owner)[realm.member.id]["full_name"] == name
            assert realm.owner.get(f"users/{realm.member.id}")["user"]["full_name"] == name


# Without an account


@pytest.mark.holds("users.open", "authentication.open-users")
def test_the_list_is_open_where_the_organization_has_public_access(realm: Realm, other_web: Web) -> None:
    nobody = realm.stage.nobody(url=other_web.url, host=realm.host)
    check_error(nobody.request("GET", "users"), "UNAUTHORIZED", 401)
    set_realm(realm, enable_spectator_access=True)
    bot = realm.bot(realm.member)
    records = listed(nobody, include_custom_profile_fields=True)
    assert records.keys() == listed(realm.owner).keys()
    for record in records.values():
        assert (record["timezone"], "profile_data" in record) == ("", False)
        assert len(record["date_joined"]) == len("2019-10-20")
    hidden = records[realm.member.id]
    assert (hidden["delivery_email"], hidden["email"]) == (None, f"user{realm.member.id}@{realm.host}")
    assert records[bot.id]["delivery_email"] == records[bot.id]["email"] == bot.email
    assert listed(nobody, user_ids=[realm.member.id]) == {realm.member.id: hidden}
    tag = nobody.http.get("users").headers["etag"]
    assert nobody.http.get("users", headers={"If-None-Match": tag}).status_code == 304
    check_error(nobody.request("GET", f"users/{realm.member.id}"), "UNAUTHORIZED", 401)
    check_error(nobody.http.get("users", auth=("a@example.com", "k" * 32)), "UNAUTHORIZED", 401)
    check_error(realm.stage.nobody(host=realm.host).request("GET", "users"), "UNAUTHORIZED", 401)  # it is off there
    realm.stage.sql("update realm set is_active = false where id = %s", realm.id)
    check_error(nobody.request("GET", "users"), "UNAUTHORIZED", 401)


def test_where_guests_see_only_some_strangers_see_no_more_than_a_guest_of_the_open_channels(
    realm: Realm, other_web: Web
) -> None:
    nobody = realm.stage.nobody(url=other_web.url, host=realm.host)
    bot = realm.bot(realm.member)
    channel = realm.stage.channel(realm.moderator, realm_id=realm.id)
    realm.stage.channel(realm.member, realm_id=realm.id)
    realm.stage.sql("update channel set is_web_public = true where id = %s", channel.stream_id)
    set_realm(realm, enable_spectator_access=True)

    def seen() -> list[set[int]]:
        registered = nobody.post("register", fetch_event_types=["realm_user"])
        users = [*registered["realm_users"], *registered["realm_non_active_users"]]
        asked = [one.id for one in realm.all] + [bot.id]
        return [set(listed(nobody)), {user["user_id"] for user in users}, set(listed(nobody, user_ids=asked))]

    assert seen() == [set(listed(realm.owner))] * 3
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    fields = {"can_access_all_users_group": {"new": groups["role:members"]}}
    check_success(realm.owner.request("PATCH", "realm", **fields))
    assert seen() == [{realm.moderator.id, bot.id}] * 3


# Guests who see only some


@pytest.fixture
def closed(realm: Realm) -> Realm:
    """Guests see only whom they share something with."""
    sql = """
    insert into realm_permission (realm_id, setting, group_id)
    select %s, 'can_access_all_users_group', id from user_group where realm_id = %s and name = 'role:members'
    """
    realm.stage.sql(sql, realm.id, realm.id)
    return realm


KNOWS_SOME = {"notification_settings_null": True, "user_list_incomplete": True}


def test_a_limited_guest_sees_themselves_bots_and_those_they_share_something_with(closed: Realm) -> None:
    bot = closed.bot(closed.owner)
    assert listed(closed.guest).keys() == {closed.guest.id, bot.id}
    closed.stage.channel(closed.guest, closed.member, realm_id=closed.id)
    closed.moderator.send([closed.guest.id, closed.administrator.id])
    seen = {closed.guest.id, bot.id, closed.member.id, closed.moderator.id, closed.administrator.id}
    assert listed(closed.guest).keys() == seen
    asked: Json = {"event_types": [], "fetch_event_types": ["realm_user"], "client_capabilities": KNOWS_SOME}
    state = Queue(closed.guest, **asked).state
    assert {one["user_id"] for one in state["realm_users"]} == seen
    assert listed(closed.guest, user_ids=[closed.owner.id, closed.member.id]).keys() == {closed.member.id}
    assert check_error(closed.guest.request("GET", f"users/{closed.owner.id}")) == "No such user"
    assert closed.guest.get(f"users/{closed.member.id}")["user"]["user_id"] == closed.member.id
    assert listed(closed.member).keys() == seen | {closed.owner.id}


def test_a_limited_guest_hears_only_of_those_in_sight(closed: Realm) -> None:
    closed.stage.channel(closed.guest, closed.member, realm_id=closed.id)
    guest, member = (listening(one, client_capabilities=KNOWS_SOME) for one in (closed.guest, closed.member))
    closed.owner.post(
        "users", email=unique("new").replace(" ", "") + "@example.com", password="long enough", full_name="X"
    )
    for target in (closed.administrator, closed.member):
        check_success(closed.owner.request("PATCH", f"users/{target.id}", full_name="Another"))
    assert [event["person"]["user_id"] for event in people_events(guest)] == [closed.member.id]
    assert len(people_events(member)) == 3


# Cost


async def test_what_a_request_asks_of_the_database_does_not_grow_with_the_users(realm: Realm) -> None:
    services = {
        "directory": lambda database: Directory(database, 2**20),
        "profile": lambda _: ProfileWriter(hold_fields, say_of),
        "arrival": lambda _: ARRIVAL,
        "again": lambda _: Reauthentication(),  # nothing here asks for it
        "handover": lambda _: BotHandover(hold_conversations, part, ()),
        "mails": lambda _: account_mails(Settings()),
        "limits": lambda _: RateLimits(Settings(), LocalBudgets()),
    }
    async with counting(realm.stage.server.postgres_url, tertulia.people.users.routes, **services) as counter:

        async def cost(method: str, path: str, **fields: str) -> int:
            return await counter.cost(realm.owner.user, method, path, realm.host, **fields)

        for _ in range(2):
            # Whose key, the version; the list itself, the first time after a change.
            assert await cost("GET", "users") == 3
            assert await cost("GET", "users") == 2
            assert await cost("GET", "users", user_ids=f"[{realm.member.id}]") == 2
            assert await cost("GET", f"users/{realm.member.id}") == 2
            assert await cost("GET", f"users/{realm.member.email}") == 3
            assert await cost("GET", "users/me") == 3
            # Lock, whether they were erased, write, who hears of it, the entry in the audit log, the events.
            assert await cost("PATCH", f"users/{realm.member.id}", full_name=unique("Name")) == 7
            for _more in range(10):
                await asyncio.to_thread(realm.stage.user, realm_id=realm.id)
        off = await cost("DELETE", f"users/{realm.member.id}")
        on = await cost("POST", f"users/{realm.member.id}/reactivate")
        # Keys, sessions and what waits with them end too; the account is held alone, with patience, and its bots are looked for
        # once more.
        assert max(off, on) <= 18
