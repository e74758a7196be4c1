"""A second factor: set up, asked for, used once, recovered; and what an organization asks of its people."""

from pathlib import Path

import httpx
import pytest

from tests.harness.authenticator import Authenticator
from tests.harness.browser import Browser, person
from tests.harness.command import tertulia
from tests.harness.mails import mailed
from tests.harness.passkeys import Open
from tests.harness.passwords import PASSWORD
from tests.harness.server import OWNER, Server, User
from tests.harness.stage import Stage, at_once
from tests.harness.talk import Json, check_error, check_success


def log_in(browser: Browser, user: User, code: str | None = None, password: str = PASSWORD) -> httpx.Response:
    fields = {"username": user.email, "password": password} | ({} if code is None else {"code": code})
    return browser.request("POST", "sessions", **fields)


def set_up(browser: Browser, user: User) -> tuple[Authenticator, list[str]]:
    browser.log_in(user)
    setup = browser.post("users/me/factors/totp", password=PASSWORD)
    authenticator = Authenticator(setup["secret"])
    assert f"secret={setup['secret']}&" in setup["uri"]
    return authenticator, browser.post("users/me/factors/totp/confirm", code=authenticator.code())["recovery_codes"]


def test_with_a_factor_a_login_needs_a_code(browser: Open, stage: Stage, user: User, folder_of_mails: Path) -> None:
    one = browser()
    assert one.request("GET", "users/me/factors").status_code == 401
    authenticator, codes = set_up(one, user)
    assert len(set(codes)) == 10
    state = one.get("users/me/factors")
    assert (state["totp"], state["recovery_codes_left"], state["is_required"]) == (True, 10, False)
    mailed(folder_of_mails, user.email, "takes a code")
    other = browser()
    check_error(log_in(other, user), "SECOND_FACTOR_REQUIRED", 401, methods=["code"])
    check_error(log_in(other, user, "000000"), "SECOND_FACTOR_FAILED", 401)
    check_error(log_in(other, user, authenticator.code(), "wrong"), "AUTHENTICATION_FAILED", 401)
    authenticator.let_time_pass(stage, user.user_id)
    check_success(log_in(other, user, authenticator.code()))


def test_who_does_not_know_the_password_does_not_learn_of_the_factor(browser: Open, user: User) -> None:
    set_up(browser(), user)
    stranger = browser()
    check_error(log_in(stranger, user, None, "wrong"), "AUTHENTICATION_FAILED", 401)
    check_error(log_in(stranger, user, "000000", "wrong"), "AUTHENTICATION_FAILED", 401)


def test_a_code_is_good_once_also_for_many_at_once(browser: Open, user: User) -> None:
    authenticator, codes = set_up(browser(), user)
    for code in (authenticator.code(), codes[0]):
        browsers = [browser() for _ in range(4)]
        replies = at_once([lambda one=one, code=code: log_in(one, user, code) for one in browsers])  # type: ignore[misc]
        assert sorted(reply.status_code for reply in replies) == [200, 401, 401, 401]


def test_wrong_codes_count_and_a_right_password_alone_clears_nothing(browser: Open, user: User) -> None:
    authenticator, _ = set_up(browser(), user)
    stranger = browser()
    for _ in range(5):
        check_error(log_in(stranger, user), "SECOND_FACTOR_REQUIRED", 401, methods=["code"])
        check_error(log_in(stranger, user, "000000"), "SECOND_FACTOR_FAILED", 401)
    assert log_in(stranger, user, authenticator.code()).status_code == 429


def test_recovery_codes_are_typed_as_one_likes_and_can_be_renewed(browser: Open, stage: Stage, user: User) -> None:
    one = browser()
    _, codes = set_up(one, user)
    check_success(log_in(browser(), user, codes[0].lower().replace("-", " ")))
    check_error(one.request("POST", "users/me/factors/recovery_codes", code="wrong"), "SECOND_FACTOR_FAILED", 400)
    fresh = one.post("users/me/factors/recovery_codes", code=codes[1])["recovery_codes"]
    check_error(log_in(browser(), user, codes[2]), "SECOND_FACTOR_FAILED", 401)
    check_success(log_in(browser(), user, fresh[0]))
    [(stored,)] = stage.sql(
        "select string_agg(recovery_code::text, ' ') from recovery_code where user_id = %s", user.user_id
    )
    assert fresh[1] not in stored
    assert fresh[1].replace("-", "") not in stored


def test_a_factor_is_set_up_with_the_password_and_removed_with_a_code(browser: Open, stage: Stage, user: User) -> None:
    one = browser()
    one.log_in(user)
    needed = one.request("POST", "users/me/factors/totp")
    check_error(needed, "REAUTHENTICATION_REQUIRED", 403, methods=["password"])
    authenticator, _ = set_up(one, user)
    again = one.request("POST", "users/me/factors/totp", password=PASSWORD)
    check_error(again, "REAUTHENTICATION_REQUIRED", 403, methods=["code"])
    check_error(one.request("POST", "users/me/factors/totp", code=authenticator.code()))
    authenticator.let_time_pass(stage, user.user_id)
    check_error(one.request("DELETE", "users/me/factors/totp", code="000000"), "SECOND_FACTOR_FAILED", 400)
    check_success(one.request("DELETE", "users/me/factors/totp", code=authenticator.code()))
    check_success(log_in(browser(), user))


def test_wrong_codes_count_also_while_an_authenticator_is_set_up(browser: Open, user: User) -> None:
    one = browser()
    one.log_in(user)
    authenticator = Authenticator(one.post("users/me/factors/totp", password=PASSWORD)["secret"])
    for _ in range(5):
        check_error(one.request("POST", "users/me/factors/totp/confirm", code="000000"), "SECOND_FACTOR_FAILED", 400)
    assert one.request("POST", "users/me/factors/totp/confirm", code=authenticator.code()).status_code == 429
    assert one.get("users/me/factors")["totp"] is False


def test_a_set_up_that_was_begun_and_left_is_gone_after_a_quarter_of_an_hour(
    browser: Open, user: User, stage: Stage
) -> None:
    one = browser()
    one.log_in(user)
    authenticator = Authenticator(one.post("users/me/factors/totp", password=PASSWORD)["secret"])
    stage.sql("update second_factor set begun = begun - interval '16 minutes' where user_id = %s", user.user_id)
    check_error(one.request("POST", "users/me/factors/totp/confirm", code=authenticator.code()))
    authenticator, _ = set_up(one, user)
    stage.sql("update second_factor set begun = begun - interval '16 minutes' where user_id = %s", user.user_id)
    assert one.get("users/me/factors")["totp"] is True
    check_success(log_in(browser(), user, authenticator.code()))


def test_a_secret_counts_only_once_it_is_confirmed(browser: Open, user: User) -> None:
    one = browser()
    one.log_in(user)
    one.post("users/me/factors/totp", password=PASSWORD)
    check_error(one.request("POST", "users/me/factors/totp/confirm", code="000000"), "SECOND_FACTOR_FAILED", 400)
    check_success(log_in(browser(), user))


# What the organization asks for


@pytest.fixture
def strict(stage: Stage) -> tuple[str, User, User]:
    """An organization where administrators need a factor at once; an owner and a member of it."""
    realm_id, subdomain = stage.realm()
    rule = '{"second_factor_rule": "administrators", "second_factor_grace_days": 0}'
    stage.sql("update realm set settings = %s where id = %s", rule, realm_id)
    owner, member = person(stage, realm_id), person(stage, realm_id)
    stage.sql("update account set role = %s where id = %s", OWNER, owner.user_id)
    return f"{subdomain}.localhost", owner, member


def test_who_must_have_a_factor_sets_it_up_with_the_login(browser: Open, strict: tuple[str, User, User]) -> None:
    host, owner, member = strict
    one = browser(host)
    check_success(log_in(browser(host), member))
    check_error(log_in(one, owner), "SECOND_FACTOR_SETUP_REQUIRED", 401)
    check_error(log_in(one, owner, "000000"), "SECOND_FACTOR_SETUP_REQUIRED", 401)
    fields = {"username": owner.email, "password": PASSWORD}
    check_error(one.request("POST", "sessions/factor", **fields | {"password": "wrong"}), "AUTHENTICATION_FAILED", 401)
    check_error(one.request("POST", "sessions/factor", username=member.email, password=PASSWORD))
    authenticator = Authenticator(one.post("sessions/factor", **fields)["secret"])
    check_error(log_in(one, owner, "000000"), "SECOND_FACTOR_FAILED", 401)
    begun: Json = check_success(log_in(one, owner, authenticator.code()))
    assert len(begun["recovery_codes"]) == 10
    check_error(one.request("POST", "sessions/factor", **fields), "SECOND_FACTOR_REQUIRED", 401)
    check_success(log_in(browser(host), owner, begun["recovery_codes"][0]))


def test_there_is_time_for_it_from_the_first_login_on(
    browser: Open, stage: Stage, strict: tuple[str, User, User]
) -> None:
    host, owner, _ = strict
    rule = '{"second_factor_rule": "everybody", "second_factor_grace_days": 7}'
    stage.sql("update realm set settings = %s where subdomain = %s", rule, host.partition(".")[0])
    one = browser(host)
    one.log_in(owner)
    state = one.get("users/me/factors")
    assert state["is_required"] is True
    [(days,)] = stage.sql("select due::date - now()::date from second_factor where user_id = %s", owner.user_id)
    assert days == 7
    check_success(log_in(browser(host), owner))
    stage.sql("update second_factor set due = now() - interval '1 second' where user_id = %s", owner.user_id)
    check_error(log_in(browser(host), owner), "SECOND_FACTOR_SETUP_REQUIRED", 401)


def test_who_takes_the_factor_away_again_gets_no_other_days_for_it(
    browser: Open, stage: Stage, strict: tuple[str, User, User]
) -> None:
    host, owner, _ = strict
    rule = '{"second_factor_rule": "everybody", "second_factor_grace_days": 7}'
    stage.sql("update realm set settings = %s where subdomain = %s", rule, host.partition(".")[0])
    one = browser(host)
    _, codes = set_up(one, owner)
    stage.sql("update second_factor set due = now() - interval '1 second' where user_id = %s", owner.user_id)
    check_success(one.request("DELETE", "users/me/factors/totp", code=codes[0]))
    assert one.get("users/me/factors")["recovery_codes_left"] == 0
    check_error(log_in(browser(host), owner), "SECOND_FACTOR_SETUP_REQUIRED", 401)


def test_only_owners_make_the_rule(stage: Stage, browser: Open, strict: tuple[str, User, User]) -> None:
    host, owner, member = strict
    stage.sql("update account set role = 200 where id = %s", member.user_id)
    stage.sql("update realm set settings = '{}' where subdomain = %s", host.partition(".")[0])
    administrator, boss = browser(host), browser(host)
    administrator.log_in(member)
    boss.log_in(owner)
    check_error(administrator.request("PATCH", "realm", second_factor_rule="everybody"), "UNAUTHORIZED_PRINCIPAL")
    check_error(boss.request("PATCH", "realm", second_factor_rule="somebody"))
    check_success(boss.request("PATCH", "realm", second_factor_rule="everybody"))


# Recovery by the operator


@pytest.mark.system
def test_the_operator_takes_a_lost_factor_away(browser: Open, stage: Stage, user: User, server: Server) -> None:
    one = browser()
    set_up(one, user)
    environment = {"TERTULIA_POSTGRES_URL": server.postgres_url}
    tertulia("user", "remove-factor", user.email, env=environment).check_returncode()
    check_error(one.request("GET", "users/me"), "UNAUTHORIZED", 401)
    check_success(log_in(browser(), user))
