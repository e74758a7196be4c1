"""Presence (protocol/people.md#presence)."""

import time

import pytest

from tests.harness.talk import Json, Speaker, check_error


def ping(speaker: Speaker, status: str = "active", **fields: object) -> Json:
    return speaker.post("users/me/presence", status=status, **fields)


@pytest.mark.holds("presence.ping")
def test_a_ping_makes_somebody_present_for_everybody(newcomer: Speaker, member: Speaker) -> None:
    answer = ping(newcomer, last_update_id=-1)
    assert abs(answer["server_timestamp"] - time.time()) < 30
    own = answer["presences"][str(newcomer.id)]
    assert own.keys() == {"active_timestamp", "idle_timestamp"}
    assert all(abs(at - time.time()) < 30 for at in own.values())
    assert ping(member, last_update_id=-1)["presences"][str(newcomer.id)] == own


@pytest.mark.holds("presence.ping")
def test_an_idle_ping_says_only_that_somebody_is_connected(newcomer: Speaker) -> None:
    assert ping(newcomer, "idle", slim_presence=True)["presences"][str(newcomer.id)].keys() == {"idle_timestamp"}
    assert ping(newcomer, slim_presence=True)["presences"][str(newcomer.id)].keys() == {
        "active_timestamp",
        "idle_timestamp",
    }


@pytest.mark.holds("presence.changes")
def test_only_what_changed_since_the_known_number_comes_again(newcomer: Speaker, member: Speaker) -> None:
    known = ping(member, last_update_id=-1)["presence_last_update_id"]
    again = ping(member, last_update_id=known)
    assert (again["presences"], again["presence_last_update_id"]) == ({}, known)
    ping(newcomer, ping_only=True)
    news = ping(member, last_update_id=known)
    assert str(newcomer.id) in news["presences"]
    assert str(member.id) not in news["presences"]
    assert news["presence_last_update_id"] > known


@pytest.mark.holds("presence.forms")
def test_the_old_form_goes_by_address(newcomer: Speaker, bot: Speaker) -> None:
    shown = ping(newcomer)["presences"][newcomer.email]
    at = shown["aggregated"]["timestamp"]
    assert shown == {
        "aggregated": {"client": "website", "status": "active", "timestamp": at},
        "website": {"client": "website", "status": "active", "timestamp": at, "pushable": False},
    }
    listed = bot.get("realm/presence")
    assert listed["presences"][newcomer.email] == shown
    assert abs(listed["server_timestamp"] - time.time()) < 30


@pytest.mark.holds("presence.one")
def test_somebody_is_asked_for_by_number_or_address(newcomer: Speaker, member: Speaker, bot: Speaker) -> None:
    check_error(member.request("GET", f"users/{newcomer.id}/presence"))
    ping(newcomer, "idle")
    found = member.get(f"users/{newcomer.id}/presence")["presence"]
    assert found["aggregated"]["status"] == found["website"]["status"] == "idle"
    assert abs(found["idle_timestamp"] - time.time()) < 30
    assert member.get(f"users/{newcomer.email}/presence")["presence"] == found
    check_error(member.request("GET", f"users/{bot.id}/presence"))
    check_error(member.request("GET", "users/999999999/presence"))
    check_error(member.request("GET", "users/nobody@example.com/presence"))


@pytest.mark.holds("presence.hidden")
def test_whoever_does_not_want_to_be_seen_is_not(newcomer: Speaker, member: Speaker) -> None:
    newcomer.request("PATCH", "settings", presence_enabled=False)
    assert str(newcomer.id) not in ping(newcomer, last_update_id=-1)["presences"]
    check_error(member.request("GET", f"users/{newcomer.id}/presence"))


@pytest.mark.holds("presence.disabled")
def test_where_presence_is_disabled_nobody_sees_anybody(owner: Speaker, newcomer: Speaker, member: Speaker) -> None:
    known = ping(newcomer, last_update_id=-1)["presence_last_update_id"]
    owner.request("PATCH", "realm", presence_disabled=True)
    try:
        assert ping(member, last_update_id=-1)["presences"] == {}
        assert ping(member, last_update_id=known)["presence_last_update_id"] == known
        assert ping(member)["presences"] == member.get("realm/presence")["presences"] == {}
        state = member.post("register", event_types=[], fetch_event_types=["presence"])
        assert (state["presences"], state["presence_last_update_id"]) == ({}, -1)
        check_error(member.request("GET", f"users/{newcomer.id}/presence"))
    finally:
        owner.request("PATCH", "realm", presence_disabled=False)
    assert str(newcomer.id) in ping(member, last_update_id=-1)["presences"]


@pytest.mark.holds("presence.ping-only")
def test_a_ping_alone_is_answered_with_nothing_else(newcomer: Speaker) -> None:
    assert ping(newcomer, ping_only=True) == {"result": "success", "msg": ""}


@pytest.mark.holds("presence.refused")
@pytest.mark.parametrize("fields", [{}, {"status": "asleep"}, {"status": "active", "last_update_id": "new"}], ids=str)
def test_what_is_no_ping(newcomer: Speaker, fields: Json) -> None:
    check_error(newcomer.request("POST", "users/me/presence", **fields))


@pytest.mark.holds("presence.refused")
def test_programs_and_strangers_are_not_present(bot: Speaker, nobody: Speaker) -> None:
    check_error(bot.request("POST", "users/me/presence", status="active"))
    check_error(nobody.request("POST", "users/me/presence", status="active"), "UNAUTHORIZED", 401)


@pytest.mark.holds("presence.forms")
def test_the_state_at_registration_is_in_the_form_asked_for(newcomer: Speaker) -> None:
    ping(newcomer)

    def state(**options: object) -> Json:
        found = newcomer.post("register", event_types=[], fetch_event_types=["presence"], **options)
        newcomer.delete("events", queue_id=found["queue_id"])
        shown: Json = found
        return shown

    modern = state(slim_presence=True)
    assert modern["presences"][str(newcomer.id)].keys() == {"active_timestamp", "idle_timestamp"}
    assert abs(modern["server_timestamp"] - time.time()) < 30
    assert str(newcomer.id) not in ping(newcomer, last_update_id=modern["presence_last_update_id"])["presences"]
    assert state()["presences"][newcomer.email]["aggregated"]["status"] == "active"
    assert state(presence_history_limit_days=0)["presences"] == {}
