"""Settings, muted users and alert words: who hears of a change, and that events continue the state."""

import json
from typing import Any

import pytest

import tertulia.people.preferences.routes
from tertulia.conversations.invitations.arrival import ARRIVAL
from tertulia.kernel.limits import LocalBudgets, RateLimits
from tertulia.kernel.settings import Settings
from tertulia.people.logins.login import PasswordLogin
from tertulia.people.users.archives import StoredArchives
from tertulia.people.users.reauthentication import Reauthentication
from tests.harness.browser import Browser, person
from tests.harness.counting import counting
from tests.harness.passwords import PASSWORD
from tests.harness.realm import Realm, listening, people_events
from tests.harness.stage import Stage, at_once
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success

TYPES = ["user_settings", "muted_users", "alert_words"]


def listen(speaker: Speaker) -> Queue:
    return Queue(speaker, event_types=[*TYPES, "message"], fetch_event_types=TYPES)


def state(speaker: Speaker) -> Json:
    with Queue(speaker, event_types=[], fetch_event_types=TYPES) as queue:
        return {name: queue.state[name] for name in TYPES}


def continued(queue: Queue) -> Json:
    """What a client knows that applies its events to its state."""
    known = {name: queue.state[name] for name in TYPES}
    for event in queue.so_far():
        if event["type"] == "user_settings":
            assert known["user_settings"][event["property"]] != event["value"], "an event that changes nothing"
            known["user_settings"][event["property"]] = event["value"]
        else:
            known[event["type"]] = event[event["type"]]
    return known


def change(speaker: Speaker, **fields: object) -> None:
    check_success(speaker.request("PATCH", "settings", **fields))


def stored(realm: Realm, speaker: Speaker) -> Json:
    [(found,)] = realm.stage.sql("select settings from account where id = %s", speaker.id)
    settings: Json = found
    return settings


# Settings


def test_ones_own_clients_hear_each_change_once(realm: Realm) -> None:
    with listen(realm.member) as own, listen(realm.owner) as others:
        change(realm.member, enter_sends=True, color_scheme=2, default_language="de", presence_enabled=True)
        change(realm.member, enter_sends=True)
        events = [{key: event[key] for key in event.keys() - {"id"}} for event in own.so_far()]
        assert sorted(events, key=lambda event: event["property"]) == [
            {"type": "user_settings", "op": "update", "property": "color_scheme", "value": 2},
            {
                "type": "user_settings",
                "op": "update",
                "property": "default_language",
                "value": "de",
                "language_name": "Deutsch",
            },
            {"type": "user_settings", "op": "update", "property": "enter_sends", "value": True},
        ]
        assert others.so_far() == []


def test_only_what_differs_from_the_defaults_is_stored(realm: Realm) -> None:
    realm.stage.sql("update account set settings = '{\"of_another_feature\": 1}' where id = %s", realm.member.id)
    change(realm.member, enter_sends=True, color_scheme=3, emojiset="google")
    assert stored(realm, realm.member) == {"of_another_feature": 1, "enter_sends": True, "color_scheme": 3}
    change(realm.member, enter_sends=False)
    assert stored(realm, realm.member) == {"of_another_feature": 1, "color_scheme": 3}


def test_others_hear_of_name_and_time_zone(realm: Realm) -> None:
    queue = listening(realm.guest)
    change(realm.member, full_name="Another Name", timezone="America/Lima", enter_sends=True)
    change(realm.member, full_name="Another Name", timezone="America/Lima")
    assert [event["person"] for event in people_events(queue)] == [
        {"user_id": realm.member.id, "full_name": "Another Name"},
        {"user_id": realm.member.id, "timezone": "America/Lima", "email": realm.member.email},
    ]


def test_hiding_the_address_is_told_to_each_as_they_may_know(realm: Realm) -> None:
    queues = {speaker.id: listening(speaker) for speaker in (realm.administrator, realm.guest, realm.member)}
    change(realm.member, email_address_visibility=3, timezone="Asia/Tokyo")
    shown = f"user{realm.member.id}@{realm.host}"
    for speaker_id, queue in queues.items():
        hidden, renamed, moved = (event["person"] for event in people_events(queue))
        assert hidden["delivery_email"] == (None if speaker_id == realm.guest.id else realm.member.email)
        assert renamed["new_email"] == moved["email"] == shown
    assert realm.guest.get(f"users/{realm.member.id}")["user"]["email"] == shown
    assert realm.member.get("users/me")["delivery_email"] == realm.member.email


@pytest.mark.parametrize(("role", "changes"), [("member", False), ("administrator", True)])
def test_where_names_are_fixed_only_administrators_change_theirs(realm: Realm, role: str, changes: bool) -> None:
    settings = json.dumps({"name_changes_disabled": True})
    realm.stage.sql("update realm set settings = %s where id = %s", settings, realm.id)
    speaker: Speaker = getattr(realm, role)
    change(speaker, full_name="Wanted", enter_sends=True)
    assert (speaker.get("users/me")["full_name"] == "Wanted") is changes
    assert state(speaker)["user_settings"]["enter_sends"] is True


def test_where_names_are_unique_nobody_takes_that_of_another(realm: Realm) -> None:
    settings = json.dumps({"require_unique_names": True})
    realm.stage.sql("update realm set settings = %s where id = %s", settings, realm.id)
    change(realm.member, full_name="Unique One")
    check_error(realm.guest.request("PATCH", "settings", full_name="unique one"))
    change(realm.member, full_name="UNIQUE one")


def test_two_clients_change_settings_at_once(realm: Realm) -> None:
    names = ["enter_sends", "high_contrast_mode", "fluid_layout_width", "translate_emoticons"]

    def work(number: int) -> int:
        name = names[number % 4]
        fields: dict[str, Any] = {name: number % 3 > 0, "web_font_size_px": 10 + number % 5}
        return realm.member.request("PATCH", "settings", **fields).status_code

    with listen(realm.member) as queue:
        assert set(at_once([lambda n=n: work(n) for n in range(16)])) == {200}  # type: ignore[misc]
        assert continued(queue) == state(realm.member)


def test_a_new_password_ends_the_sessions_of_all_other_browsers(stage: Stage) -> None:
    user = person(stage)
    here, there = Browser(stage.server.url), Browser(stage.server.url)
    try:
        for browser in (here, there):
            browser.log_in(user)
        check_success(
            here.request("PATCH", "settings", old_password=PASSWORD, new_password="amber kettles hum at dawn")
        )
        assert here.get("users/me")["user_id"] == user.user_id
        check_error(there.request("GET", "users/me"), "UNAUTHORIZED", 401)
    finally:
        here.http.close()
        there.http.close()


async def test_a_request_asks_as_much_of_the_database_for_many_settings_as_for_one(realm: Realm) -> None:
    services = {
        "login": lambda database: PasswordLogin(database, Settings(), ARRIVAL),
        "limits": lambda _: RateLimits(Settings(), LocalBudgets()),
        "again": lambda _: Reauthentication(),  # nothing here asks for it
        "archives": lambda _: StoredArchives(),
    }
    async with counting(realm.stage.server.postgres_url, tertulia.people.preferences.routes, **services) as counter:

        async def cost(**fields: str) -> int:
            return await counter.cost(realm.member.user, "PATCH", "settings", realm.host, **fields)

        many = dict.fromkeys(["high_contrast_mode", "fluid_layout_width", "translate_emoticons"], "true")
        assert await cost(enter_sends="true") == await cost(**many) <= 4


# Muted users and alert words


def test_ones_own_clients_hear_the_whole_lists(realm: Realm) -> None:
    with listen(realm.member) as own, listen(realm.owner) as others:
        realm.member.post(f"users/me/muted_users/{realm.owner.id}")
        realm.member.post("users/me/alert_words", alert_words=["tea"])
        realm.member.post("users/me/alert_words", alert_words=["TEA"])  # changes nothing: no event
        realm.member.delete("users/me/alert_words", alert_words=["coffee"])
        realm.member.post(f"users/me/muted_users/{realm.guest.id}")
        realm.member.delete(f"users/me/muted_users/{realm.owner.id}")
        events = own.so_far()
        assert [event["type"] for event in events] == ["muted_users", "alert_words", "muted_users", "muted_users"]
        assert [one["id"] for one in events[2]["muted_users"]] == [realm.owner.id, realm.guest.id]
        assert [one["id"] for one in events[3]["muted_users"]] == [realm.guest.id]
        assert events[1]["alert_words"] == ["tea"]
        assert others.so_far() == []


def test_lists_that_change_at_once_end_as_the_last_event_says(realm: Realm) -> None:
    people = [realm.speaker() for _ in range(5)]

    def work(number: int) -> int:
        method = "POST" if number % 3 else "DELETE"
        word = realm.member.request(method, "users/me/alert_words", alert_words=[f"word {number % 4}"])
        path = f"users/me/muted_users/{people[number % 5].id}"
        back = people[number % 5].request(method, f"users/me/muted_users/{realm.member.id}")
        return max(word.status_code, realm.member.request(method, path).status_code, back.status_code)

    with listen(realm.member) as queue:
        assert set(at_once([lambda n=n: work(n) for n in range(20)])) <= {200, 400}  # type: ignore[misc]
        assert continued(queue) == state(realm.member)


def test_people_elsewhere_and_out_of_sight_cannot_be_muted(realm: Realm) -> None:
    elsewhere = Realm(realm.stage)
    check_error(realm.member.request("POST", f"users/me/muted_users/{elsewhere.member.id}"))
    [members] = [group for group in realm.owner.get("user_groups")["user_groups"] if group["name"] == "role:members"]
    value = json.dumps({"new": members["id"]})
    check_success(realm.owner.request("PATCH", "realm", can_access_all_users_group=value))
    check_error(realm.guest.request("POST", f"users/me/muted_users/{realm.member.id}"))
    realm.guest.post(f"users/me/muted_users/{realm.bot(realm.owner).id}")
    assert [one["id"] for one in state(realm.guest)["muted_users"]] != [realm.member.id]


def test_deactivated_users_can_be_muted(realm: Realm) -> None:
    gone = realm.speaker()
    realm.owner.delete(f"users/{gone.id}")
    realm.member.post(f"users/me/muted_users/{gone.id}")
    assert [one["id"] for one in state(realm.member)["muted_users"]] == [gone.id]


def test_nobody_agrees_to_exports_by_a_default(realm: Realm) -> None:
    check_error(realm.owner.request("PATCH", "realm/user_settings_defaults", allow_private_data_export=True))
    check_success(realm.owner.request("PATCH", "realm/user_settings_defaults", allow_private_data_export=False))
    # As an archive may have brought it.
    brought = (
        """update realm set user_defaults = user_defaults || '{"allow_private_data_export": true}' where id = %s"""
    )
    realm.stage.sql(brought, realm.id)
    realm.speaker()
    assert not any(one["consented"] for one in realm.owner.get("export/realm/consents")["export_consents"])


def test_new_people_begin_with_the_defaults_of_the_organization(realm: Realm) -> None:
    types = ["realm_user_settings_defaults", "user_settings", "realm_user", "message"]
    with Queue(realm.guest, event_types=types, fetch_event_types=types) as queue:
        wanted = {"twenty_four_hour_time": True, "email_address_visibility": 4, "default_language": "eu"}
        check_success(realm.administrator.request("PATCH", "realm/user_settings_defaults", **wanted))
        check_success(realm.administrator.request("PATCH", "realm/user_settings_defaults", default_language="eu"))
        new = realm.speaker()
        heard = queue.so_far()
        told = {one["property"]: one["value"] for one in heard if one["type"] == "realm_user_settings_defaults"}
        assert told == wanted
        assert [event["type"] for event in heard] == ["realm_user_settings_defaults"] * 3 + ["realm_user"]
        person = heard[-1]["person"]
        assert person["email"] == realm.owner.get(f"users/{new.id}")["user"]["email"] != new.email
        with Queue(realm.guest, event_types=types, fetch_event_types=types) as later:
            expected = queue.state["realm_user_settings_defaults"] | wanted
            assert later.state["realm_user_settings_defaults"] == expected
            assert later.state["user_settings"] == queue.state["user_settings"]
            assert person == next(one for one in later.state["realm_users"] if one["user_id"] == new.id)
    with Queue(new, event_types=types, fetch_event_types=types) as own:
        chosen = own.state["user_settings"]
        assert {name: chosen[name] for name in wanted} == wanted
    for bad in ({"default_language": "tlh"}, {"color_scheme": 9}):
        check_error(realm.owner.request("PATCH", "realm/user_settings_defaults", **bad))
