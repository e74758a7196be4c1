"""A provider says that somebody has logged out there (back-channel log-out), and what they belong to (group claims)."""

import html
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jws, jwt
from joserfc.jwk import OctKey, RSAKey

from tertulia.kernel.cookies import SESSION
from tertulia.organization.realms.actions import create_realm
from tertulia.people.sessions.oidc.flow import COOKIE
from tests.harness.browser import person
from tests.harness.crooked_provider import CLIENT_ID, CLIENT_SECRET, CrookedProvider, Json, crooked_provider
from tests.harness.server import ADMINISTRATOR, GUEST, MEMBER, OWNER, Server, User
from tests.harness.stage import Backstage, Stage, Web, at_once, later
from tests.harness.talk import Speaker, check_error, check_success, unique

OTHER = unique("elsewhere").replace(" ", "-")
"""Another organization of the same provider."""
LOGIN = "/accounts/login/oidc/crooked"
EVENT = "http://schemas.openid.net/event/backchannel-logout"
ENGINEERS, WRITERS = unique("engineers"), unique("writers")
MEMBERSHIPS = [
    {"where": "eng", "group": ENGINEERS},
    {"where": "doc", "group": WRITERS},
    {"where": "eng", "group": "a group that nobody has made"},
    {"where": "chiefs", "role": "administrator"},
    {"where": "visitors", "role": "guest"},
]


@pytest.fixture(scope="module")
def provider() -> Iterator[CrookedProvider]:
    with crooked_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def web(
    server: Server, backstage: Backstage, provider: CrookedProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Web]:
    backstage.write(lambda tx: create_realm(tx, OTHER, "Elsewhere"))
    common = {
        "display_name": "Crooked",
        "issuer": provider.issuer,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
    }
    chosen = [
        {"name": "crooked", "realms": ["", OTHER], **common},
        {"name": "grouped", "groups_claim": "access.groups", "memberships": MEMBERSHIPS, **common},
    ]
    web = Web(server, tmp_path_factory.mktemp("web"), oidc_providers=json.dumps(chosen))
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture
def browser(web: Web, provider: CrookedProvider) -> Iterator[httpx.Client]:
    provider.reset()
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False) as client:
        yield client


@pytest.fixture
def user(stage: Stage, provider: CrookedProvider, browser: httpx.Client) -> User:
    """Somebody with an account, who is known to the provider by their address."""
    return known_person(stage, provider)


def known_person(stage: Stage, provider: CrookedProvider, realm_id: int | None = None) -> User:
    found = person(stage, realm_id)
    provider.person = {"sub": secrets.token_hex(8), "email": found.email, "email_verified": True, "name": "A Person",
                       "sid": secrets.token_hex(8)}  # fmt: skip
    return found


def begin(browser: httpx.Client, url: str = LOGIN) -> str:
    """Go to the provider and be sent back: the path there, not visited yet."""
    away = browser.get(url)
    assert away.status_code == 302, away.text
    back = urlsplit(httpx.get(away.headers["location"], trust_env=False).headers["location"])
    return f"{back.path}?{back.query}"


def log_in(browser: httpx.Client, url: str = LOGIN) -> None:
    landed = browser.get(begin(browser, url))
    assert (landed.status_code, landed.headers.get("location")) == (302, "/"), landed.text


def is_logged_in(browser: httpx.Client) -> bool:
    return browser.get("/api/v1/sessions/current").status_code == 200


def logout_claims(provider: CrookedProvider, **claims: object) -> Json:
    """What a provider says of a log-out, of the session by default."""
    now = int(time.time())
    named = claims or {"sid": provider.person["sid"]}
    return {"iss": provider.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 120, "jti": secrets.token_hex(16),
            "events": {EVENT: {}}, **named}  # fmt: skip


def sign(provider: CrookedProvider, claims: Json, **header: object) -> str:
    head = {"alg": "RS256", "kid": provider.key.kid, "typ": "logout+jwt"} | header
    return jws.serialize_compact(head, json.dumps(claims), provider.key)


def tell(browser: httpx.Client, token: str) -> httpx.Response:
    """As the provider's server does: without any cookie."""
    address = str(browser.base_url.join(f"{LOGIN}/logout"))
    reply = httpx.post(address, data={"logout_token": token}, trust_env=False, timeout=30)
    assert reply.headers["cache-control"] == "no-store"
    return reply


def log_out(browser: httpx.Client, provider: CrookedProvider, **claims: object) -> httpx.Response:
    return tell(browser, sign(provider, logout_claims(provider, **claims)))


# Back-channel log-out


def test_a_log_out_at_the_provider_ends_the_session_that_began_with_it_and_no_other(
    web: Web, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    log_in(browser)
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False) as other:
        sid = provider.person["sid"]
        provider.person |= {"sid": secrets.token_hex(8)}
        log_in(other)
        check_success(log_out(browser, provider, sid=sid))
        assert (is_logged_in(browser), is_logged_in(other)) == (False, True)
        check_success(log_out(browser, provider, sid=provider.person["sid"], sub=provider.person["sub"]))
        assert not is_logged_in(other)


def test_a_poll_that_waits_is_answered_at_once(provider: CrookedProvider, browser: httpx.Client, user: User) -> None:
    log_in(browser)
    csrf = {"X-CSRF-Token": check_success(browser.get("/api/v1/sessions/current"))["csrf_token"]}
    queue = check_success(browser.post("/api/v1/register", headers=csrf, data={"event_types": '["message"]'}))
    asked = {"queue_id": queue["queue_id"], "last_event_id": queue["last_event_id"]}
    poll = later(browser.get, "/api/v1/events", params=asked)
    time.sleep(0.3)  # so that it waits; the outcome is the same if it does not yet
    check_success(log_out(browser, provider))
    check_error(poll.result(20), "UNAUTHORIZED", 401)


def test_without_a_session_all_of_the_person_ends_but_keys_that_did_not_come_from_the_provider(
    stage: Stage, web: Web, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    log_in(browser)
    by_password = check_success(
        browser.post("/api/v1/fetch_api_key", data={"username": user.email, "password": user.password})
    )["api_key"]
    app_key = key_of_app(browser)
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False) as other:
        log_in(other)
        stranger = known_person(stage, provider)
        sub = stage.sql("select subject from external_identity where user_id = %s", user.user_id)[0][0]
        with httpx.Client(base_url=web.url, timeout=30, trust_env=False) as third:
            log_in(third)
            check_success(log_out(browser, provider, sub=sub))
            assert (is_logged_in(browser), is_logged_in(other), is_logged_in(third)) == (False, False, True)
    assert stranger.user_id != user.user_id
    assert [works(stage, user, key) for key in (by_password, app_key)] == [True, False]


def test_the_key_of_an_app_ends_with_the_session_it_was_got_by(
    stage: Stage, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    key = key_of_app(browser)
    check_success(log_out(browser, provider, sid="another session", sub=provider.person["sub"]))
    assert works(stage, user, key)
    check_success(log_out(browser, provider))
    assert not works(stage, user, key)


def test_a_session_whose_name_the_provider_did_not_tell_ends_with_any_of_the_person(
    provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    sid = provider.person.pop("sid")
    log_in(browser)
    check_success(log_out(browser, provider, sid=sid))
    assert is_logged_in(browser)
    check_success(log_out(browser, provider, sid=sid, sub=provider.person["sub"]))
    assert not is_logged_in(browser)


def test_what_is_not_known_here_is_logged_out_already(
    provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    log_in(browser)
    for claims in ({"sid": "unheard of"}, {"sub": "unheard of"}, {"sid": provider.person["sid"], "sub": "unheard of"}):
        check_success(log_out(browser, provider, **claims))
    assert is_logged_in(browser)


def test_it_counts_in_all_organizations_of_the_provider_wherever_it_is_told(
    stage: Stage, provider: CrookedProvider, browser: httpx.Client
) -> None:
    [(realm_id,)] = stage.sql("select id from realm where subdomain = %s", OTHER)
    known_person(stage, provider, realm_id)
    host = {"host": f"{OTHER}.localhost"}
    browser.headers.update(host)
    log_in(browser)
    assert is_logged_in(browser)
    check_success(log_out(browser, provider, sub=provider.person["sub"]))
    assert not is_logged_in(browser)


LIES: dict[str, Callable[[Json], Json]] = {
    "another issuer": lambda claims: claims | {"iss": "https://evil.example"},
    "no issuer": lambda claims: without(claims, "iss"),
    "another audience": lambda claims: claims | {"aud": "somebody else"},
    "audiences without us": lambda claims: claims | {"aud": ["a", "b"]},
    "no audience": lambda claims: without(claims, "aud"),
    "no events": lambda claims: without(claims, "events"),
    "other events": lambda claims: claims | {"events": {"http://schemas.openid.net/event/other": {}}},
    "events that are a list": lambda claims: claims | {"events": [EVENT]},
    "an event that is a text": lambda claims: claims | {"events": {EVENT: "yes"}},
    "a nonce": lambda claims: claims | {"nonce": "x"},
    "an empty nonce": lambda claims: claims | {"nonce": None},
    "nobody": lambda claims: without(claims, "sid"),
    "a number": lambda claims: claims | {"sid": 7},
    "an empty session": lambda claims: claims | {"sid": ""},
    "an empty person": lambda claims: claims | {"sub": ""},
    "a very long session": lambda claims: claims | {"sid": "x" * 256},
    "half a character": lambda claims: claims | {"sid": "\ud800"},
    "no name of its own": lambda claims: without(claims, "jti"),
    "an empty name of its own": lambda claims: claims | {"jti": ""},
    "a number for a name": lambda claims: claims | {"jti": 7},
    "expired": lambda claims: claims | {"exp": claims["iat"] - 300},
    "no end": lambda claims: without(claims, "exp"),
    "old, with an end that is far": lambda claims: claims | {"iat": claims["iat"] - 700, "exp": claims["exp"] + 10**6},
    "from the future": lambda claims: claims | {"iat": claims["iat"] + 300},
    "no time": lambda claims: without(claims, "iat"),
    "a text for a time": lambda claims: claims | {"iat": str(claims["iat"])},
    "true for a time": lambda claims: claims | {"iat": True},
}


def without(claims: Json, name: str) -> Json:
    return {key: value for key, value in claims.items() if key != name}


@pytest.mark.parametrize("lie", LIES)
def test_a_token_that_is_not_a_log_out_for_us_is_refused(
    provider: CrookedProvider, browser: httpx.Client, user: User, lie: str
) -> None:
    log_in(browser)
    refused = tell(browser, sign(provider, LIES[lie](logout_claims(provider))))
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_request"), refused.text
    assert is_logged_in(browser)


@pytest.mark.parametrize("kind", ["JWT", "at+jwt", ""])
def test_a_token_must_say_that_it_is_of_this_kind(
    provider: CrookedProvider, browser: httpx.Client, user: User, kind: str
) -> None:
    log_in(browser)
    assert tell(browser, sign(provider, logout_claims(provider), typ=kind)).status_code == 400
    assert is_logged_in(browser)


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
def test_only_the_providers_own_signature_counts(provider: CrookedProvider, browser: httpx.Client, user: User) -> None:
    log_in(browser)
    claims = logout_claims(provider)
    header = {"typ": "logout+jwt", "kid": "first"}
    good = sign(provider, claims).split(".")
    none = json.dumps({"alg": "none", "typ": "logout+jwt"}).encode().hex()
    tokens = [
        jwt.encode({"alg": "RS256", **header}, claims, RSAKey.generate_key(2048)),
        jwt.encode({"alg": "HS256", **header}, claims, OctKey.import_key(CLIENT_SECRET)),
        f"{none}.{good[1]}.",
        f"{good[0]}.{good[1]}.",
        "rubbish",
        "",
    ]
    for token in tokens:
        assert tell(browser, token).status_code == 400
    assert is_logged_in(browser)


def test_an_identity_token_is_no_log_out(provider: CrookedProvider, browser: httpx.Client, user: User) -> None:
    caught: list[str] = []
    plain = provider.sign

    def catching(claims: Json) -> str:
        caught.append(plain(claims))
        return caught[-1]

    provider.sign = catching
    log_in(browser)
    assert tell(browser, caught[0]).status_code == 400
    assert is_logged_in(browser)


def test_a_token_is_good_once_on_every_node_and_at_the_same_moment(
    provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    log_in(browser)
    token = sign(provider, logout_claims(provider))
    replies = at_once([lambda: tell(browser, token)] * 4)
    assert sorted(reply.status_code for reply in replies) == [200, 400, 400, 400]
    time.sleep(1.1)  # the provider's clock tells seconds, and a log-in of the same one is before the log-out
    log_in(browser)
    assert tell(browser, token).status_code == 400
    assert is_logged_in(browser)


def test_a_login_under_way_does_not_outlive_the_log_out(
    provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    # The log-out is later by the provider's clock, whichever of the two arrives first.
    after = int(time.time()) + 30
    address = begin(browser)
    check_success(log_out(browser, provider, sid=provider.person["sid"], iat=after))
    refused = browser.get(address)
    assert (refused.status_code, "logged out at the provider" in refused.text) == (401, True)
    assert not is_logged_in(browser)
    for round in range(5):
        provider.person["sid"] = secrets.token_hex(8)
        address = begin(browser)
        claims = {"sid": provider.person["sid"], "iat": after, "sub": provider.person["sub"]}
        at_once([partial(browser.get, address), partial(log_out, browser, provider, **claims)])
        assert not is_logged_in(browser), round
    provider.person["sid"] = secrets.token_hex(8)
    log_in(browser)


def test_what_is_too_large_or_missing_is_refused_and_other_providers_do_not_exist(browser: httpx.Client) -> None:
    assert tell(browser, "x" * 20_000).status_code == 400
    assert tell(browser, "x" * 300_000).status_code == 413
    assert browser.post(f"{LOGIN}/logout").status_code == 400
    for url in ("/accounts/login/oidc/none/logout", "/accounts/login/oidc/grouped/logout"):
        host = {"host": f"{OTHER}.localhost"}
        assert browser.post(url, data={"logout_token": "x"}, headers=host).status_code == 404
    assert browser.get(f"{LOGIN}/logout").status_code == 405


def key_of_app(browser: httpx.Client) -> str:
    otp = secrets.token_hex(32)
    landed = browser.get(begin(browser, f"{LOGIN}?mobile_flow_otp={otp}")).headers["location"]
    hidden = parse_qs(urlsplit(landed).query)["otp_encrypted_api_key"][0]
    return bytes(a ^ b for a, b in zip(bytes.fromhex(hidden), bytes.fromhex(otp), strict=True)).decode()


def works(stage: Stage, user: User, key: str) -> bool:
    speaker: Speaker = stage.speaker(User(user.user_id, user.email, None, key, user.role))
    return speaker.request("GET", "users/me").status_code == 200


# Groups


class Crew(NamedTuple):
    """Two groups that the provider decides about, one that it does not, and an owner who hears of changes."""

    owner: Speaker
    ids: dict[str, int]


@pytest.fixture
def crew(stage: Stage) -> Crew:
    owner = stage.speaker(stage.user(OWNER))
    known = {group["name"]: group["id"] for group in owner.get("user_groups")["user_groups"]}
    for name in (ENGINEERS, WRITERS, "chess"):
        if name not in known:
            made = owner.post("user_groups/create", name=name, description="", members=[])
            known[name] = made["group_id"]
    return Crew(owner, known)


def groups_of(crew: Crew, user_id: int) -> set[str]:
    found = crew.owner.get("user_groups")["user_groups"]
    return {group["name"] for group in found if user_id in group["members"] and not group["is_system_group"]}


def come_as(browser: httpx.Client, provider: CrookedProvider, *groups: str) -> None:
    provider.person["access"] = {"groups": list(groups)}
    browser.cookies.clear()
    log_in(browser, "/accounts/login/oidc/grouped")


def role_of(browser: httpx.Client) -> int:
    return int(check_success(browser.get("/api/v1/users/me"))["role"])


def test_groups_follow_the_claim_with_every_login_and_others_are_left_alone(
    crew: Crew, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    crew.owner.post(f"user_groups/{crew.ids['chess']}/members", add=[user.user_id])
    queue = crew.owner.register(event_types=["user_group"])
    come_as(browser, provider, "eng", "something else")
    assert groups_of(crew, user.user_id) == {ENGINEERS, "chess"}
    [event] = queue.poll()
    assert (event["op"], event["group_id"], event["user_ids"]) == ("add_members", crew.ids[ENGINEERS], [user.user_id])
    come_as(browser, provider, "doc")
    assert groups_of(crew, user.user_id) == {WRITERS, "chess"}
    come_as(browser, provider)
    assert groups_of(crew, user.user_id) == {"chess"}
    provider.person |= {"access": "rubbish"}
    provider.userinfo = {"sub": provider.person["sub"]}
    crew.owner.post(f"user_groups/{crew.ids[WRITERS]}/members", add=[user.user_id])
    browser.cookies.clear()
    log_in(browser, "/accounts/login/oidc/grouped")
    assert groups_of(crew, user.user_id) == {"chess"}


def test_a_login_that_changes_nothing_tells_nobody(
    crew: Crew, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    come_as(browser, provider, "eng")
    queue = crew.owner.register(event_types=["user_group", "realm_user"])
    come_as(browser, provider, "eng")
    crew.owner.post(f"user_groups/{crew.ids['chess']}/members", add=[user.user_id])
    [event] = queue.poll()
    assert event["group_id"] == crew.ids["chess"]


def test_a_role_comes_and_goes_with_the_group_and_one_that_no_group_gives_stays(
    crew: Crew, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    roles = []
    for groups in (("chiefs",), ("chiefs", "visitors"), (), ("visitors",), ()):
        come_as(browser, provider, *groups)
        roles.append(role_of(browser))
    assert roles == [ADMINISTRATOR, ADMINISTRATOR, MEMBER, GUEST, MEMBER]
    crew.owner.request("PATCH", f"users/{user.user_id}", role=300)
    come_as(browser, provider, "eng")
    assert role_of(browser) == 300


def test_an_owner_stays_an_owner_whatever_a_provider_says(
    crew: Crew, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    check_success(crew.owner.request("PATCH", f"users/{user.user_id}", role=OWNER))
    for groups in (("visitors",), ("chiefs",), ()):
        come_as(browser, provider, *groups)
        assert role_of(browser) == OWNER


def test_groups_may_come_from_the_user_information_of_the_same_person(
    crew: Crew, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    provider.userinfo = {"sub": provider.person["sub"], "access": {"groups": ["eng"]}, "email": "x@example.com"}
    log_in(browser, "/accounts/login/oidc/grouped")
    assert groups_of(crew, user.user_id) == {ENGINEERS}
    assert check_success(browser.get("/api/v1/users/me"))["delivery_email"] == user.email
    provider.userinfo["sub"] = "somebody else"
    browser.cookies.clear()
    assert browser.get(begin(browser, "/accounts/login/oidc/grouped")).status_code == 401


def test_many_logins_of_one_person_at_the_same_moment_agree(
    crew: Crew, web: Web, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    provider.person["access"] = {"groups": ["eng", "chiefs"]}
    clients = [httpx.Client(base_url=web.url, timeout=30, trust_env=False) for _ in range(4)]
    try:
        at_once([partial(log_in, client, "/accounts/login/oidc/grouped") for client in clients])
        assert (groups_of(crew, user.user_id), role_of(clients[0])) == ({ENGINEERS}, ADMINISTRATOR)
        assert all(SESSION in client.cookies for client in clients)
    finally:
        for client in clients:
            client.close()


# Who begins a login


@pytest.mark.parametrize("site", ["cross-site", "same-site", "rubbish"])
def test_a_page_of_another_site_begins_no_login_but_the_person_may(
    browser: httpx.Client, user: User, site: str
) -> None:
    led = browser.get(f"{LOGIN}?next=/x%26y%22%3E&invitation=made-up", headers={"sec-fetch-site": site})
    assert (led.status_code, COOKIE in browser.cookies) == (200, False)
    [way] = re.findall(r'href="([^"]*)"', led.text)
    assert parse_qs(urlsplit(html.unescape(way)).query) == {"next": ['/x&y">'], "invitation": ["made-up"]}
    for own in ("same-origin", "none"):
        assert browser.get(LOGIN, headers={"sec-fetch-site": own}).status_code == 302
    assert COOKIE in browser.cookies
