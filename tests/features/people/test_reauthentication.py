"""Who has stolen a key or a session does not have the account: what would keep it needs the password in the call."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.harness.authenticator import give_factor
from tests.harness.browser import Browser, person
from tests.harness.mails import mailed
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.server import OWNER, Server, User
from tests.harness.stage import Stage, at_once
from tests.harness.talk import Speaker, check_error, check_success, eventually, unique

NEEDED = "REAUTHENTICATION_REQUIRED"


@pytest.fixture
def user(stage: Stage) -> User:
    return person(stage)


def opened(server: Server, user: User) -> Iterator[Browser]:
    one = Browser(server.url)
    try:
        one.log_in(user)
        yield one
    finally:
        one.http.close()


@pytest.fixture
def browser(server: Server, user: User) -> Iterator[Browser]:
    yield from opened(server, user)


@pytest.fixture
def other(server: Server, user: User) -> Iterator[Browser]:
    """A second one of the same person."""
    yield from opened(server, user)


@pytest.fixture
def member(stage: Stage) -> Speaker:
    """Somebody with a key and a password."""
    speaker = stage.speaker()
    give_password(stage, speaker)
    return speaker


def address() -> str:
    return unique("new").replace(" ", ".") + "@example.com"


def check_needed(reply: httpx.Response, *methods: str) -> None:
    check_error(reply, NEEDED, 403, methods=list(methods) or ["password"])


def requests_of(stage: Stage, user_id: int) -> int:
    [(count,)] = stage.sql("select count(*) from email_change where user_id = %s", user_id)
    return int(count)


def tokens_for(folder: Path, email: str, count: int = 1) -> list[str]:
    return mailed(folder, email, r"/accounts/email/confirm/(\S+)", count)


def keys_of(stage: Stage, user_id: int) -> int:
    [(count,)] = stage.sql("select count(*) from api_key where user_id = %s", user_id)
    return int(count)


# The address


def test_a_key_alone_does_not_ask_for_another_address(stage: Stage, member: Speaker, folder_of_mails: Path) -> None:
    new = address()
    check_needed(member.request("PATCH", "settings", email=new))
    assert check_error(member.request("PATCH", "settings", email=new, old_password="guessed")) == "Wrong password!"
    assert requests_of(stage, member.id) == 0
    check_success(member.request("PATCH", "settings", email=new, old_password=PASSWORD))
    assert tokens_for(folder_of_mails, new)


def test_a_session_alone_does_not_ask_for_another_address(stage: Stage, browser: Browser, user: User) -> None:
    new = address()
    check_needed(browser.request("PATCH", "settings", email=new))
    assert requests_of(stage, user.user_id) == 0
    check_success(browser.request("PATCH", "settings", email=new, old_password=PASSWORD))


def test_the_address_changes_when_the_old_one_has_agreed_and_both_hear_of_it(
    realm: Realm, folder_of_mails: Path
) -> None:
    give_password(realm.stage, realm.member)
    confirm = partial(realm.stage.nobody(host=realm.host).post, "accounts/email/confirm")
    for old_is_first, before in ((True, 0), (False, 1)):
        old, new = realm.member.get("users/me")["delivery_email"], address()
        check_success(realm.member.request("PATCH", "settings", email=new, old_password=PASSWORD))
        of_old, of_new = tokens_for(folder_of_mails, old, before + 1)[-1], tokens_for(folder_of_mails, new)[-1]
        mailed(folder_of_mails, old, re.escape(new))
        first, second = (of_old, of_new) if old_is_first else (of_new, of_old)
        assert confirm(token=first)["is_changed"] is False
        assert confirm(token=first)["is_changed"] is False
        assert realm.member.get("users/me")["delivery_email"] == old
        assert confirm(token=second)["is_changed"] is True
        realm.member.http.auth = httpx.BasicAuth(new, realm.member.user.api_key)
        assert realm.member.get("users/me")["delivery_email"] == new
        for heard, mails in ((old, before + 1), (new, 1)):
            mailed(folder_of_mails, heard, "The email address of your account", mails)


def test_both_confirm_at_once_and_the_address_changes_once(realm: Realm, folder_of_mails: Path) -> None:
    give_password(realm.stage, realm.member)
    old, new = realm.member.email, address()
    check_success(realm.member.request("PATCH", "settings", email=new, old_password=PASSWORD))
    tokens = [*tokens_for(folder_of_mails, old), *tokens_for(folder_of_mails, new)]
    people = [realm.stage.nobody(host=realm.host) for _ in tokens]
    calls = [
        partial(who.request, "POST", "accounts/email/confirm", token=token)
        for who, token in zip(people, tokens, strict=True)
    ]
    changed = sorted(check_success(reply)["is_changed"] for reply in at_once(calls))
    assert changed == [False, True]
    assert realm.owner.get(f"users/{realm.member.id}")["user"]["delivery_email"] == new


def test_an_owner_and_their_bot_do_not_go_around_it(realm: Realm) -> None:
    bot = realm.bot(realm.owner)
    check_success(realm.owner.request("PATCH", f"users/{bot.id}", role=OWNER))
    for caller in (realm.owner, bot):
        text = check_error(caller.request("PATCH", f"users/{realm.owner.id}", new_email=address()))
        assert "PATCH /settings" in text
    check_success(realm.owner.request("PATCH", f"users/{realm.owner.id}", new_email=realm.owner.email))
    check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", new_email=address()))


# Keys and sessions


def test_a_session_does_not_become_a_key_without_the_password(stage: Stage, browser: Browser, user: User) -> None:
    check_needed(browser.request("POST", "users/me/api_key/regenerate"))
    check_error(browser.request("POST", "users/me/api_key/regenerate", password="guessed"))
    assert keys_of(stage, user.user_id) == 0
    key = browser.post("users/me/api_key/regenerate", password=PASSWORD)["api_key"]
    assert stage.nobody().http.get("users/me", auth=(user.email, key)).status_code == 200


def test_a_session_does_not_become_the_key_of_a_bot_without_the_password(
    stage: Stage, browser: Browser, user: User
) -> None:
    wanted = {"full_name": unique("Bot"), "short_name": unique("bot").replace(" ", "-")}
    check_needed(browser.request("POST", "bots", **wanted))
    check_error(browser.request("POST", "bots", password="guessed", **wanted))
    assert browser.get("bots")["bots"] == []
    bot = browser.post("bots", password=PASSWORD, **wanted)
    regenerate = f"bots/{bot['user_id']}/api_key/regenerate"
    check_needed(browser.request("POST", regenerate))
    assert keys_of(stage, bot["user_id"]) == 1
    assert browser.post(regenerate, password=PASSWORD)["api_key"] != bot["api_key"]


def test_the_owner_hears_of_the_first_key_that_a_session_made(browser: Browser) -> None:
    named = unique("Bot")
    bot = browser.post("bots", full_name=named, short_name=named.replace(" ", "-"), password=PASSWORD)
    eventually(lambda: notices_about(browser, bot["user_id"]))
    assert "A new API key for your bot" in notices_about(browser, bot["user_id"])[-1]


def notices_about(browser: Browser, bot_id: int) -> list[str]:
    messages = browser.get("messages", anchor="newest", num_before=10, num_after=0)["messages"]
    return [message["content"] for message in messages if f'data-user-id="{bot_id}"' in message["content"]]


def test_a_session_does_not_widen_what_a_bot_may_do_without_the_password(stage: Stage, server: Server) -> None:
    administrator = person(stage)
    check_success(stage.speaker(stage.server.owner).request("PATCH", f"users/{administrator.user_id}", role=200))
    for browser in opened(server, administrator):
        wanted = {"full_name": unique("Bot"), "short_name": unique("bot").replace(" ", "-"), "bot_type": 3}
        made = browser.post("bots", payload_url='"https://bots.example.com/a"', password=PASSWORD, **wanted)
        path = f"bots/{made['user_id']}"
        for change in ({"role": 200}, {"service_payload_url": '"https://bots.example.com/b"'}):
            check_needed(browser.request("PATCH", path, **change))
            check_success(browser.request("PATCH", path, password=PASSWORD, **change))
        check_success(browser.request("PATCH", path, full_name=unique("Bot")))
        given = {"bot_owner_id": person(stage).user_id}
        check_needed(browser.request("PATCH", path, **given))
        check_success(browser.request("PATCH", path, password=PASSWORD, **given))


def test_an_administrators_session_raises_nobody_without_the_password(stage: Stage, server: Server) -> None:
    administrator, accomplice = person(stage), person(stage)
    check_success(stage.speaker(stage.server.owner).request("PATCH", f"users/{administrator.user_id}", role=200))
    for browser in opened(server, administrator):
        for who in (str(accomplice.user_id), accomplice.email):
            check_needed(browser.request("PATCH", f"users/{who}", role=200))
            check_needed(browser.request("PATCH", f"users/{who}", new_email=address()))
        offer = {"stream_ids": "[]", "invite_as": 200}
        check_needed(browser.request("POST", "invites/multiuse", **offer))
        check_needed(browser.request("POST", "invites", invitee_emails=address(), **offer))
        check_success(browser.request("PATCH", f"users/{accomplice.user_id}", full_name=unique("Other")))
        check_success(browser.request("POST", "invites/multiuse", stream_ids="[]"))
        check_success(browser.request("PATCH", f"users/{accomplice.user_id}", role=300, password=PASSWORD))
        check_success(browser.request("POST", "invites/multiuse", password=PASSWORD, **offer))


def test_programs_make_and_change_bots_as_ever(realm: Realm) -> None:
    made = realm.owner.post("bots", full_name=unique("Bot"), short_name=unique("bot").replace(" ", "-"))
    check_success(realm.owner.request("PATCH", f"bots/{made['user_id']}", role=200))
    realm.owner.post(f"bots/{made['user_id']}/api_key/regenerate")


def test_a_program_replaces_its_own_key_as_ever(member: Speaker) -> None:
    key = member.post("users/me/api_key/regenerate")["api_key"]
    assert member.http.get("users/me", auth=(member.email, key)).status_code == 200
    assert member.request("GET", "users/me").status_code == 401


def test_keys_and_sessions_other_than_ones_own_end_with_the_password(
    browser: Browser, other: Browser, user: User
) -> None:
    key = browser.post("users/me/api_key/regenerate", password=PASSWORD)["api_key"]
    [entry] = browser.get("users/me/api_keys")["api_keys"]
    [session] = [one["id"] for one in browser.get("sessions")["sessions"] if not one["is_current"]]
    for path in (f"sessions/{session}", "sessions", f"users/me/api_keys/{entry['id']}"):
        check_needed(browser.request("DELETE", path))
        if "api_keys" not in path:
            check_needed(browser.http.request("DELETE", path, auth=(user.email, key)))
    assert other.request("GET", "users/me").status_code == 200
    check_success(browser.request("DELETE", f"sessions/{session}", password=PASSWORD))
    assert other.request("GET", "users/me").status_code == 401
    check_success(browser.request("DELETE", f"users/me/api_keys/{entry['id']}", password=PASSWORD))
    [own] = [one["id"] for one in browser.get("sessions")["sessions"]]
    check_success(browser.request("DELETE", f"sessions/{own}"))


# The account


@pytest.mark.parametrize("path", ["me", "{id}"])
def test_nobody_deactivates_themselves_without_the_password(realm: Realm, path: str) -> None:
    somebody = realm.administrator
    give_password(realm.stage, somebody)
    where = f"users/{path}".format(id=somebody.id)
    check_needed(somebody.request("DELETE", where))
    check_error(somebody.request("DELETE", where, password="guessed"))
    check_success(somebody.request("GET", "users/me"))
    check_success(somebody.request("DELETE", where, password=PASSWORD))
    assert somebody.request("GET", "users/me").status_code == 401


# What counts as proof


def test_who_has_no_password_needs_a_login_of_these_minutes(stage: Stage, browser: Browser, user: User) -> None:
    """People of a provider: their session is young enough when they have just come from there."""
    stage.sql("update account set password_hash = null where id = %s", user.user_id)
    key = browser.post("users/me/api_key/regenerate")["api_key"]
    check_needed(browser.http.request("PATCH", "settings", data={"email": address()}, auth=(user.email, key)), "login")
    stage.sql("update browser_session set created = now() - interval '11 minutes' where user_id = %s", user.user_id)
    check_needed(browser.request("POST", "users/me/api_key/regenerate"), "login")
    check_needed(browser.request("POST", "users/me/api_key/regenerate", password=""), "login")


def test_guesses_are_counted_for_each_session_and_for_all_keys_together(
    browser: Browser, other: Browser, user: User
) -> None:
    guess = {"email": address(), "old_password": "guessed"}
    for _ in range(5):
        check_error(browser.request("PATCH", "settings", **guess))
    assert browser.request("PATCH", "settings", **guess | {"old_password": PASSWORD}).status_code == 429
    key = other.post("users/me/api_key/regenerate", password=PASSWORD)["api_key"]
    for _ in range(5):
        check_error(other.http.request("PATCH", "settings", data=guess, auth=(user.email, key)))
        key = check_success(other.http.post("users/me/api_key/regenerate", auth=(user.email, key)))["api_key"]
    assert other.http.request("PATCH", "settings", data=guess, auth=(user.email, key)).status_code == 429


def test_a_code_of_the_second_factor_will_do_as_well_once(stage: Stage, browser: Browser, user: User) -> None:
    authenticator = give_factor(stage, user.user_id)
    check_needed(browser.request("POST", "users/me/api_key/regenerate"), "password", "code")
    check_error(browser.request("POST", "users/me/api_key/regenerate", code="000000"), "SECOND_FACTOR_FAILED", 400)
    code = authenticator.code()
    browser.post("users/me/api_key/regenerate", code=code)
    check_error(browser.request("POST", "users/me/api_key/regenerate", code=code), "SECOND_FACTOR_FAILED", 400)
    stage.sql("update account set password_hash = null where id = %s", user.user_id)
    stage.sql("update browser_session set created = now() - interval '11 minutes' where user_id = %s", user.user_id)
    check_needed(browser.request("POST", "users/me/api_key/regenerate"), "code")
    for _ in range(4):
        check_error(browser.request("POST", "users/me/api_key/regenerate", code="000000"), "SECOND_FACTOR_FAILED", 400)
    assert browser.request("POST", "users/me/api_key/regenerate", code=authenticator.code()).status_code == 429
