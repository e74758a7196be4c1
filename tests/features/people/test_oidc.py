"""Logging in through OpenID Connect: against an independent provider, and against one that cheats."""

import json
import os
import re
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

import tertulia.people.sessions.oidc.provider
from tertulia.engines import ChildProcess, free_port
from tertulia.kernel.cookies import SESSION
from tertulia.organization.realms.actions import create_realm
from tertulia.people.sessions.oidc.failure import ProviderFailure
from tertulia.people.sessions.oidc.flow import COOKIE, Flow, seal, unseal
from tertulia.people.sessions.origin import local_path
from tests.harness.browser import person
from tests.harness.crooked_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    CrookedProvider,
    Json,
    crooked_provider,
    ours_of,
    somebody_at,
)
from tests.harness.server import GUEST, OWNER, Server, User
from tests.harness.stage import Backstage, Stage, Web, at_once
from tests.harness.talk import Speaker, check_success, unique

OPEN = unique("open").replace(" ", "-")
"""An organization that everybody may join."""
LOGIN = "/accounts/login/oidc/crooked"


@pytest.fixture(scope="module")
def provider() -> Iterator[CrookedProvider]:
    with crooked_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def independent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A provider that somebody else wrote; its address."""
    port = free_port()
    url = f"http://localhost:{port}"
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--host", "localhost", "--port", str(port)]
    log = tmp_path_factory.mktemp("independent") / "provider.log"
    process = ChildProcess(command, log, env=os.environ | {"AUTHLIB_INSECURE_TRANSPORT": "1"})
    process.start()
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                httpx.get(f"{url}/.well-known/openid-configuration", trust_env=False)
                break
            except httpx.TransportError:
                assert process.is_alive(), log.read_text()
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield url
    finally:
        process.stop(signal.SIGTERM, 10)


@pytest.fixture(scope="module")
def web(
    server: Server,
    backstage: Backstage,
    provider: CrookedProvider,
    independent: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Web]:
    """A web process that knows several providers; one of them is away."""
    backstage.write(lambda tx: create_realm(tx, OPEN, "Open to all"))
    common = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    chosen = [
        {"name": "crooked", "display_name": "Crooked", "issuer": provider.issuer, "realms": ["", OPEN], **common},
        {"name": "other", "display_name": "Other", "issuer": independent, "display_icon": "/icon.svg", **common},
        {"name": "away", "display_name": "Away", "issuer": f"http://localhost:{free_port()}", **common},
    ]
    web = Web(server, tmp_path_factory.mktemp("web"), oidc_providers=json.dumps(chosen))
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture
def browser(web: Web, provider: CrookedProvider) -> Iterator[httpx.Client]:
    """Redirects are followed by hand."""
    provider.reset()
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False) as client:
        yield client


@pytest.fixture
def user(stage: Stage, provider: CrookedProvider, browser: httpx.Client) -> User:
    """Somebody with an account, who is known to the provider by their address."""
    found = person(stage)
    provider.person = {"sub": secrets.token_hex(8), "email": found.email, "email_verified": True, "name": "A Person"}
    return found


def begin(browser: httpx.Client, url: str = LOGIN) -> str:
    """Go to the provider and be sent back: the address there, not visited yet."""
    away = browser.get(url)
    assert away.status_code == 302, away.text
    back = httpx.get(away.headers["location"], trust_env=False)
    assert back.status_code == 307
    return str(back.headers["location"])


def is_logged_in(browser: httpx.Client) -> bool:
    return browser.get("/api/v1/sessions/current").status_code == 200


def check_failed(browser: httpx.Client, reply: httpx.Response, status: int) -> str:
    """There is a page that says so, and no session."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"].startswith("text/html")
    assert "not signed in" in reply.text
    assert not any(line.startswith(SESSION) for line in reply.headers.get_list("set-cookie"))
    assert not is_logged_in(browser)
    return reply.text


# The way it should be


def test_a_person_logs_in_at_an_independent_provider(stage: Stage, web: Web, independent: str) -> None:
    somebody, subject = person(stage), secrets.token_hex(8)
    claims = {"email": somebody.email, "email_verified": True, "name": "A Person"}
    assert httpx.put(f"{independent}/users/{subject}", json=claims, trust_env=False).status_code == 204
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False, follow_redirects=True) as client:
        form = client.get("/accounts/login/oidc/other", params={"next": "/static/icon.svg"})
        assert str(form.url).startswith(f"{independent}/oauth2/authorize?")
        landed = client.post(form.url, data={"sub": subject})
        assert (landed.status_code, str(landed.url)) == (200, f"{web.url}/static/icon.svg")
        assert check_success(client.get("/api/v1/sessions/current"))["user_id"] == somebody.user_id
        form = client.get("/accounts/login/oidc/other")
        denied = client.post(form.url, data={"action": "deny"})
        assert denied.status_code in (400, 401)


@pytest.mark.holds("server-settings.external-methods", "server-settings.authentication-methods")
def test_the_provider_is_offered_before_the_login(stage: Stage, web: Web, browser: httpx.Client) -> None:
    found = check_success(browser.get("/api/v1/server_settings"))
    assert found["authentication_methods"]["openid connect"] is True
    offered = {method["name"]: method for method in found["external_authentication_methods"]}
    assert list(offered) == ["oidc:crooked", "oidc:other", "oidc:away"]
    assert offered["oidc:crooked"] == {"name": "oidc:crooked", "display_name": "Crooked", "display_icon": None,
                                       "login_url": LOGIN, "signup_url": LOGIN}  # fmt: skip
    assert offered["oidc:other"]["display_icon"] == "/icon.svg"
    _, subdomain = stage.realm()
    elsewhere = stage.nobody(url=web.url, host=f"{subdomain}.localhost").get("server_settings")
    assert elsewhere["external_authentication_methods"] == []
    assert elsewhere["authentication_methods"]["openid connect"] is False
    assert browser.get(LOGIN, headers={"host": f"{subdomain}.localhost"}).status_code == 404
    assert browser.get("/accounts/login/oidc/unheard-of").status_code == 404


def test_who_was_known_by_address_is_then_known_by_the_providers_own_name(
    provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    landed = browser.get(begin(browser))
    assert (landed.status_code, landed.headers["location"]) == (302, "/")
    assert check_success(browser.get("/api/v1/sessions/current"))["user_id"] == user.user_id
    provider.person = {"sub": provider.person["sub"], "email": "moved@example.com", "email_verified": False}
    browser.cookies.clear()
    browser.get(begin(browser))
    assert check_success(browser.get("/api/v1/sessions/current"))["user_id"] == user.user_id


def test_a_login_at_a_provider_makes_a_new_token_and_ends_the_old_session(browser: httpx.Client, user: User) -> None:
    browser.get(begin(browser))
    first = browser.cookies[SESSION]
    browser.get(begin(browser))
    assert browser.cookies[SESSION] != first
    assert COOKIE not in browser.cookies
    with httpx.Client(headers={"cookie": f"{SESSION}={first}"}, trust_env=False) as old:
        assert old.get(str(browser.base_url.join("/api/v1/users/me"))).status_code == 401


def test_an_account_is_made_only_where_everybody_may_join(
    stage: Stage, provider: CrookedProvider, browser: httpx.Client
) -> None:
    email = unique("newcomer").replace(" ", ".") + "@example.com"
    provider.person = {"sub": secrets.token_hex(8), "email": email, "email_verified": True, "name": "New *Comer*"}
    assert "invitation" in check_failed(browser, browser.get(begin(browser)), 403)
    browser.headers["host"] = f"{OPEN}.localhost"
    assert "invitation" in check_failed(browser, _back(browser), 403)
    stage.sql("""update realm set settings = '{"invite_required": false}' where subdomain = %s""", OPEN)
    assert _back(browser).headers["location"] == "/"
    me = check_success(browser.get("/api/v1/users/me"))
    assert (me["delivery_email"], me["full_name"], me["role"]) == (email, "New Comer", 400)
    provider.person |= {"sub": secrets.token_hex(8), "email_verified": False}
    browser.cookies.clear()
    assert "verified" in check_failed(browser, _back(browser), 403)


def test_the_invited_join_by_their_address_and_others_by_the_link_they_bring(
    stage: Stage, provider: CrookedProvider, browser: httpx.Client
) -> None:
    owner = stage.speaker(stage.user(OWNER))
    invited, other = (unique("newcomer").replace(" ", ".") + "@example.com" for _ in range(2))
    owner.post("invites", invitee_emails=invited, stream_ids=[], invite_as=GUEST)
    link = owner.post("invites/multiuse", invite_as=300)["invite_link"].rpartition("/")[2]
    provider.person = {"sub": secrets.token_hex(8), "email": invited, "email_verified": True, "name": "Nora"}
    wrong = browser.get(begin(browser, f"{LOGIN}?invitation=made-up"))
    assert "not good" in check_failed(browser, wrong, 403)
    assert browser.get(begin(browser)).headers["location"] == "/"
    assert check_success(browser.get("/api/v1/users/me"))["role"] == GUEST
    assert invited not in [one.get("email") for one in owner.get("invites")["invites"]]
    browser.cookies.clear()
    provider.person |= {"sub": secrets.token_hex(8), "email": other}
    check_failed(browser, browser.get(begin(browser)), 403)
    page = browser.get(f"/join/{link}?plain=true").text
    [way] = re.findall(r'href="([^"]*crooked[^"]*)"', page)
    assert browser.get(begin(browser, way)).headers["location"] == "/"
    assert check_success(browser.get("/api/v1/users/me"))["role"] == 300


def test_two_first_logins_at_the_same_moment_make_one_account(
    stage: Stage, provider: CrookedProvider, browser: httpx.Client, web: Web
) -> None:
    stage.sql("""update realm set settings = '{"invite_required": false}' where subdomain = %s""", OPEN)
    email = unique("newcomer").replace(" ", ".") + "@example.com"
    provider.person = {"sub": secrets.token_hex(8), "email": email, "email_verified": True}
    host = {"host": f"{OPEN}.localhost"}
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False, headers=host) as other:
        browser.headers.update(host)
        replies = at_once([lambda: _back(browser), lambda: _back(other)])
        assert [reply.headers.get("location") for reply in replies] == ["/", "/"]
        ids = {one.get("/api/v1/sessions/current").json()["user_id"] for one in (browser, other)}
    assert len(ids) == 1


def _back(browser: httpx.Client) -> httpx.Response:
    """As `begin` and a visit, for another organization: its name does not resolve, so only the path is used."""
    back = urlsplit(begin(browser))
    assert (back.hostname, back.path) == (f"{OPEN}.localhost", f"{LOGIN}/callback")
    return browser.get(f"{back.path}?{back.query}")


def test_an_address_may_come_from_the_user_information(
    provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    subject, email = provider.person["sub"], provider.person.pop("email")
    provider.userinfo = {"sub": "somebody else", "email": email, "email_verified": True}
    check_failed(browser, browser.get(begin(browser)), 401)
    provider.userinfo["sub"] = subject
    assert browser.get(begin(browser)).headers["location"] == "/"
    assert is_logged_in(browser)


@pytest.mark.holds("authentication.single-sign-on")
def test_an_app_gets_a_key_that_only_it_can_read(stage: Stage, web: Web, browser: httpx.Client, user: User) -> None:
    otp = secrets.token_hex(32)
    landed = browser.get(begin(browser, f"{LOGIN}?mobile_flow_otp={otp}")).headers["location"]
    assert landed.startswith("tertulia://login?")
    answer = {name: values[0] for name, values in parse_qs(urlsplit(landed).query).items()}
    assert (answer["email"], answer["user_id"], answer["realm"]) == (user.email, str(user.user_id), web.url)
    hidden = bytes.fromhex(answer["otp_encrypted_api_key"])
    key = bytes(a ^ b for a, b in zip(hidden, bytes.fromhex(otp), strict=True)).decode()
    speaker: Speaker = stage.speaker(User(user.user_id, user.email, None, key, user.role))
    assert speaker.get("users/me")["user_id"] == user.user_id
    assert not is_logged_in(browser)
    for wrong in ("", "00", "z" * 64, otp + "00"):
        assert browser.get(LOGIN, params={"mobile_flow_otp": wrong}).status_code == 400


# Attacks on the way


def test_a_login_must_come_back_to_the_browser_that_began_it(browser: httpx.Client, user: User, web: Web) -> None:
    address = begin(browser)
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False) as victim:
        check_failed(victim, victim.get(address), 400)
        begin(victim)
        check_failed(victim, victim.get(address), 400)
    for wrong in (address.replace("state=", "state=x"), address.partition("&state")[0]):
        check_failed(browser, browser.get(wrong), 400)
    assert browser.get(address).headers["location"] == "/"


def test_the_cookie_of_a_login_cannot_be_made_up(browser: httpx.Client, user: User) -> None:
    address = begin(browser)
    state = parse_qs(urlsplit(address).query)["state"][0]
    sealed = browser.cookies[COOKIE]
    browser.cookies.clear()
    forged = seal(Flow("crooked", "", "/", None, time.time() + 60, state=state), "another secret")
    for cookie in (forged, "x", ".", "a.b.c", sealed[:-2], "x" + sealed):
        reply = browser.get(address, headers={"cookie": f"{COOKIE}={cookie}"})
        check_failed(browser, reply, 400)


def test_a_login_expires() -> None:
    flow = Flow("crooked", "", "/", None, 1000.0)
    assert unseal(seal(flow, "secret"), "secret", 999.0) == flow
    assert unseal(seal(flow, "secret"), "secret", 1001.0) is None


def test_a_code_is_good_once(provider: CrookedProvider, browser: httpx.Client, user: User) -> None:
    address, sealed = begin(browser), browser.cookies[COOKIE]
    assert browser.get(address).status_code == 302
    browser.cookies.clear()
    check_failed(browser, browser.get(address), 400)
    check_failed(browser, browser.get(address, headers={"cookie": f"{COOKIE}={sealed}"}), 401)


def test_a_stolen_code_is_worth_nothing_at_another_browser(browser: httpx.Client, user: User, web: Web) -> None:
    stolen = parse_qs(urlsplit(begin(browser)).query)["code"][0]
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False) as thief:
        address = begin(thief)
        own = parse_qs(urlsplit(address).query)["code"][0]
        check_failed(thief, thief.get(address.replace(own, stolen)), 401)


def test_a_mixed_up_provider_is_noticed(browser: httpx.Client, user: User) -> None:
    check_failed(browser, browser.get(begin(browser) + "&iss=https%3A%2F%2Fevil.example"), 401)
    address = begin(browser).replace("/crooked/", "/other/")
    check_failed(browser, browser.get(address), 400)


def _without(name: str) -> Callable[[Json], Json]:
    return lambda claims: {key: value for key, value in claims.items() if key != name}


LIES: dict[str, Callable[[Json], Json]] = {
    "another nonce": lambda claims: claims | {"nonce": "x"},
    "no nonce": _without("nonce"),
    "another issuer": lambda claims: claims | {"iss": "https://evil.example"},
    "a longer issuer": lambda claims: claims | {"iss": claims["iss"] + "/"},
    "no issuer": _without("iss"),
    "another audience": lambda claims: claims | {"aud": "somebody else"},
    "no audience": _without("aud"),
    "several audiences without us": lambda claims: claims | {"aud": ["a", "b"], "azp": CLIENT_ID},
    "several audiences without a party": lambda claims: claims | {"aud": ["a", CLIENT_ID]},
    "another party": lambda claims: claims | {"aud": ["a", CLIENT_ID], "azp": "a"},
    "expired": lambda claims: claims | {"exp": claims["exp"] - 3600},
    "no end": _without("exp"),
    "before all time": lambda claims: claims | {"iat": -(2**63)},
    "from the future": lambda claims: claims | {"iat": claims["iat"] + 3600},
    "nobody": _without("sub"),
    "an empty name": lambda claims: claims | {"sub": ""},
    "a number": lambda claims: claims | {"sub": 7},
    "a very long name": lambda claims: claims | {"sub": "x" * 300},
    "another access token": lambda claims: claims | {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
}


@pytest.mark.parametrize("lie", LIES)
def test_an_identity_token_that_lies_is_refused(
    provider: CrookedProvider, browser: httpx.Client, user: User, lie: str
) -> None:
    provider.change = LIES[lie]
    check_failed(browser, browser.get(begin(browser)), 401)


def test_several_audiences_are_fine_if_the_token_was_made_for_us(
    provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    provider.change = lambda claims: claims | {"aud": ["a", CLIENT_ID], "azp": CLIENT_ID}
    assert browser.get(begin(browser)).headers["location"] == "/"


def _unsigned(claims: Json) -> str:
    key = OctKey.import_key("x" * 32)
    head, body, _ = jwt.encode({"alg": "HS256"}, claims, key).split(".")
    del head
    return f"eyJhbGciOiJub25lIn0.{body}."


def _by_shared_secret(claims: Json) -> str:
    return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(CLIENT_SECRET))


def _by_published_secret(claims: Json) -> str:
    kid = "of a kind that nobody should use"
    return jwt.encode({"alg": "HS256", "kid": kid}, claims, OctKey.import_key("secret"))


def _by_another_key(claims: Json) -> str:
    return jwt.encode({"alg": "RS256", "kid": "first"}, claims, RSAKey.generate_key(2048))


SIGNATURES = [_unsigned, _by_shared_secret, _by_published_secret, _by_another_key, lambda _: "rubbish", lambda _: ""]


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
@pytest.mark.parametrize("sign", SIGNATURES)
def test_only_a_signature_with_the_providers_own_key_counts(
    provider: CrookedProvider, browser: httpx.Client, user: User, sign: Callable[[Json], str]
) -> None:
    provider.sign = sign
    check_failed(browser, browser.get(begin(browser)), 401)


@pytest.mark.parametrize("verified", [False, None, "false", 0, "yes"])
def test_an_address_that_is_not_verified_opens_no_account(
    provider: CrookedProvider, browser: httpx.Client, user: User, verified: object
) -> None:
    provider.person["email_verified"] = verified
    assert "verified" in check_failed(browser, browser.get(begin(browser)), 403)


def test_a_deactivated_account_stays_closed(stage: Stage, browser: httpx.Client, user: User) -> None:
    browser.get(begin(browser))
    assert is_logged_in(browser)
    stage.sql("update account set is_active = false where id = %s", user.user_id)
    assert not is_logged_in(browser)
    check_failed(browser, browser.get(begin(browser)), 401)


WRONG_WAYS = ["//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
              "javascript:alert(1)", "", "evil", "/\r\nX: y", "/é", "/" + "x" * 3000]  # fmt: skip


@pytest.mark.parametrize("way", WRONG_WAYS)
def test_a_login_never_leads_to_another_site(browser: httpx.Client, user: User, way: str) -> None:
    away = browser.get(LOGIN, params={"next": way})
    back = httpx.get(away.headers["location"], trust_env=False).headers["location"]
    assert browser.get(back).headers["location"] == "/"


def test_a_login_leads_to_the_page_that_was_asked_for() -> None:
    assert local_path("/channels/7?near=5#end") == "/channels/7?near=5#end"
    assert [local_path(way) for way in WRONG_WAYS] == ["/"] * len(WRONG_WAYS)


# A provider in trouble


def test_a_provider_that_is_away_is_said_to_be(browser: httpx.Client, user: User, provider: CrookedProvider) -> None:
    check_failed(browser, browser.get("/accounts/login/oidc/away"), 503)
    address = begin(browser)
    provider.token_redirect = "http://127.0.0.1:1/steal"
    assert browser.get(address).status_code in (401, 503)
    assert not is_logged_in(browser)


DESCRIPTIONS: list[Json] = [
    {"issuer": "https://evil.example"},
    {"token_endpoint": "http://evil.example/token"},
    {"jwks_uri": "ftp://localhost/keys"},
    {"authorization_endpoint": "javascript:alert(1)"},
    {"authorization_endpoint": None},
]


@pytest.mark.parametrize("description", DESCRIPTIONS)
async def test_a_provider_that_describes_itself_wrongly_is_not_used(
    provider: CrookedProvider, description: Json
) -> None:
    provider.reset()
    provider.describe = description
    with pytest.raises(ProviderFailure):
        await ours_of(provider).login_url(Flow("x", "", "/", None, time.time() + 60), "http://localhost/back")


async def test_new_keys_of_a_provider_are_fetched(provider: CrookedProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tertulia.people.sessions.oidc.provider, "KEYS_SECONDS", 0.0)
    provider.reset()
    provider.person = {"sub": "somebody", "email": "a@example.com", "email_verified": True}
    ours, old = ours_of(provider), provider.key
    try:
        for number in range(2):
            assert (await somebody_at(ours)).subject == "somebody"
            provider.key = RSAKey.generate_key(2048, {"kid": f"key {number}", "use": "sig"})
    finally:
        provider.key = old


def test_a_server_starts_without_providers_and_offers_none(server: Server, folder: Path) -> None:
    with server.client() as client:
        found = check_success(client.get("server_settings"))
    assert found["external_authentication_methods"] == []
    assert found["authentication_methods"]["openid connect"] is False
