"""Whose account a person of a provider gets: of another provider's people, and of addresses that were given anew."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.features.people.test_oidc import begin, check_failed, is_logged_in
from tests.harness.browser import person
from tests.harness.command import tertulia
from tests.harness.crooked_provider import CLIENT_ID, CLIENT_SECRET, CrookedProvider, crooked_provider
from tests.harness.server import Server, User
from tests.harness.stage import Stage, Web, at_once
from tests.harness.talk import check_success


@pytest.fixture(scope="module")
def provider() -> Iterator[CrookedProvider]:
    with crooked_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def web(server: Server, provider: CrookedProvider, shared_folder: Path) -> Iterator[Web]:
    """It knows the provider twice: once as one that knows the same people as all others."""
    common = {"issuer": provider.issuer, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    chosen = [
        {"name": "crooked", "display_name": "Crooked", **common},
        {"name": "sharing", "display_name": "Sharing", "shares_people": True, **common},
    ]
    web = Web(server, shared_folder, oidc_providers=json.dumps(chosen))
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
    found = person(stage)
    provider.person = {"sub": secrets.token_hex(8), "email": found.email, "email_verified": True, "name": "A Person"}
    return found


def test_an_account_of_one_provider_is_not_opened_by_the_word_of_another(
    stage: Stage, browser: httpx.Client, user: User
) -> None:
    know_elsewhere(stage, user)
    check_failed(browser, browser.get(begin(browser)), 403)
    # Unless the operator said that both know the same people.
    assert browser.get(begin(browser, "/accounts/login/oidc/sharing")).status_code == 302
    assert check_success(browser.get("/api/v1/sessions/current"))["user_id"] == user.user_id


@pytest.mark.parametrize("name", ["crooked", "sharing"])
def test_an_address_that_the_provider_gave_to_another_person_opens_nothing(
    provider: CrookedProvider, browser: httpx.Client, user: User, name: str
) -> None:
    login = f"/accounts/login/oidc/{name}"
    browser.get(begin(browser, login))
    assert is_logged_in(browser)
    browser.cookies.clear()
    provider.person |= {"sub": secrets.token_hex(8)}
    check_failed(browser, browser.get(begin(browser, login)), 403)


def test_of_two_people_who_claim_an_account_at_once_one_gets_it(
    stage: Stage, provider: CrookedProvider, browser: httpx.Client, user: User, web: Web
) -> None:
    provider.change = lambda claims: claims | {"sub": secrets.token_hex(8)}
    with httpx.Client(base_url=web.url, timeout=30, trust_env=False) as other:
        replies = at_once([lambda: browser.get(begin(browser)), lambda: other.get(begin(other))])
    assert sorted(reply.status_code for reply in replies) == [302, 403]
    assert stage.sql("select count(*) from external_identity where user_id = %s", user.user_id) == [(1,)]


def test_the_operator_forgets_who_vouched_for_somebody(
    stage: Stage, server: Server, browser: httpx.Client, user: User
) -> None:
    know_elsewhere(stage, user)
    environment = {"TERTULIA_POSTGRES_URL": server.postgres_url}
    assert tertulia("user", "unlink", user.email, env=environment).stdout == "1\n"
    assert browser.get(begin(browser)).status_code == 302
    assert check_success(browser.get("/api/v1/sessions/current"))["user_id"] == user.user_id


def know_elsewhere(stage: Stage, user: User) -> None:
    """Somebody else vouches for them already."""
    sql = """
    insert into external_identity (realm_id, provider, subject, user_id)
    select realm_id, 'https://elsewhere.example', id::text, id from account where id = %s
    """
    stage.sql(sql, user.user_id)
