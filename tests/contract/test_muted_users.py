"""Muting people (protocol/people.md#muted-users)."""

import time

import pytest

from tests.harness.talk import Json, Speaker, check_error


def muted(speaker: Speaker) -> list[Json]:
    state = speaker.post("register", event_types=[], fetch_event_types=["muted_users"])
    speaker.delete("events", queue_id=state["queue_id"])
    found: list[Json] = state["muted_users"]
    return found


@pytest.mark.holds("muted-users.mute")
def test_somebody_is_muted_and_heard_again(newcomer: Speaker, member: Speaker, bot: Speaker) -> None:
    assert muted(newcomer) == []
    assert newcomer.post(f"users/me/muted_users/{member.id}") == {"result": "success", "msg": ""}
    newcomer.post(f"users/me/muted_users/{bot.id}")
    found = {one["id"]: one["timestamp"] for one in muted(newcomer)}
    assert found.keys() == {member.id, bot.id}
    assert all(isinstance(at, int) and abs(at - time.time()) < 60 for at in found.values())
    assert muted(member) == []
    assert newcomer.delete(f"users/me/muted_users/{member.id}") == {"result": "success", "msg": ""}
    assert [one["id"] for one in muted(newcomer)] == [bot.id]


@pytest.mark.holds("muted-users.refused")
def test_what_makes_no_sense_is_refused(newcomer: Speaker, member: Speaker) -> None:
    own = f"users/me/muted_users/{member.id}"
    assert check_error(newcomer.request("DELETE", own)) == "User is not muted"
    newcomer.post(own)
    assert check_error(newcomer.request("POST", own)) == "User already muted"
    assert check_error(newcomer.request("POST", f"users/me/muted_users/{newcomer.id}")) == "Cannot mute self"
    for method in ("POST", "DELETE"):
        assert check_error(newcomer.request(method, "users/me/muted_users/999999999")) == "No such user"
        check_error(newcomer.request(method, "users/me/muted_users/somebody"), "NOT_FOUND", 404)


@pytest.mark.holds("muted-users.account")
def test_it_takes_an_account(nobody: Speaker, member: Speaker) -> None:
    check_error(nobody.request("POST", f"users/me/muted_users/{member.id}"), "UNAUTHORIZED", 401)
