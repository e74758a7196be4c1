"""What attacks have found of logins at a provider: keys that outlive them, and what strangers make them cost."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.features.people.test_oidc_logout import key_of_app, known_person, log_out, works
from tests.harness.crooked_provider import CLIENT_ID, CLIENT_SECRET, CrookedProvider, crooked_provider
from tests.harness.server import Server, User
from tests.harness.stage import Stage, Web, holds_up, later
from tests.harness.talk import check_success, eventually


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
