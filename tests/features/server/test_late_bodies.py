"""Whoever sends slowly is asked once more who they are: what they lost meanwhile does not help them any more."""

import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from tertulia.kernel.auth import Role
from tertulia.kernel.http import FRESH_SECONDS
from tests.harness.browser import Browser, person
from tests.harness.realm import Realm
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, check_error, check_success, unique

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def slowly(body: str, meanwhile: Callable[[], object], seconds: float = FRESH_SECONDS + 0.2) -> Iterator[bytes]:
    """Half of a body, and long after it the rest."""
    half = len(body) // 2
    yield body[:half].encode()
    time.sleep(0.3)  # the head is read, and it is asked who calls
    meanwhile()
    time.sleep(seconds)
    yield body[half:].encode()


def post(speaker: Speaker, path: str, body: str, meanwhile: Callable[[], object], **more: float) -> httpx.Response:
    headers = {**FORM, "Content-Length": str(len(body))}
    return speaker.http.post(path, content=slowly(body, meanwhile, **more), headers=headers)


@pytest.fixture
def said() -> str:
    return unique("late").replace(" ", "")


def sent(stage: Stage, said: str) -> int:
    [(count,)] = stage.sql("select count(*) from message where content = %s", said)
    return int(count)


def test_a_key_that_is_revoked_while_its_message_arrives_sends_nothing(stage: Stage, said: str) -> None:
    speaker = stage.speaker()
    channel = stage.channel(speaker)
    body = f"type=channel&to={channel.stream_id}&topic=late&content={said}"
    key = stage.sql("select id from api_key where user_id = %s", speaker.id)[0][0]
    reply = post(speaker, "messages", body, lambda: speaker.delete(f"users/me/api_keys/{key}"))
    check_error(reply, "UNAUTHORIZED", 401)
    assert sent(stage, said) == 0


def test_an_account_that_is_turned_off_while_its_message_arrives_sends_nothing(realm: Realm, said: str) -> None:
    channel = realm.stage.channel(realm.member, realm_id=realm.id)
    body = f"type=channel&to={channel.stream_id}&topic=late&content={said}"
    reply = post(realm.member, "messages", body, lambda: realm.owner.delete(f"users/{realm.member.id}"))
    check_error(reply, "UNAUTHORIZED", 401)
    assert sent(realm.stage, said) == 0


def test_a_role_that_is_taken_while_the_body_arrives_helps_no_more(realm: Realm) -> None:
    def demote() -> None:
        check_success(realm.owner.request("PATCH", f"users/{realm.administrator.id}", role=Role.MEMBER.value))

    body = "domain=late.example.com&allow_subdomains=true"
    reply = post(realm.administrator, "realm/domains", body, demote)
    check_error(reply, "UNAUTHORIZED_PRINCIPAL")
    assert realm.owner.get("realm/domains")["domains"] == []


def test_a_browser_that_is_logged_out_while_its_message_arrives_sends_nothing(stage: Stage, said: str) -> None:
    user = person(stage)
    browser = Browser(stage.server.url)
    browser.log_in(user)
    body = f'type=direct&to=["{user.email}"]&content={said}'
    headers = {**FORM, "Content-Length": str(len(body)), "X-CSRF-Token": browser.csrf_token or ""}
    end = "delete from browser_session where user_id = %s"
    content = slowly(body, lambda: stage.sql(end, user.user_id))
    check_error(browser.http.post("messages", content=content, headers=headers), "UNAUTHORIZED", 401)
    browser.http.close()
    assert sent(stage, said) == 0


def test_who_sends_slowly_and_lost_nothing_is_served(stage: Stage, said: str) -> None:
    speaker = stage.speaker()
    channel = stage.channel(speaker)
    body = f"type=channel&to={channel.stream_id}&topic=late&content={said}"
    check_success(post(speaker, "messages", body, lambda: None))
    assert sent(stage, said) == 1
