"""Attacks on sign-ins by passkeys: what was signed for something else, by somebody else, or not at all."""

import json
from pathlib import Path

import cbor2
import pytest

from tertulia.kernel.db import Database
from tertulia.people.factors.passkeys.ceremony import NotVerified
from tertulia.people.factors.passkeys.queries import Bound, drop_challenges
from tertulia.people.factors.passkeys.use import ADD, begin, claim, take
from tertulia.people.factors.queries import realm_of
from tests.harness.authenticator import Authenticator
from tests.harness.browser import Browser, person
from tests.harness.passkeys import (
    Lies,
    Open,
    PasskeyDevice,
    add_passkey,
    by_password,
    challenged,
    passkeys,
    sign_in,
    text,
)
from tests.harness.passwords import PASSWORD
from tests.harness.server import Server, User
from tests.harness.stage import Stage, Web, at_once
from tests.harness.talk import Json, check_error, check_success

# Attacks on a sign-in


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "lies",
    [
        Lies(origin="http://localhost"),
        Lies(origin="https://evil.example"),
        Lies(rp_id="evil.example"),
        Lies(type="webauthn.create"),
        Lies(challenge="A" * 43),
        Lies(cross_origin=True),
        Lies(is_present=False),
        Lies(handle="A" * 43),
        Lies(handle=""),
        Lies(signature=b"no signature"),
    ],
    ids=str,
)
def test_what_is_not_as_it_should_be_signs_nobody_in(browser: Open, device: PasskeyDevice, lies: Lies) -> None:
    one = browser()
    check_error(sign_in(one, device, lies), "PASSKEY_FAILED", 401)
    assert one.request("GET", "sessions/current").status_code == 401
    check_success(sign_in(one, device))


@pytest.mark.usefixtures("home")
def test_without_a_finger_a_face_or_a_pin_nobody_signs_in(browser: Open, user: User, device: PasskeyDevice) -> None:
    device.verifies = False
    check_error(sign_in(browser(), device), "PASSKEY_FAILED", 401)
    # Nor as the second step: the passkey asked when it was made.
    options = challenged(by_password(browser(), user))
    check_error(by_password(browser(), user, passkey=device.use(options)), "PASSKEY_FAILED", 401)


@pytest.mark.usefixtures("home")
def test_a_challenge_is_good_once_also_for_many_at_once(browser: Open, device: PasskeyDevice) -> None:
    device.counts = False
    device.credentials[0].count = 0
    one = browser()
    options = one.post("sessions/passkey/options")["public_key"]
    signed = device.use(options)
    browsers = [browser() for _ in range(4)]
    replies = at_once([lambda b=b: b.request("POST", "sessions/passkey", passkey=signed) for b in browsers])  # type: ignore[misc]
    assert sorted(reply.status_code for reply in replies) == [200, 401, 401, 401]
    check_error(one.request("POST", "sessions/passkey", passkey=signed), "PASSKEY_FAILED", 401)
    check_error(one.request("POST", "sessions/passkey", passkey=device.use(options)), "PASSKEY_FAILED", 401)


@pytest.mark.usefixtures("home")
def test_a_challenge_is_good_for_five_minutes(browser: Open, stage: Stage, device: PasskeyDevice) -> None:
    one = browser()
    options = one.post("sessions/passkey/options")["public_key"]
    sql = "select max(extract(epoch from expires - now())) from passkey_challenge where user_id is null"
    [(seconds,)] = stage.sql(sql)
    assert 200 < seconds <= 300
    stage.sql("update passkey_challenge set expires = now() - interval '1 second' where user_id is null")
    check_error(one.request("POST", "sessions/passkey", passkey=device.use(options)), "PASSKEY_FAILED", 401)


@pytest.mark.usefixtures("home")
def test_a_challenge_is_good_for_its_purpose_only(browser: Open, user: User, device: PasskeyDevice) -> None:
    one = browser()
    free = one.post("sessions/passkey/options")["public_key"]
    step = challenged(by_password(one, user))
    check_error(by_password(one, user, passkey=device.use(free)), "PASSKEY_FAILED", 401)
    check_error(one.request("POST", "sessions/passkey", passkey=device.use(step)), "PASSKEY_FAILED", 401)


def test_a_passkey_and_a_challenge_of_somebody_else_are_worth_nothing(
    browser: Open, stage: Stage, home: Browser, user: User, server: Server, device: PasskeyDevice
) -> None:
    other, theirs = person(stage), PasskeyDevice(server.url)
    one = browser()
    one.log_in(other)
    add_passkey(one, theirs)
    mine, own = challenged(by_password(browser(), user)), challenged(by_password(browser(), other))
    stranger = browser()
    check_error(
        by_password(stranger, user, passkey=theirs.use(mine, credential=theirs.credentials[0])), "PASSKEY_FAILED", 401
    )
    check_error(by_password(stranger, user, passkey=theirs.use(own)), "PASSKEY_FAILED", 401)
    check_error(
        by_password(stranger, other, passkey=theirs.use(mine, credential=theirs.credentials[0])), "PASSKEY_FAILED", 401
    )
    # Nor may one say that it is another's.
    swapped = Lies(handle=device.credentials[0].handle)
    check_error(sign_in(stranger, theirs, swapped), "PASSKEY_FAILED", 401)
    assert home.get("users/me/factors")["passkeys"] == 1


def test_passkeys_and_challenges_of_another_organization_are_worth_nothing(
    browser: Open, stage: Stage, home: Browser, device: PasskeyDevice
) -> None:
    realm_id, subdomain = stage.realm()
    host = f"{subdomain}.localhost"
    there, resident = browser(host), person(stage, realm_id)
    there.log_in(resident)
    local = PasskeyDevice(f"http://{host}")
    add_passkey(there, local)
    assert local.credentials[0].rp_id == host
    check_success(sign_in(browser(host), local))
    here = browser()
    for lies in (Lies(), Lies(origin=device.origin, rp_id="localhost")):
        check_error(sign_in(here, local, lies), "PASSKEY_FAILED", 401)
        check_error(sign_in(browser(host), device, Lies(origin=f"http://{host}", rp_id=host)), "PASSKEY_FAILED", 401)
    # A challenge of there, signed here, and the other way around.
    challenge = browser(host).post("sessions/passkey/options")["public_key"]
    check_error(here.request("POST", "sessions/passkey", passkey=device.use(challenge)), "PASSKEY_FAILED", 401)
    check_success(sign_in(here, device))
    assert len(passkeys(home)) == 1


def test_a_copy_is_found_out_by_its_count(browser: Open, home: Browser, device: PasskeyDevice) -> None:
    check_success(sign_in(browser(), device))
    check_success(sign_in(browser(), device))
    device.credentials[0].count -= 1
    assert "copy" in check_error(sign_in(browser(), device), "PASSKEY_FAILED", 401)
    check_success(sign_in(browser(), device))
    device.counts = False
    device.credentials[0].count = 0
    assert "copy" in check_error(sign_in(browser(), device), "PASSKEY_FAILED", 401)
    assert len(passkeys(home)) == 1


@pytest.mark.usefixtures("home")
def test_who_is_deactivated_does_not_sign_in(browser: Open, stage: Stage, user: User, device: PasskeyDevice) -> None:
    one = browser()
    options = one.post("sessions/passkey/options")["public_key"]
    stage.sql("update account set is_active = false where id = %s", user.user_id)
    check_error(one.request("POST", "sessions/passkey", passkey=device.use(options)), "USER_DEACTIVATED", 401)


def test_where_passwords_are_not_kept_here_passkeys_do_not_sign_in(
    browser: Open, stage: Stage, user: User, home: Browser, device: PasskeyDevice
) -> None:
    realm_id, subdomain = stage.realm()
    host = f"{subdomain}.localhost"
    stage.sql("update realm set settings = '{\"password_auth_enabled\": false}' where id = %s", realm_id)
    check_error(browser(host).request("POST", "sessions/passkey/options"), "PASSKEY_AUTH_DISABLED", 401)
    identity = "insert into external_identity (realm_id, provider, subject, user_id) values (%s, 'ldap', %s, %s)"
    stage.sql(identity, stage.realm_id, user.email, user.user_id)
    stage.sql("update account set password_hash = null where id = %s", user.user_id)
    check_error(sign_in(browser(), device), "PASSKEY_AUTH_DISABLED", 401)
    assert len(passkeys(home)) == 1


@pytest.mark.usefixtures("home")
def test_a_page_of_another_site_signs_nobody_in(browser: Open, device: PasskeyDevice) -> None:
    one = browser()
    signed = device.use(one.post("sessions/passkey/options")["public_key"])
    for path, fields in (("sessions/passkey/options", {}), ("sessions/passkey", {"passkey": signed})):
        for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            one.http.headers.update(headers)
            refused = one.request("POST", path, **fields)
            assert (refused.status_code, refused.json()["code"]) == (403, "CSRF_FAILED")
            for name in headers:
                del one.http.headers[name]
    check_success(one.request("POST", "sessions/passkey", passkey=signed))


@pytest.mark.usefixtures("home")
def test_broken_answers_are_refused_and_break_nothing(browser: Open, device: PasskeyDevice) -> None:
    one = browser()
    deep = text(b'{"challenge":"' + b"A" * 43 + b'","x":' + b"[" * 1300)
    for part in ("clientDataJSON", "authenticatorData", "signature", "userHandle"):
        for value in ("", "A", "!!!", "eyJ9", "7777", "é", "A" * 90, deep if part == "clientDataJSON" else "="):
            good = device.use(one.post("sessions/passkey/options")["public_key"])
            broken = good | {"response": good["response"] | {part: value}}
            check_error(one.request("POST", "sessions/passkey", passkey=broken), "PASSKEY_FAILED", 401)
    for change in ({"rawId": "AAAA"}, {"id": "AAAA"}, {"type": "password"}):
        good = device.use(one.post("sessions/passkey/options")["public_key"])
        check_error(one.request("POST", "sessions/passkey", passkey=good | change), "PASSKEY_FAILED", 401)
    good = device.use(one.post("sessions/passkey/options")["public_key"])
    check_error(one.request("POST", "sessions/passkey", passkey=good | {"rawId": "A" * 1500}))
    check_error(one.request("POST", "sessions/passkey", passkey="x"))
    check_error(one.request("POST", "sessions/passkey"))
    check_success(one.request("POST", "sessions/passkey", passkey=good))


# What a library would make of its bytes

REGULAR_EXPRESSION = cbor2.CBORTag(35, "x")
"""Compiling a long one of these holds the process for a minute."""
HARMFUL: dict[str, tuple[Json | None, Lies]] = {
    "a tag in the attestation": ({"fmt": "none", "attStmt": {}, "z": REGULAR_EXPRESSION}, Lies()),
    "a tag in the statement": ({"fmt": "packed", "attStmt": {"x5c": [REGULAR_EXPRESSION]}}, Lies()),
    "many items": ({"fmt": "none", "attStmt": dict.fromkeys(range(40), 0)}, Lies()),
    "a tag in the key": (None, Lies(key={-70000: REGULAR_EXPRESSION})),
    "a tag in the extensions": (None, Lies(extensions={"x": REGULAR_EXPRESSION})),
    "deep extensions": (None, Lies(extensions={"x": [[[[[0]]]]]})),
    "extensions that are no map": (None, Lies(extensions=[1])),
}


@pytest.mark.parametrize("case", HARMFUL)
def test_no_passkey_is_made_of_bytes_that_no_authenticator_sends(
    browser: Open, user: User, device: PasskeyDevice, case: str
) -> None:
    one = browser()
    one.log_in(user)
    attestation, lies = HARMFUL[case]
    device.attestation = attestation or device.attestation
    options = one.post("users/me/passkeys/options", password=PASSWORD)["public_key"]
    made = device.make(options, lies)
    check_error(one.request("POST", "users/me/passkeys", label="x", credential=made), "PASSKEY_FAILED", 400)
    assert passkeys(one) == []


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "extensions", [{"x": REGULAR_EXPRESSION}, {"x": [[[[[0]]]]]}, [1], dict.fromkeys(range(40), 0)]
)
def test_nobody_signs_in_by_bytes_that_no_authenticator_sends(
    browser: Open, user: User, device: PasskeyDevice, extensions: object
) -> None:
    lies = Lies(extensions=extensions)
    check_error(sign_in(browser(), device, lies), "PASSKEY_FAILED", 401)
    options = challenged(by_password(browser(), user))
    check_error(by_password(browser(), user, passkey=device.use(options, lies)), "PASSKEY_FAILED", 401)
    check_success(sign_in(browser(), device))


def test_extensions_and_certificates_that_authenticators_send_are_taken(
    browser: Open, user: User, device: PasskeyDevice
) -> None:
    one = browser()
    one.log_in(user)
    statement = {"alg": -7, "sig": b"s" * 72, "x5c": [b"c" * 1900] * 4}
    device.attestation = {"fmt": "packed", "attStmt": statement}
    options = one.post("users/me/passkeys/options", password=PASSWORD)["public_key"]
    made = device.make(options, Lies(extensions={"credProtect": 2, "hmac-secret": True, "uvm": [[2, 4, 2]]}))
    one.post("users/me/passkeys", label="x", credential=made)
    check_success(sign_in(browser(), device, Lies(extensions={"hmac-secret": b"h" * 80})))


# One challenge, one try


@pytest.mark.usefixtures("home")
def test_a_challenge_is_used_up_by_a_sign_in_that_fails(browser: Open, user: User, device: PasskeyDevice) -> None:
    one = browser()
    options = one.post("sessions/passkey/options")["public_key"]
    wrong = device.use(options, Lies(signature=b"wrong"))
    for passkey in (wrong, device.use(options)):
        check_error(one.request("POST", "sessions/passkey", passkey=passkey), "PASSKEY_FAILED", 401)
    step = challenged(by_password(one, user))
    for lies in (Lies(signature=b"wrong"), Lies()):
        check_error(by_password(one, user, passkey=device.use(step, lies)), "PASSKEY_FAILED", 401)
    check_success(sign_in(one, device))


def test_a_challenge_is_used_up_by_a_proof_that_fails(home: Browser, device: PasskeyDevice) -> None:
    options = challenged(home.request("POST", "sessions/end_others"), "REAUTHENTICATION_REQUIRED", 403)
    for lies in (Lies(signature=b"wrong"), Lies()):
        reply = home.request("POST", "sessions/end_others", passkey=device.use(options, lies))
        check_error(reply, "PASSKEY_FAILED", 400)


def test_a_challenge_is_used_up_by_a_passkey_that_is_not_added(
    browser: Open, user: User, device: PasskeyDevice
) -> None:
    one = browser()
    one.log_in(user)
    options = one.post("users/me/passkeys/options", password=PASSWORD)["public_key"]
    for lies in (Lies(type="webauthn.get"), Lies()):
        made = device.make(options, lies)
        check_error(one.request("POST", "users/me/passkeys", label="x", credential=made), "PASSKEY_FAILED", 400)
    assert passkeys(one) == []


def test_an_authenticator_that_was_begun_before_the_first_passkey_is_not_confirmed_after_it(
    browser: Open, user: User, device: PasskeyDevice
) -> None:
    """Whoever began it had only the password to prove: it may be somebody else's."""
    thief = browser()
    thief.log_in(user)
    authenticator = Authenticator(thief.post("users/me/factors/totp", password=PASSWORD)["secret"])
    home = browser()
    home.log_in(user)
    add_passkey(home, device)
    check_error(thief.request("POST", "users/me/factors/totp/confirm", code=authenticator.code()))
    state = home.get("users/me/factors")
    assert (state["totp"], state["passkeys"]) == (False, 1)


async def test_what_drops_somebody_s_challenges_drops_one_that_is_being_checked(server: Server, user: User) -> None:
    async with await Database.connect(server.postgres_url, shards=1, size=1) as database:
        async with database.transaction() as tx:
            bound = Bound(await realm_of(tx, user.user_id), ADD, user.user_id)
            challenge = await begin(tx, bound)
        claimed = await claim(database, bound, text(json.dumps({"challenge": text(challenge)}).encode()))
        async with database.transaction() as tx:
            await drop_challenges(tx, user.user_id, ADD)
        with pytest.raises(NotVerified):
            async with database.transaction() as tx:
                await take(tx, claimed)


# Behind a proxy


def test_the_origin_is_that_of_the_settings_whatever_the_proxy_says(
    browser: Open, stage: Stage, server: Server, tmp_path: Path
) -> None:
    web = Web(server, tmp_path, development="false", external_host="chat.example.org", external_scheme="http")
    try:
        url = web.wait().url
        user = person(stage)
        one = browser("chat.example.org", url)
        one.log_in(user)
        device = PasskeyDevice("http://chat.example.org")
        add_passkey(one, device)
        assert device.credentials[0].rp_id == "chat.example.org"
        # The same organization answers at this name too, and at one that a proxy makes up; passkeys do not.
        for lies in (Lies(origin=url), Lies(origin="http://localhost", rp_id="localhost")):
            check_error(sign_in(browser("localhost", url), device, lies), "PASSKEY_FAILED", 401)
        one = browser("chat.example.org", url)
        one.http.headers.update(
            {"x-forwarded-host": "evil.example", "x-forwarded-proto": "https", "forwarded": "host=e"}
        )
        check_error(sign_in(one, device, Lies(origin="https://evil.example")), "PASSKEY_FAILED", 401)
        check_success(sign_in(one, device))
    finally:
        web.stop()


def test_there_are_no_passkeys_for_network_addresses(browser: Open, server: Server, user: User) -> None:
    url = server.url.replace("localhost", "127.0.0.1")
    one = browser(url=url)
    assert "need a name" in check_error(one.request("POST", "sessions/passkey/options"))
    one.log_in(user)
    assert "need a name" in check_error(one.request("POST", "users/me/passkeys/options", password=PASSWORD))
