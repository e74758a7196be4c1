"""API keys: listed, revoked, renewed; on every node at once."""

import time
from functools import partial
from pathlib import Path

import httpx
import pytest

from tertulia.people.users.actions import create_api_key
from tertulia.people.users.model import MAX_KEYS
from tests.harness.browser import Browser, person
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.server import Server, User
from tests.harness.stage import Stage, Web, at_once, later
from tests.harness.talk import Speaker, check_error, check_success, unique


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
    assert [set(entry) for entry in listed] == [{"id", "label", "created", "last_used", "address", "is_current"}] * 2
    assert [entry["label"] for entry in listed] == ["", "phone"]
    assert [entry["is_current"] for entry in listed] == [True, False]
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
    listed = device.get("users/me/api_keys")["api_keys"][-1]
    assert (listed["label"], listed["address"]) == ("Kettle", "127.0.0.1")
    device.post("users/me/api_key/regenerate")


@pytest.mark.holds("authentication.key-lifetime")
def test_a_revoked_key_stops_at_once_and_the_others_stay(stage: Stage) -> None:
    speaker = stage.speaker()
    key = another(stage, speaker)
    check_success(using(speaker, key))
    [_, entry] = speaker.get("users/me/api_keys")["api_keys"]
    give_password(stage, speaker)
    speaker.delete(f"users/me/api_keys/{entry['id']}", password=PASSWORD)
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
    assert sorted(reply.status_code for reply in replies) == [200, *[401] * 7]
    assert len(stage.sql("select id from api_key where user_id = %s", speaker.id)) == 1


def test_bots_have_keys_too_but_webhook_bots_do_not_see_them(stage: Stage) -> None:
    generic, webhook = stage.speaker(stage.user(bot_type=1)), stage.speaker(stage.user(bot_type=2))
    assert len(generic.get("users/me/api_keys")["api_keys"]) == 1
    check_error(webhook.request("GET", "users/me/api_keys"), "UNAUTHORIZED", 401)
    check_error(webhook.request("POST", "users/me/api_key/regenerate"), "UNAUTHORIZED", 401)


@pytest.mark.timed
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


@pytest.mark.holds("authentication.waiting")
def test_a_poll_that_waits_with_a_revoked_key_brings_nothing_and_the_queue_is_there_for_other_keys(
    stage: Stage,
) -> None:
    speaker = stage.speaker()
    other = stage.speaker(User(speaker.id, speaker.email, None, another(stage, speaker), 400))
    queue = speaker.register()
    poll = queue.later()
    time.sleep(0.3)  # so that it waits; the outcome is the same if it does not yet
    [entry, _] = other.get("users/me/api_keys")["api_keys"]
    give_password(stage, other)
    other.delete(f"users/me/api_keys/{entry['id']}", password=PASSWORD)
    sent = other.send([other.id], content="after")
    reply = poll.result(30)
    check_error(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith("Basic ")
    check_error(queue.request(), "UNAUTHORIZED", 401)
    assert [event["message"]["id"] for event in queue.poll(other)] == [sent]


def test_a_poll_ends_when_its_key_is_revoked_without_waiting_for_an_event(stage: Stage) -> None:
    speaker = stage.speaker()
    safe = stage.speaker(User(speaker.id, speaker.email, None, another(stage, speaker), 400))
    queues = [speaker.register(), safe.register()]
    polls = [queue.later() for queue in queues]
    [entry, _] = safe.get("users/me/api_keys")["api_keys"]
    speaker.delete(f"users/me/api_keys/{entry['id']}")
    check_error(polls[0].result(30), "UNAUTHORIZED", 401)
    sent = safe.send([safe.id], content="after")
    [event] = check_success(polls[1].result(30))["events"]
    assert event["message"]["id"] == sent


def test_a_poll_on_another_node_ends_with_its_key(stage: Stage, second: Web) -> None:
    speaker = stage.speaker()
    safe = stage.speaker(User(speaker.id, speaker.email, None, another(stage, speaker), 400))
    poll = stage.speaker(speaker.user, url=second.url).register().later()
    [entry, _] = safe.get("users/me/api_keys")["api_keys"]
    speaker.delete(f"users/me/api_keys/{entry['id']}")
    safe.send([safe.id], content="after")
    check_error(poll.result(30), "UNAUTHORIZED", 401)


@pytest.mark.parametrize("way", ["one", "all", "logout", "password"])
def test_a_poll_of_a_browser_that_is_logged_out_brings_nothing(stage: Stage, server: Server, way: str) -> None:
    user = person(stage)
    here, there = Browser(server.url), Browser(server.url)
    try:
        here.log_in(user)
        there.log_in(user)
        state = here.post("register", event_types=["message"], fetch_event_types=[])
        asked = {"queue_id": state["queue_id"], "last_event_id": state["last_event_id"]}
        poll = later(here.request, "GET", "events", **asked)
        [first, _] = there.get("sessions")["sessions"]
        if way == "logout":
            ended = later(here.request, "DELETE", "sessions/current").result(30)
        elif way == "password":
            new = {"old_password": PASSWORD, "new_password": unique("quiet harbour lights")}
            ended = there.request("PATCH", "settings", **new)
        else:
            ended = there.request(
                "DELETE", f"sessions/{first['id']}" if way == "one" else "sessions", password=PASSWORD
            )
        check_success(ended)
        writer = stage.speaker()
        writer.send([user.user_id], content="after")
        reply = poll.result(30)
        check_error(reply, "UNAUTHORIZED", 401)
        assert reply.headers["www-authenticate"].startswith("Session ")
    finally:
        here.http.close()
        there.http.close()


def fetched(stage: Stage, user: User) -> Speaker:
    """A device that logged in with the password."""
    key = stage.nobody().post("fetch_api_key", username=user.email, password=PASSWORD)["api_key"]
    return stage.speaker(User(user.user_id, user.email, None, key, user.role))


def is_good(speaker: Speaker) -> bool:
    return speaker.request("GET", "users/me").status_code == 200


def test_a_new_password_ends_the_keys_that_were_got_by_the_old_one(stage: Stage, server: Server) -> None:
    user = person(stage)
    device, other = fetched(stage, user), fetched(stage, user)
    made = stage.write(lambda tx: create_api_key(tx, user.user_id, "by hand"))
    kept = stage.speaker(User(user.user_id, user.email, None, made, user.role))
    renewed = other.post("users/me/api_key/regenerate")["api_key"]
    other.http.auth = httpx.BasicAuth(user.email, renewed)
    here, there = Browser(server.url), Browser(server.url)
    try:
        here.log_in(user)
        there.log_in(user)
        browsers_key = here.post("users/me/api_key/regenerate", password=PASSWORD)["api_key"]
        browsers = stage.speaker(User(user.user_id, user.email, None, browsers_key, user.role))
        assert all(map(is_good, (device, other, kept, browsers)))
        new = {"old_password": PASSWORD, "new_password": unique("quiet harbour lights")}
        check_success(here.request("PATCH", "settings", **new))
        assert [is_good(one) for one in (device, other, browsers, kept)] == [False, False, False, True]
        check_success(here.request("GET", "users/me"))
        check_error(there.request("GET", "users/me"), "UNAUTHORIZED", 401)
    finally:
        here.http.close()
        there.http.close()


def test_a_wrong_old_password_ends_nothing(stage: Stage) -> None:
    user = person(stage)
    device, other = fetched(stage, user), fetched(stage, user)
    check_error(device.request("PATCH", "settings", old_password="wrong", new_password=unique("quiet harbour")))
    assert is_good(device)
    assert is_good(other)


@pytest.mark.holds("authentication.key-limit")
def test_an_account_has_so_many_keys_and_no_more(stage: Stage) -> None:
    user = person(stage)
    device = fetched(stage, user)

    def fill(count: int) -> None:
        sql = """
        insert into api_key (user_id, digest, made_by)
        select %s, sha256(convert_to(concat(%s::text, ' ', number::text), 'UTF8')), 'operator'
        from generate_series(1, %s) as number
        """
        stage.sql(sql, user.user_id, user.user_id, count)

    fill(MAX_KEYS - 3)
    login = {"username": user.email, "password": PASSWORD}
    replies = at_once([partial(stage.nobody().request, "POST", "fetch_api_key", **login) for _ in range(4)])
    assert sorted(reply.status_code for reply in replies) == [200, 200, 400, 400]
    refused = next(reply for reply in replies if reply.status_code == 400)
    assert str(MAX_KEYS) in check_error(refused)
    fresh = device.post("users/me/api_key/regenerate")["api_key"]  # in place of another
    device.http.auth = httpx.BasicAuth(user.email, fresh)
    listed = device.get("users/me/api_keys")["api_keys"]
    assert len(listed) == MAX_KEYS
    device.delete(f"users/me/api_keys/{listed[1]['id']}", password=PASSWORD)
    stage.nobody().post("fetch_api_key", **login)


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
