"""API keys: listed, revoked, renewed; on every node at once."""

import time
from pathlib import Path

import httpx
import pytest

from tertulia.users.actions import create_api_key
from tests.features.stage import Stage, Web
from tests.server import Server, User
from tests.talk import Speaker, check_error, check_success


def another(stage: Stage, speaker: Speaker, label: str = "") -> str:
    """One more key."""
    return stage.write(lambda tx: create_api_key(tx, speaker.id, label))


def using(speaker: Speaker, key: str) -> httpx.Response:
    return speaker.http.get("users/me", auth=(speaker.email, key))


def test_keys_are_listed_with_their_labels_and_times_but_not_themselves(stage: Stage) -> None:
    speaker = stage.speaker()
    key = another(stage, speaker, "phone")
    reply = speaker.request("GET", "users/me/api_keys")
    listed = check_success(reply)["api_keys"]
    assert [set(entry) for entry in listed] == [{"id", "label", "created", "last_used"}] * 2
    assert [entry["label"] for entry in listed] == ["", "phone"]
    assert all(isinstance(entry["created"], int) and abs(entry["created"] - time.time()) < 60 for entry in listed)
    assert listed[1]["last_used"] is None
    assert key not in reply.text
    assert stage.sql("select count(*) from api_key where digest = %s", key.encode()) == [(0,)]


def test_the_key_of_a_login_is_labelled_with_the_client(stage: Stage, server: Server) -> None:
    someone = server.members[0]
    login = {"username": someone.email, "password": str(someone.password)}
    reply = stage.nobody().http.post("fetch_api_key", data=login, headers={"user-agent": "Kettle/1.2 (test)"})
    key = check_success(reply)["api_key"]
    device = stage.speaker(User(someone.user_id, someone.email, None, key, someone.role))
    assert device.get("users/me/api_keys")["api_keys"][-1]["label"] == "Kettle"
    device.post("users/me/api_key/regenerate")


def test_a_revoked_key_stops_at_once_and_the_others_stay(stage: Stage) -> None:
    speaker = stage.speaker()
    key = another(stage, speaker)
    check_success(using(speaker, key))
    [_, entry] = speaker.get("users/me/api_keys")["api_keys"]
    speaker.delete(f"users/me/api_keys/{entry['id']}")
    reply = using(speaker, key)
    check_error(reply, "UNAUTHORIZED", 401)
    assert "www-authenticate" in reply.headers
    assert len(speaker.get("users/me/api_keys")["api_keys"]) == 1


def test_a_key_can_revoke_itself(stage: Stage) -> None:
    speaker = stage.speaker()
    [entry] = speaker.get("users/me/api_keys")["api_keys"]
    speaker.delete(f"users/me/api_keys/{entry['id']}")
    check_error(speaker.request("GET", "users/me"), "UNAUTHORIZED", 401)


def test_somebody_else_s_key_and_one_that_does_not_exist_look_alike(stage: Stage) -> None:
    mine, theirs = stage.speaker(), stage.speaker()
    [entry] = theirs.get("users/me/api_keys")["api_keys"]
    answers = [mine.request("DELETE", f"users/me/api_keys/{id}") for id in (entry["id"], 2**40, 0)]
    assert len({check_error(answer) for answer in answers}) == 1
    theirs.get("users/me")
    assert mine.request("DELETE", "users/me/api_keys/abc").status_code == 404
    assert mine.request("DELETE", f"users/me/api_keys/{2**70}").status_code in (400, 404)


def test_nobody_sees_or_ends_keys_without_one(stage: Stage) -> None:
    nobody = stage.nobody()
    for method, path in [
        ("GET", "users/me/api_keys"),
        ("DELETE", "users/me/api_keys/1"),
        ("POST", "users/me/api_key/regenerate"),
    ]:
        check_error(nobody.request(method, path), "UNAUTHORIZED", 401)


def test_a_regenerated_key_replaces_the_one_of_the_call(stage: Stage) -> None:
    speaker = stage.speaker()
    other = another(stage, speaker)
    fresh = speaker.post("users/me/api_key/regenerate")["api_key"]
    check_error(speaker.request("GET", "users/me"), "UNAUTHORIZED", 401)
    for key in (fresh, other):
        check_success(using(speaker, key))
    assert len(stage.sql("select id from api_key where user_id = %s", speaker.id)) == 2


def test_a_key_is_replaced_once_however_often_that_is_asked_at_once(stage: Stage) -> None:
    speaker = stage.speaker()
    asked = [speaker.later("POST", "users/me/api_key/regenerate") for _ in range(8)]
    replies = [future.result(30) for future in asked]
    works = [reply for reply in replies if reply.status_code == 200]
    assert works
    assert len(stage.sql("select id from api_key where user_id = %s", speaker.id)) == len(works)


def test_bots_have_keys_too_but_webhook_bots_do_not_see_them(stage: Stage) -> None:
    generic, webhook = stage.speaker(stage.user(bot_type=1)), stage.speaker(stage.user(bot_type=2))
    assert len(generic.get("users/me/api_keys")["api_keys"]) == 1
    check_error(webhook.request("GET", "users/me/api_keys"), "UNAUTHORIZED", 401)
    check_error(webhook.request("POST", "users/me/api_key/regenerate"), "UNAUTHORIZED", 401)


def test_a_key_that_was_revoked_on_one_node_is_dead_on_the_other_within_a_second(stage: Stage, second: Web) -> None:
    here = stage.speaker()
    there = stage.speaker(here.user, url=second.url)
    safe = another(stage, here)
    there.get("users/me")
    [entry, _] = here.get("users/me/api_keys")["api_keys"]
    here.delete(f"users/me/api_keys/{entry['id']}")
    began = time.monotonic()
    check_error(there.request("GET", "users/me"), "UNAUTHORIZED", 401)
    assert time.monotonic() - began < 1
    check_success(using(there, safe))


def test_a_poll_of_a_revoked_key_may_end_but_the_next_request_is_refused_and_the_queue_is_there_for_other_keys(
    stage: Stage,
) -> None:
    speaker = stage.speaker()
    other = stage.speaker(User(speaker.id, speaker.email, None, another(stage, speaker), 400))
    queue = speaker.register()
    poll = queue.later()
    time.sleep(0.3)
    [entry, _] = other.get("users/me/api_keys")["api_keys"]
    other.delete(f"users/me/api_keys/{entry['id']}")
    sent = other.send([other.id], content="after")
    assert poll.result(30).status_code in (200, 401)
    check_error(queue.request(), "UNAUTHORIZED", 401)
    assert [event["message"]["id"] for event in queue.poll(other)] == [sent]


@pytest.mark.system
def test_the_use_of_keys_is_noted_at_the_latest_when_a_process_ends_and_not_oftener_than_every_hour(
    stage: Stage, server: Server, folder: Path
) -> None:
    speaker = stage.speaker()
    used, unused, old = speaker.user.api_key, another(stage, speaker), another(stage, speaker)
    note = "update api_key set last_used = now() - make_interval(mins => %s) where user_id = %s and id = %s"
    ids = [row[0] for row in stage.sql("select id from api_key where user_id = %s order by id", speaker.id)]
    stage.sql(note, 30, speaker.id, ids[0])
    stage.sql(note, 90, speaker.id, ids[2])

    def ages() -> list[float | None]:
        sql = "select extract(epoch from now() - last_used)::int from api_key where user_id = %s order by id"
        return [row[0] for row in stage.sql(sql, speaker.id)]

    web = Web(server, folder)
    try:
        there = stage.speaker(speaker.user, url=web.wait().url)
        for key in (used, old):
            check_success(using(there, key))
        first, second, third = ages()
        assert first is not None
        assert third is not None
        assert (first > 1700, second, third > 5000) == (True, None, True)  # nothing is written for a request
    finally:
        web.stop()
    first, second, third = ages()
    assert first is not None
    assert third is not None
    assert (first > 1700, second, third < 60) == (True, None, True)
    assert unused
