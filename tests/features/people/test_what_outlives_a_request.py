"""What outlives a request asks once more who makes it, under the lock of its write: whoever is turned off or logged out at that
moment leaves nothing behind."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx
import pytest

from tertulia.kernel.auth import Role
from tertulia.people.users.actions import create_api_key
from tests.harness.browser import Browser, person
from tests.harness.passwords import PASSWORD, give_password, hashed
from tests.harness.realm import Realm
from tests.harness.server import User
from tests.harness.stage import Stage, holds_up, later
from tests.harness.talk import Speaker, check_error, check_success, eventually, unique

TURN_OFF = "update account set is_active = false where id = %s"
END_KEYS = "delete from api_key where user_id = %s"
DEMOTE = f"update account set role = {Role.GUEST.value} where id = %s"
OUT = [(TURN_OFF, ("UNAUTHORIZED", 401)), (END_KEYS, ("UNAUTHORIZED", 401)), (DEMOTE, ("BAD_REQUEST", 400))]
Execute = Callable[..., list[tuple[Any, ...]]]


@contextmanager
def held(stage: Stage, user_id: int) -> Iterator[Execute]:
    """While somebody else changes this account."""
    with stage.session() as execute:
        execute("select from account where id = %s for no key update", user_id)
        yield execute


def ends_meanwhile(stage: Stage, user_id: int, change: str, call: Callable[[], httpx.Response]) -> httpx.Response:
    """What a call is answered that was let in before a change, and writes after it."""
    with held(stage, user_id) as execute:
        under_way = later(call)
        eventually(lambda: holds_up(execute) or under_way.done())
        execute(change, user_id)
    return under_way.result(30)


def new_bot(owner: Speaker) -> httpx.Response:
    name = unique("helper")
    return owner.request("POST", "bots", full_name=name, short_name=name.replace(" ", "-"))


@pytest.mark.parametrize(("change", "refusal"), OUT)
def test_whoever_is_out_when_a_bot_is_written_has_none(realm: Realm, change: str, refusal: tuple[str, int]) -> None:
    reply = ends_meanwhile(realm.stage, realm.member.id, change, lambda: new_bot(realm.member))
    check_error(reply, *refusal)
    assert realm.stage.sql("select id from account where bot_owner_id = %s", realm.member.id) == []


def test_whoever_is_logged_out_when_an_address_is_asked_for_gets_no_mail(realm: Realm) -> None:
    member = realm.member
    give_password(realm.stage, member)
    address = unique("new").replace(" ", ".") + "@example.com"
    fields = {"email": address, "old_password": PASSWORD}
    reply = ends_meanwhile(realm.stage, member.id, END_KEYS, lambda: member.request("PATCH", "settings", **fields))
    check_error(reply, "UNAUTHORIZED", 401)
    assert realm.stage.sql("select from email_change where user_id = %s", member.id) == []


@pytest.mark.parametrize(("change", "refusal"), OUT)
def test_whoever_is_out_when_an_account_is_written_has_made_none(
    realm: Realm, change: str, refusal: tuple[str, int]
) -> None:
    address = unique("new").replace(" ", ".") + "@example.com"
    fields = {"email": address, "full_name": "Somebody New", "password": PASSWORD}
    admin = realm.administrator
    reply = ends_meanwhile(realm.stage, admin.id, change, lambda: admin.request("POST", "users", **fields))
    check_error(reply, *refusal)
    assert realm.stage.sql("select from account where email = %s", address) == []


def test_whoever_is_logged_out_when_a_role_is_written_has_given_none(realm: Realm) -> None:
    admin, path = realm.administrator, f"users/{realm.member.id}"
    call = lambda: admin.request("PATCH", path, role=Role.ADMINISTRATOR.value)  # noqa: E731
    check_error(ends_meanwhile(realm.stage, admin.id, END_KEYS, call), "UNAUTHORIZED", 401)
    assert realm.stage.sql("select role from account where id = %s", realm.member.id) == [(Role.MEMBER.value,)]


def test_whoever_is_logged_out_when_a_link_is_written_invites_nobody(realm: Realm) -> None:
    admin = realm.administrator
    call = lambda: admin.request("POST", "invites/multiuse")  # noqa: E731
    check_error(ends_meanwhile(realm.stage, admin.id, END_KEYS, call), "UNAUTHORIZED", 401)
    assert realm.stage.sql("select from invitation where inviter_id = %s", admin.id) == []


def test_a_browser_that_is_logged_out_when_a_key_is_written_has_none(stage: Stage) -> None:
    user = person(stage)
    browser = Browser(stage.server.url)
    browser.log_in(user)
    end = "delete from browser_session where user_id = %s"
    regenerate = "users/me/api_key/regenerate"
    reply = ends_meanwhile(stage, user.user_id, end, lambda: browser.request("POST", regenerate, password=PASSWORD))
    check_error(reply, "UNAUTHORIZED", 401)
    browser.http.close()
    assert stage.sql("select from api_key where user_id = %s", user.user_id) == []


def test_a_bot_that_is_given_while_its_new_owner_is_turned_off_goes_with_them(realm: Realm) -> None:
    bot = check_success(new_bot(realm.administrator))["user_id"]
    with realm.stage.session() as execute:
        execute("select from account where id in (%s, %s) for no key update", bot, realm.member.id)
        under_way = realm.owner.later("DELETE", f"users/{realm.member.id}")
        eventually(lambda: holds_up(execute))
        execute("update account set bot_owner_id = %s where id = %s", realm.member.id, bot)
    check_success(under_way.result(30))
    assert realm.stage.sql("select is_active from account where id = %s", bot) == [(False,)]


def fresh_key(speaker: Speaker, key: str | None = None) -> str:
    auth = (speaker.email, key or speaker.user.api_key)
    return str(check_success(speaker.http.post("users/me/api_key/regenerate", auth=auth))["api_key"])


def test_a_key_that_replaces_another_is_as_old_as_that_one(stage: Stage) -> None:
    speaker = stage.speaker()
    past = """
    update api_key set created = now() - interval '80 days', issuer = 'https://one', provider_session = 's'
    where user_id = %s
    """
    stage.sql(past, speaker.id)
    fresh_key(speaker, fresh_key(speaker))
    sql = """
    select created < now() - interval '79 days', issuer, provider_session, last_used > now() - interval '1 minute'
    from api_key where user_id = %s
    """
    assert stage.sql(sql, speaker.id) == [(True, "https://one", "s", True)]


def test_a_key_that_is_replaced_while_everything_else_ends_does_not_come_back(stage: Stage) -> None:
    speaker = stage.speaker()
    give_password(stage, speaker)
    own = User(speaker.id, speaker.email, None, stage.write(lambda tx: create_api_key(tx, speaker.id, "own")), 400)
    owner = stage.speaker(own)
    with stage.session() as execute:
        # What a regeneration does: it holds the account and its own key, and puts another one in its place.
        [(key, digest)] = execute("select id, digest from api_key where user_id = %s and label = ''", speaker.id)
        execute("select from account where id = %s for no key update", speaker.id)
        execute("delete from api_key where id = %s", key)
        under_way = owner.later("POST", "sessions/end_others", password=PASSWORD)
        eventually(lambda: holds_up(execute))
        execute("insert into api_key (user_id, digest, label) values (%s, %s, 'replaced')", speaker.id, digest)
    check_success(under_way.result(30))
    assert stage.sql("select label from api_key where user_id = %s", speaker.id) == [("own",)]


def test_a_password_that_was_replaced_while_it_was_checked_proves_nothing(stage: Stage) -> None:
    user = person(stage)
    browser = Browser(stage.server.url)
    browser.log_in(user)
    replace = "update account set password_hash = %s where id = %s"
    with stage.session() as execute:
        # The check is counted before it is made, so it can be held there, after the account was read.
        execute("lock table login_failure in access exclusive mode")
        under_way = later(browser.request, "POST", "users/me/api_key/regenerate", password=PASSWORD)
        eventually(lambda: holds_up(execute))
        execute(replace, hashed("another one that nobody guesses"), user.user_id)
    check_error(under_way.result(30))
    browser.http.close()
    assert stage.sql("select from api_key where user_id = %s", user.user_id) == []


def test_a_browser_that_is_logged_out_when_an_authenticator_is_written_has_none(stage: Stage) -> None:
    user = person(stage)
    browser = Browser(stage.server.url)
    browser.log_in(user)
    end = "delete from browser_session where user_id = %s"
    begin = "users/me/factors/totp"
    reply = ends_meanwhile(stage, user.user_id, end, lambda: browser.request("POST", begin, password=PASSWORD))
    check_error(reply, "UNAUTHORIZED", 401)
    browser.http.close()
    assert stage.sql("select from second_factor where user_id = %s", user.user_id) == []


def test_whoever_gives_a_bot_away_at_that_moment_makes_no_address_that_writes_as_it(realm: Realm) -> None:
    stage, bot = realm.stage, check_success(new_bot(realm.member))["user_id"]
    channel = stage.channel(realm.member, realm_id=realm.id)
    path = f"streams/{channel.stream_id}/email_address"
    with held(stage, bot) as execute:
        under_way = realm.member.later("POST", path, sender_id=bot)
        eventually(lambda: holds_up(execute) or under_way.done())
        execute("update account set bot_owner_id = %s where id = %s", realm.owner.id, bot)
    check_error(under_way.result(30))
    assert stage.sql("select from channel_address where sender_id = %s", bot) == []


def test_who_logs_in_anew_while_their_account_is_changed_waits_for_nobody_in_a_circle(stage: Stage) -> None:
    user = person(stage)
    browser = Browser(stage.server.url)
    browser.log_in(user)
    with held(stage, user.user_id) as execute:
        under_way = later(browser.log_in, user)
        eventually(lambda: holds_up(execute))
        execute("select from browser_session where user_id = %s for update", user.user_id)
    assert under_way.result(30)["user_id"] == user.user_id
    browser.http.close()
    assert stage.sql("select count(*) from browser_session where user_id = %s", user.user_id) == [(1,)]


def test_a_browser_that_is_logged_out_while_its_password_is_checked_ends_no_account(stage: Stage) -> None:
    user = person(stage)
    browser = Browser(stage.server.url)
    browser.log_in(user)
    with stage.session() as execute:
        execute("lock table login_failure in access exclusive mode")
        under_way = later(browser.request, "DELETE", "users/me", password=PASSWORD)
        eventually(lambda: holds_up(execute))
        execute("delete from browser_session where user_id = %s", user.user_id)
    check_error(under_way.result(30), "UNAUTHORIZED", 401)
    browser.http.close()
    assert stage.sql("select is_active from account where id = %s", user.user_id) == [(True,)]


def taken_away(stage: Stage, what: str, whose: int, call: Callable[[], httpx.Response]) -> httpx.Response:
    """What a call is answered that was let in before that was deleted, and writes after it."""
    with stage.session() as execute:
        execute(what, whose)
        under_way = later(call)
        eventually(lambda: holds_up(execute) or under_way.done())
    return under_way.result(30)


def test_whoever_is_logged_out_when_a_browser_is_subscribed_gets_no_pushes(stage: Stage) -> None:
    user, end = person(stage), "delete from browser_session where user_id = %s"
    browser, program = Browser(stage.server.url), stage.speaker()
    browser.log_in(user)
    point = program.get("users/me/push_subscriptions/key")["public_key"]
    for one, user_id, ends in ((browser, user.user_id, end), (program, program.id, END_KEYS)):
        fields = {"endpoint": f"https://push.example.com/{user_id}", "p256dh": point, "auth": "A" * 22}
        subscribe = partial(one.request, "POST", "users/me/push_subscriptions", **fields)
        check_error(taken_away(stage, ends, user_id, subscribe), "UNAUTHORIZED", 401)
        assert stage.sql("select from push_subscription where user_id = %s", user_id) == []
    browser.http.close()


def test_a_link_that_is_taken_back_when_an_address_is_told_sends_no_key(realm: Realm) -> None:
    stage, newcomer = realm.stage, realm.stage.nobody(host=realm.host)
    key = realm.owner.post("invites/multiuse", stream_ids=[])["invite_link"].rpartition("/")[2]
    tell = partial(newcomer.request, "POST", "signups", email="newcomer@example.com", key=key)
    reply = taken_away(stage, "delete from invitation where realm_id = %s", realm.id, tell)
    check_error(reply, "INVITATION_INVALID")
    assert stage.sql("select from signup where realm_id = %s", realm.id) == []
