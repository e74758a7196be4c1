"""What attacks have found of logins at a provider: keys that outlive them, what they prove, and what strangers make them cost."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from tests.features.people.test_oidc_logout import LOGIN, key_of_app, known_person, log_out, works
from tests.harness.crooked_provider import CLIENT_ID, CLIENT_SECRET, CrookedProvider, crooked_provider
from tests.harness.server import Server, User
from tests.harness.stage import Stage, Web, holds_up, later
from tests.harness.talk import check_error, check_success, eventually


@pytest.fixture(scope="module")
def provider() -> Iterator[CrookedProvider]:
    with crooked_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def web(server: Server, provider: CrookedProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    chosen = {"name": "crooked", "display_name": "Crooked", "issuer": provider.issuer, "client_id": CLIENT_ID}
    providers = json.dumps([{**chosen, "client_secret": CLIENT_SECRET}])
    web = Web(server, tmp_path_factory.mktemp("web"), oidc_providers=providers)
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture
def browser(web: Web) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False) as client:
        yield client


@pytest.fixture
def user(stage: Stage, provider: CrookedProvider) -> User:
    return known_person(stage, provider)


def replaced(browser: httpx.Client, user: User, key: str) -> str:
    reply = browser.post("/api/v1/users/me/api_key/regenerate", auth=(user.email, key))
    return str(check_success(reply)["api_key"])


def test_a_key_that_replaces_that_of_an_app_ends_with_the_session_it_was_got_by(
    stage: Stage, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    key = replaced(browser, user, replaced(browser, user, key_of_app(browser)))
    check_success(log_out(browser, provider, sid="another session", sub=provider.person["sub"]))
    assert works(stage, user, key)
    check_success(log_out(browser, provider))
    assert not works(stage, user, key)


def test_a_key_that_is_replaced_while_the_provider_logs_out_ends_as_well(
    stage: Stage, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    key = key_of_app(browser)
    with stage.session() as execute:
        # What a replacement does: it holds the account, and puts another key in the place of the one that it ends.
        execute("select from account where id = %s for no key update", user.user_id)
        [(digest,)] = execute("delete from api_key where user_id = %s returning digest", user.user_id)
        under_way = later(log_out, browser, provider)
        eventually(lambda: holds_up(execute))
        again = "insert into api_key (user_id, digest, issuer, provider_session) values (%s, %s, %s, %s)"
        execute(again, user.user_id, digest, provider.issuer, provider.person["sid"])
    check_success(under_way.result(30))
    assert not works(stage, user, key)


def seconds_of(web: Web) -> float:
    """What a process has used of the processor."""
    fields = Path(f"/proc/{web.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_strangers_who_begin_or_end_logins_keep_the_process_busy_for_moments_only(
    web: Web, browser: httpx.Client
) -> None:
    def ask() -> None:
        assert browser.get("/accounts/login/oidc/crooked").status_code == 302
        assert browser.post("/accounts/login/oidc/crooked/logout", data={"logout_token": "a.b.c"}).status_code == 400

    ask()
    rounds, before = 10, seconds_of(web)
    for _ in range(rounds):
        ask()
    used = seconds_of(web) - before
    began = time.process_time()
    for _ in range(rounds):
        httpx.create_ssl_context()  # what it costs to read the certificates of the system
    assert used < time.process_time() - began


# What a login proves


def asked(browser: httpx.Client, **query: str) -> dict[str, str]:
    """What the provider was asked for; its answer is visited."""
    away = browser.get(LOGIN, params=query)
    back = httpx.get(away.headers["location"], trust_env=False)
    landed = browser.get(back.headers["location"])
    assert landed.status_code == 302, landed.text
    return dict(parse_qsl(urlsplit(away.headers["location"]).query))


def proves(browser: httpx.Client) -> bool:
    """Whether the session is enough for what needs a login of the last minutes."""
    csrf = check_success(browser.get("/api/v1/sessions/current"))["csrf_token"]
    reply = browser.post("/api/v1/users/me/api_key/regenerate", headers={"X-CSRF-Token": csrf})
    if reply.status_code != 200:
        check_error(reply, "REAUTHENTICATION_REQUIRED", 403, methods=["login"])
    return reply.status_code == 200


def test_a_login_proves_no_more_than_what_the_provider_asked_the_person_for(
    stage: Stage, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    """Who sits down at somebody's browser is logged in by the provider, which knows the browser and asks nobody."""
    stage.sql("update account set password_hash = null where id = %s", user.user_id)
    asked(browser)
    assert proves(browser), "a provider that does not tell is believed, as before"
    provider.person["auth_time"] = int(time.time()) - 3600
    assert asked(browser)["max_age"] == str(30 * 86400), "who is asked for that tells the time"
    assert not proves(browser)
    for odd in (time.time() * 1000, -5):
        provider.person["auth_time"] = odd
        asked(browser)
        assert proves(browser)
    provider.person["auth_time"] = time.time() + 3600
    asked(browser)
    stage.sql("update browser_session set created = now() - interval '11 minutes' where user_id = %s", user.user_id)
    assert not proves(browser), "a provider's clock makes no session younger"


def test_who_is_to_prove_who_they_are_is_asked_by_the_provider_again(
    stage: Stage, provider: CrookedProvider, browser: httpx.Client, user: User
) -> None:
    stage.sql("update account set password_hash = null where id = %s", user.user_id)
    provider.person["auth_time"] = int(time.time()) - 3600
    asked(browser)
    away = browser.get(LOGIN, params={"again": "true", "next": "/#settings/devices"})
    query = dict(parse_qsl(urlsplit(away.headers["location"]).query))
    assert (query["prompt"], query["max_age"]) == ("login", "0")
    back = httpx.get(away.headers["location"], trust_env=False).headers["location"]
    refused = browser.get(back)
    assert refused.status_code == 403
    assert "Crooked didn’t ask who you are" in refused.text
    assert not proves(browser), "the session that was there goes on, and is no younger"
    provider.person["auth_time"] = int(time.time())
    asked(browser, again="true")
    assert proves(browser)
    led = browser.get(LOGIN, params={"again": "true"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert "again=true" in led.text, "whoever was led here by another page goes on the same way"
