"""No way around a second factor: each way in that tests/rules/test_ways_in.py lists, tried by somebody who has one."""

import json
import secrets
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tertulia.people.sessions.actions import make_ticket
from tests.harness.authenticator import Authenticator, give_factor
from tests.harness.browser import Browser, person
from tests.harness.crooked_provider import CLIENT_ID, CLIENT_SECRET, CrookedProvider, crooked_provider
from tests.harness.passkeys import PasskeyDevice, add_passkey
from tests.harness.passwords import PASSWORD
from tests.harness.server import Server, User
from tests.harness.stage import Stage, Web
from tests.harness.talk import check_error, check_success

LOGIN = "/accounts/login/oidc/crooked"
PAD = "0f" * 32


@pytest.fixture
def user(stage: Stage) -> User:
    return person(stage)


@pytest.fixture
def authenticator(stage: Stage, user: User) -> Authenticator:
    return give_factor(stage, user.user_id)


@pytest.fixture
def browser(server: Server) -> Iterator[Browser]:
    one = Browser(server.url)
    try:
        yield one
    finally:
        one.http.close()


def count(stage: Stage, user: User) -> int:
    """How many sessions and keys somebody has."""
    sql = """
    select (select count(*) from api_key where user_id = %s)
        + (select count(*) from browser_session where user_id = %s and not starts_with(csrf_token, 'ticket:'))
    """
    [(found,)] = stage.sql(sql, user.user_id, user.user_id)
    return int(found)


@pytest.mark.usefixtures("authenticator")
def test_a_password_fetches_no_key_and_the_answer_names_the_page_for_it(stage: Stage, user: User) -> None:
    login = {"username": user.email, "password": PASSWORD}
    reply = stage.nobody().request("POST", "fetch_api_key", **login)
    page = reply.json()["key_page"]
    check_error(reply, "SECOND_FACTOR_REQUIRED", 401, key_page=page)
    assert page.endswith("/#settings/devices")
    assert page in reply.json()["msg"]
    assert "www-authenticate" not in reply.headers
    check_error(
        stage.nobody().request("POST", "fetch_api_key", **login | {"password": "x"}), "AUTHENTICATION_FAILED", 401
    )
    assert count(stage, user) == 0


def test_a_browser_gets_no_session_without_a_code(
    stage: Stage, browser: Browser, user: User, authenticator: Authenticator
) -> None:
    login = {"username": user.email, "password": PASSWORD}
    for fields in (login, login | {"code": ""}, login | {"code": "000000"}):
        assert browser.request("POST", "sessions", **fields).status_code == 401
    check_error(browser.request("POST", "sessions/factor", **login), "SECOND_FACTOR_REQUIRED", 401)
    assert count(stage, user) == 0
    check_success(browser.request("POST", "sessions", **login, code=authenticator.code()))


def test_a_passkey_lets_in_only_who_was_asked_by_it(
    stage: Stage, server: Server, browser: Browser, user: User, authenticator: Authenticator
) -> None:
    home, device = Browser(server.url), PasskeyDevice(server.url)
    begun = home.post("sessions", username=user.email, password=PASSWORD, code=authenticator.code())
    home.csrf_token = begun["csrf_token"]
    add_passkey(home, device, code=authenticator.code())
    home.http.close()
    device.verifies = False
    options = browser.post("sessions/passkey/options")["public_key"]
    check_error(browser.request("POST", "sessions/passkey", passkey=device.use(options)), "PASSKEY_FAILED", 401)
    assert count(stage, user) == 1
    device.verifies = True
    options = browser.post("sessions/passkey/options")["public_key"]
    check_success(browser.request("POST", "sessions/passkey", passkey=device.use(options)))


@pytest.mark.usefixtures("authenticator")
def test_the_link_of_development_is_not_enough(stage: Stage, server: Server, user: User) -> None:
    ticket = stage.write(lambda tx: make_ticket(tx, user.user_id))
    reply = httpx.get(f"{server.url}/accounts/login/link/{ticket}", trust_env=False)
    assert (reply.status_code, "set-cookie" in reply.headers) == (401, False)
    assert count(stage, user) == 0


@pytest.mark.usefixtures("authenticator")
def test_a_new_password_by_mail_makes_no_session(stage: Stage, browser: Browser, user: User) -> None:
    check_success(browser.request("POST", "accounts/password/reset", email=user.email))
    assert count(stage, user) == 0


# Providers


@pytest.fixture(scope="module")
def provider() -> Iterator[CrookedProvider]:
    with crooked_provider() as provider:
        yield provider


@pytest.fixture(scope="module", params=["true", "false"])
def web(
    server: Server, provider: CrookedProvider, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Web]:
    """A process that trusts the provider to ask for a factor, and one that does not."""
    chosen = {"name": "crooked", "display_name": "Crooked", "issuer": provider.issuer, "realms": [""],
              "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}  # fmt: skip
    folder = tmp_path_factory.mktemp("web")
    web = Web(server, folder, oidc_providers=json.dumps([chosen]), oidc_second_factor_trusted=request.param)
    web.trusts = request.param == "true"  # type: ignore[attr-defined]
    try:
        yield web.wait()
    finally:
        web.stop()


def come_back(client: httpx.Client, url: str) -> httpx.Response:
    away = client.get(url)
    back = httpx.get(away.headers["location"], trust_env=False)
    return client.get(str(back.headers["location"]))


@pytest.mark.parametrize("flow", ["browser", "app"])
def test_a_provider_is_enough_only_where_it_is_trusted(
    stage: Stage, web: Web, provider: CrookedProvider, user: User, authenticator: Authenticator, flow: str
) -> None:
    provider.reset()
    provider.person = {"sub": secrets.token_hex(8), "email": user.email, "email_verified": True, "name": "A Person"}
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False) as client:
        landed = come_back(client, LOGIN if flow == "browser" else f"{LOGIN}?mobile_flow_otp={PAD}")
        if not web.trusts:  # type: ignore[attr-defined]
            assert (landed.status_code, "<form" in landed.text) == (200, True)
            assert count(stage, user) == 0
            assert client.get("/api/v1/sessions/current").status_code == 401
            state = landed.text.partition('name="state" value="')[2].partition('"')[0]
            where = f"{LOGIN}/code"
            assert client.post(where, data={"state": "x", "code": authenticator.code()}).status_code == 400
            assert client.post(where, data={"state": state, "code": "000000"}).status_code == 401
            assert count(stage, user) == 0
            landed = client.post(where, data={"state": state, "code": authenticator.code()})
        assert landed.status_code == 302, landed.text
        if flow == "browser":
            assert client.get("/api/v1/sessions/current").status_code == 200
        else:
            assert parse_qs(urlsplit(landed.headers["location"]).query)["user_id"] == [str(user.user_id)]
        assert count(stage, user) == 1
