"""Passkeys: added, used to sign in without a password and as a second step, renamed and removed."""

from pathlib import Path

import pytest

from tests.harness.authenticator import Authenticator
from tests.harness.browser import Browser, person
from tests.harness.command import tertulia
from tests.harness.mails import mailed
from tests.harness.passkeys import (
    EDDSA,
    ELIGIBLE,
    RS256,
    SYNCED,
    Lies,
    Open,
    PasskeyDevice,
    add_passkey,
    by_password,
    challenged,
    passkeys,
    sign_in,
)
from tests.harness.passwords import PASSWORD
from tests.harness.server import OWNER, Server, User
from tests.harness.stage import Stage
from tests.harness.talk import check_error, check_success

NEEDED = "REAUTHENTICATION_REQUIRED"


# Signing in


@pytest.mark.parametrize("algorithm", [-7, EDDSA, RS256])
def test_a_passkey_signs_in_without_a_password(
    browser: Open, user: User, device: PasskeyDevice, algorithm: int, folder_of_mails: Path
) -> None:
    device.algorithm = algorithm
    one = browser()
    one.log_in(user)
    added = add_passkey(one, device, "  Ana's \n phone ")
    assert len(added["recovery_codes"]) == 10
    [shown] = passkeys(one)
    assert (shown["id"], shown["label"], shown["last_used"]) == (added["id"], "Ana's phone", None)
    assert (shown["is_verifying"], shown["is_synced"]) == (True, False)
    mailed(folder_of_mails, user.email, "“Ana's phone” was added")
    other = browser()
    begun = check_success(sign_in(other, device))
    assert (begun["user_id"], begun["email"]) == (user.user_id, user.email)
    other.csrf_token = begun["csrf_token"]
    assert other.get("sessions/current")["user_id"] == user.user_id
    assert passkeys(other)[0]["last_used"] is not None


def test_the_challenge_of_a_sign_in_is_the_same_for_everybody(browser: Open, home: Browser) -> None:
    options = browser().post("sessions/passkey/options")["public_key"]
    assert (options["allowCredentials"], options["userVerification"], options["rpId"]) == ([], "required", "localhost")
    assert len(options["challenge"]) == 43


@pytest.mark.usefixtures("home")
def test_a_passkey_is_a_second_step_after_the_password(browser: Open, user: User, device: PasskeyDevice) -> None:
    other = browser()
    options = challenged(by_password(other, user))
    assert [one["id"] for one in options["allowCredentials"]] == [device.use(options)["id"]]
    assert options["allowCredentials"][0]["transports"] == ["hybrid", "internal"]
    check_success(by_password(other, user, passkey=device.use(options)))


@pytest.mark.usefixtures("home")
def test_who_does_not_know_the_password_learns_of_no_passkey(browser: Open, user: User) -> None:
    for fields in ({"username": user.email}, {"username": "nobody.at.all@example.com"}):
        reply = browser().request("POST", "sessions", password="wrong", **fields)
        assert check_error(reply, "AUTHENTICATION_FAILED", 401)
        assert reply.json().keys() == {"result", "msg", "code"}


def test_recovery_codes_stand_in_for_a_passkey(browser: Open, user: User, device: PasskeyDevice) -> None:
    one = browser()
    one.log_in(user)
    codes = add_passkey(one, device)["recovery_codes"]
    check_success(by_password(browser(), user, code=codes[0]))
    check_error(by_password(browser(), user, code=codes[0]), "SECOND_FACTOR_FAILED", 401)
    assert one.get("users/me/factors")["recovery_codes_left"] == 9


def test_with_a_passkey_a_password_fetches_no_key(stage: Stage, home: Browser, user: User) -> None:
    reply = stage.nobody().request("POST", "fetch_api_key", username=user.email, password=PASSWORD)
    assert (reply.status_code, reply.json()["code"]) == (401, "SECOND_FACTOR_REQUIRED")
    assert home.get("users/me/factors")["passkeys"] == 1


def test_a_key_that_asks_for_nothing_is_a_second_step_only(browser: Open, user: User, device: PasskeyDevice) -> None:
    device.verifies = False
    one = browser()
    one.log_in(user)
    add_passkey(one, device)
    assert passkeys(one)[0]["is_verifying"] is False
    check_error(sign_in(browser(), device), "PASSKEY_FAILED", 401)
    options = challenged(by_password(browser(), user))
    assert options["userVerification"] == "preferred"
    check_success(by_password(browser(), user, passkey=device.use(options)))


# Adding


def test_adding_needs_the_password_first_and_a_factor_from_then_on(
    browser: Open, user: User, server: Server, device: PasskeyDevice
) -> None:
    one = browser()
    one.log_in(user)
    check_error(one.request("POST", "users/me/passkeys/options"), NEEDED, 403, methods=["password"])
    assert "Wrong password" in check_error(one.request("POST", "users/me/passkeys/options", password="x"))
    codes = add_passkey(one, device)["recovery_codes"]
    # A thief with the session and the password gets no passkey of their own.
    reply = one.request("POST", "users/me/passkeys/options", password=PASSWORD)
    assert reply.json()["methods"] == ["code", "passkey"]
    second = PasskeyDevice(server.url)
    proof = device.use(challenged(reply, NEEDED, 403))
    begun = one.post("users/me/passkeys/options", passkey=proof)["public_key"]
    assert [each["id"] for each in begun["excludeCredentials"]] == [proof["id"]]
    added = one.post("users/me/passkeys", label="Second", credential=second.make(begun))
    assert "recovery_codes" not in added
    third = add_passkey(one, PasskeyDevice(server.url), "Third", code=codes[0])
    assert [each["id"] for each in passkeys(one)][1:] == [added["id"], third["id"]]
    check_success(sign_in(browser(), second))


def test_an_authenticator_for_codes_needs_the_passkey_too(browser: Open, home: Browser, device: PasskeyDevice) -> None:
    reply = home.request("POST", "users/me/factors/totp", password=PASSWORD)
    proof = device.use(challenged(reply, NEEDED, 403))
    authenticator = Authenticator(home.post("users/me/factors/totp", passkey=proof)["secret"])
    home.post("users/me/factors/totp/confirm", code=authenticator.code())
    state = home.get("users/me/factors")
    assert (state["totp"], state["passkeys"], state["recovery_codes_left"]) == (True, 1, 10)
    # Without the codes the passkey is left, and its recovery codes.
    check_success(home.request("DELETE", "users/me/factors/totp", code=authenticator.code()))
    state = home.get("users/me/factors")
    assert (state["totp"], state["passkeys"], state["recovery_codes_left"]) == (False, 1, 10)
    check_success(sign_in(browser(), device))


@pytest.mark.parametrize(
    "lies",
    [
        Lies(origin="https://evil.example"),
        Lies(rp_id="evil.example"),
        Lies(type="webauthn.get"),
        Lies(challenge="A" * 43),
        Lies(cross_origin=True),
        Lies(is_present=False),
    ],
    ids=str,
)
def test_no_passkey_is_added_that_is_not_as_it_should_be(
    browser: Open, user: User, device: PasskeyDevice, lies: Lies
) -> None:
    one = browser()
    one.log_in(user)
    options = one.post("users/me/passkeys/options", password=PASSWORD)["public_key"]
    reply = one.request("POST", "users/me/passkeys", label="x", credential=device.make(options, lies))
    check_error(reply, "PASSKEY_FAILED", 400)
    assert passkeys(one) == []
    check_success(by_password(browser(), user))


def test_a_challenge_to_add_is_for_one_session_of_one_account_and_once(
    browser: Open, stage: Stage, user: User, server: Server, device: PasskeyDevice
) -> None:
    one, same, other = browser(), browser(), browser()
    one.log_in(user)
    same.log_in(user)
    other.log_in(person(stage))
    options = one.post("users/me/passkeys/options", password=PASSWORD)["public_key"]
    for thief in (same, other):
        reply = thief.request("POST", "users/me/passkeys", label="x", credential=device.make(options))
        check_error(reply, "PASSKEY_FAILED", 400)
    made = device.make(options)
    one.post("users/me/passkeys", label="x", credential=made)
    check_error(one.request("POST", "users/me/passkeys", label="x", credential=made), "PASSKEY_FAILED", 400)
    again = PasskeyDevice(server.url).make(options)
    check_error(one.request("POST", "users/me/passkeys", label="x", credential=again), "PASSKEY_FAILED", 400)


def test_what_was_begun_with_the_password_ends_with_the_first_factor(
    browser: Open, user: User, server: Server, device: PasskeyDevice
) -> None:
    one, thief = browser(), browser()
    one.log_in(user)
    thief.log_in(user)
    begun = thief.post("users/me/passkeys/options", password=PASSWORD)["public_key"]
    add_passkey(one, device)
    foreign = PasskeyDevice(server.url).make(begun)
    check_error(thief.request("POST", "users/me/passkeys", label="x", credential=foreign), "PASSKEY_FAILED", 400)


def test_no_passkey_is_known_twice_in_an_organization(
    browser: Open, stage: Stage, home: Browser, device: PasskeyDevice
) -> None:
    thief = browser()
    thief.log_in(person(stage))
    options = thief.post("users/me/passkeys/options", password=PASSWORD)["public_key"]
    # The thief's own key, under the victim's name for theirs.
    made = PasskeyDevice(device.origin).make(options, Lies(credential=device.credentials[0].id))
    reply = thief.request("POST", "users/me/passkeys", label="x", credential=made)
    assert "known already" in check_error(reply)
    check_success(sign_in(browser(), device))
    assert len(passkeys(home)) == 1


def test_what_is_said_of_the_make_is_not_looked_at(browser: Open, user: User, device: PasskeyDevice) -> None:
    device.attestation = {"fmt": "tpm", "attStmt": {"ver": "2.0", "x5c": [b"no certificate"], "sig": b""}}
    device.flags = ELIGIBLE + SYNCED
    one = browser()
    one.log_in(user)
    add_passkey(one, device)
    assert passkeys(one)[0]["is_synced"] is True
    check_success(sign_in(browser(), device))


# Renaming and removing


def test_a_passkey_is_renamed_and_removed_by_a_factor(
    browser: Open, stage: Stage, home: Browser, user: User, device: PasskeyDevice, folder_of_mails: Path
) -> None:
    [found] = passkeys(home)
    at = f"users/me/passkeys/{found['id']}"
    check_success(home.request("PATCH", at, label="Blue\u202ekey"))
    check_error(home.request("PATCH", at, label=" "))
    check_error(home.request("PATCH", at, label="x" * 61))
    other = browser()
    other.log_in(person(stage))
    for method, fields in (("PATCH", {"label": "mine"}), ("DELETE", {})):
        assert "no such passkey" in check_error(other.request(method, at, **fields))
    proof = device.use(challenged(home.request("DELETE", at, password=PASSWORD), NEEDED, 403))
    check_success(home.request("DELETE", at, passkey=proof))
    assert passkeys(home) == []
    state = home.get("users/me/factors")
    assert (state["passkeys"], state["recovery_codes_left"]) == (0, 0)
    mailed(folder_of_mails, user.email, "was removed")
    check_error(sign_in(browser(), device), "PASSKEY_FAILED", 401)
    check_success(by_password(browser(), user))


def test_a_passkey_that_is_removed_meanwhile_is_worth_nothing(
    browser: Open, stage: Stage, home: Browser, user: User, device: PasskeyDevice, server: Server
) -> None:
    second = PasskeyDevice(server.url)
    reply = home.request("POST", "users/me/passkeys/options")
    add_passkey(home, second, "Second", passkey=device.use(challenged(reply, NEEDED, 403)))
    one = browser()
    free = one.post("sessions/passkey/options")["public_key"]
    step = challenged(by_password(one, user))
    begun = challenged(home.request("POST", "users/me/passkeys/options"), NEEDED, 403)
    adding = home.post("users/me/passkeys/options", passkey=second.use(begun))["public_key"]
    doomed = passkeys(home)[0]["id"]
    proof = second.use(challenged(home.request("DELETE", f"users/me/passkeys/{doomed}"), NEEDED, 403))
    check_success(home.request("DELETE", f"users/me/passkeys/{doomed}", passkey=proof))
    gone = device.credentials[0]
    check_error(one.request("POST", "sessions/passkey", passkey=device.use(free)), "PASSKEY_FAILED", 401)
    check_error(by_password(one, user, passkey=device.use(step, credential=gone)), "PASSKEY_FAILED", 401)
    fresh = PasskeyDevice(server.url).make(adding)
    check_error(home.request("POST", "users/me/passkeys", label="x", credential=fresh), "PASSKEY_FAILED", 400)
    check_success(sign_in(one, second))
    assert stage.sql("select count(*) from passkey where user_id = %s", user.user_id) == [(1,)]


# Proving anew who one is


def test_a_passkey_proves_anew_who_one_is_for_that_very_call(
    browser: Open, home: Browser, device: PasskeyDevice
) -> None:
    options = challenged(home.request("POST", "users/me/api_key/regenerate"), NEEDED, 403)
    elsewhere = challenged(home.request("POST", "sessions/end_others"), NEEDED, 403)
    check_error(
        home.request("POST", "users/me/api_key/regenerate", passkey=device.use(elsewhere)), "PASSKEY_FAILED", 400
    )
    signed = device.use(options)
    assert home.post("users/me/api_key/regenerate", passkey=signed)["api_key"]
    check_error(home.request("POST", "users/me/api_key/regenerate", passkey=signed), "PASSKEY_FAILED", 400)
    assert home.post("users/me/api_key/regenerate", password=PASSWORD)["api_key"]
    # A challenge of another session of the same person is not good here.
    other = browser()
    begun = check_success(sign_in(other, device))
    other.csrf_token = begun["csrf_token"]
    foreign = challenged(other.request("POST", "sessions/end_others"), NEEDED, 403)
    check_error(home.request("POST", "sessions/end_others", passkey=device.use(foreign)), "PASSKEY_FAILED", 400)
    own = challenged(home.request("POST", "sessions/end_others"), NEEDED, 403)
    assert home.post("sessions/end_others", passkey=device.use(own))["sessions"] == 1


def test_wrong_passkeys_count_as_wrong_codes_do(home: Browser, device: PasskeyDevice) -> None:
    for _ in range(5):
        options = challenged(home.request("POST", "sessions/end_others"), NEEDED, 403)
        wrong = device.use(options, Lies(signature=b"wrong"))
        check_error(home.request("POST", "sessions/end_others", passkey=wrong), "PASSKEY_FAILED", 400)
    right = device.use(challenged(home.request("POST", "sessions/end_others"), NEEDED, 403))
    assert home.request("POST", "sessions/end_others", passkey=right).status_code == 429


# Organizations and operators


def test_a_passkey_is_the_factor_that_the_organization_asks_for(browser: Open, stage: Stage) -> None:
    realm_id, subdomain = stage.realm()
    rule = '{"second_factor_rule": "everybody", "second_factor_grace_days": 7}'
    stage.sql("update realm set settings = %s where id = %s", rule, realm_id)
    host, owner = f"{subdomain}.localhost", person(stage, realm_id)
    stage.sql("update account set role = %s where id = %s", OWNER, owner.user_id)
    one, device = browser(host), PasskeyDevice(f"http://{host}")
    one.log_in(owner)
    add_passkey(one, device)
    stage.sql("update second_factor set due = now() - interval '1 second' where user_id = %s", owner.user_id)
    options = challenged(by_password(browser(host), owner))
    check_success(by_password(browser(host), owner, passkey=device.use(options)))
    check_success(sign_in(browser(host), device))


@pytest.mark.system
def test_the_operator_takes_lost_passkeys_away(
    browser: Open, home: Browser, user: User, server: Server, device: PasskeyDevice, folder_of_mails: Path
) -> None:
    environment = {"TERTULIA_POSTGRES_URL": server.postgres_url}
    tertulia("user", "remove-factor", user.email, env=environment).check_returncode()
    check_error(home.request("GET", "users/me"), "UNAUTHORIZED", 401)
    check_error(sign_in(browser(), device), "PASSKEY_FAILED", 401)
    check_success(by_password(browser(), user))
    mailed(folder_of_mails, user.email, "All your passkeys")
