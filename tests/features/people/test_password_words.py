"""Passwords are not made of words that everybody knows who knows the organization, wherever one is chosen."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.harness.passwords import PASSWORD
from tests.harness.realm import Realm
from tests.harness.server import OWNER, Server
from tests.harness.stage import Web
from tests.harness.talk import Speaker, check_error, check_success, unique

STRONG = "seven copper kettles sing"
WEAK = ("Quillington2024!", "quillington-works", "Tertulia2025!", "Glimmerholt99", "glimmerholt-quillington")


@pytest.fixture(scope="module")
def web(server: Server, shared_folder: Path) -> Iterator[Web]:
    web = Web(server, shared_folder, password_words="Bluefinch, Marrowgate")
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture
def named(realm: Realm) -> Realm:
    check_success(realm.owner.request("PATCH", "realm", name="Quillington Works"))
    check_success(realm.owner.request("POST", "realm/domains", domain="glimmerholt.example", allow_subdomains=False))
    return realm


def test_an_administrator_gives_nobody_such_a_password(named: Realm) -> None:
    for password in WEAK:
        assert "too weak" in check_error(_make(named.owner, password))
    check_success(_make(named.owner, STRONG))


def test_nobody_changes_theirs_to_one(named: Realm) -> None:
    made = f"{unique('p').replace(' ', '.')}@example.com"
    check_success(named.owner.request("POST", "users", email=made, password=PASSWORD, full_name=unique("A Person")))
    nobody = named.stage.nobody(host=named.host)
    key = check_success(nobody.request("POST", "fetch_api_key", username=made, password=PASSWORD))["api_key"]
    for password in (*WEAK, STRONG):
        reply = nobody.http.patch(
            "settings", data={"old_password": PASSWORD, "new_password": password}, auth=(made, key)
        )
        if password == STRONG:
            check_success(reply)
        else:
            assert "too weak" in check_error(reply)


def test_the_operator_adds_words(named: Realm, web: Web) -> None:
    owner = named.speaker(OWNER, url=web.url)
    for password in ("Bluefinch2024!", "marrowgate-bluefinch"):
        assert "too weak" in check_error(_make(owner, password))
        check_success(_make(named.owner, password))  # at another process, without that setting


@pytest.mark.timed
def test_a_password_of_many_signs_is_estimated_as_soon_as_another(realm: Realm) -> None:
    signs = "4@8({[<369!1|70$5+%2"
    begun = time.monotonic()
    check_success(_make(realm.owner, f"{signs}tertulia{unique('s')}{signs}"[:100]))
    assert time.monotonic() - begun < 5


def _make(speaker: Speaker, password: str) -> httpx.Response:
    email = f"{unique('q').replace(' ', '.')}@example.com"
    return speaker.request("POST", "users", email=email, password=password, full_name=unique("Somebody"))
