"""Every way to try credentials costs the address that tries them, until it is told to wait."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness.server import Server
from tests.harness.stage import Web

WRONG_KEY = ("nobody@example.com", "x" * 32)
SESSION = {"cookie": "tertulia_session=" + "x" * 43}
FILE = "/user_uploads/1/aa/bbbbbbbbbbbbbbbbbbbbbbbb/file.txt"
WAYS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a key at an endpoint": ("GET", "/api/v1/users/me", {"auth": WRONG_KEY}),
    "a key at a poll": ("GET", "/api/v1/events?queue_id=x&last_event_id=0", {"auth": WRONG_KEY}),
    "a session at an endpoint": ("GET", "/api/v1/users/me", {"headers": SESSION}),
    "a key at a file": ("GET", FILE, {"auth": WRONG_KEY}),
    "a session at a file": ("GET", FILE, {"headers": SESSION}),
    "a ticket of a file": ("GET", "/user_uploads/temporary/1/ticket/file.txt", {}),
    "a key at a part of a file": ("PATCH", "/api/v1/tus/x", {"auth": WRONG_KEY}),
    "a key at an avatar": ("GET", "/avatar/1", {"auth": WRONG_KEY}),
    "a session at an avatar": ("GET", "/avatar/1/medium", {"headers": SESSION}),
    "a bot's key in the address": ("POST", "/api/v1/external/github?api_key=" + "x" * 32, {"json": {}}),
    "a password for a key": ("POST", "/api/v1/fetch_api_key", {"data": {"username": "x@example.com", "password": "x"}}),
    "a link of the development server": ("GET", "/accounts/login/link/ticket", {}),
    "a password for a session": ("POST", "/api/v1/sessions", {"data": {"username": "y@example.com", "password": "x"}}),
    "an answer of a provider": ("GET", "/accounts/login/oidc/none/callback?code=x&state=x", {}),
    "a log-out of a provider": ("POST", "/accounts/login/oidc/none/logout", {"data": {"logout_token": "x"}}),
}
"""What reads credentials is counted in tests/rules/test_admission.py; these are the ways there from outside."""


@pytest.fixture(scope="module")
def strict(server: Server, shared_folder: Path) -> Iterator[Web]:
    web = Web(server, shared_folder, rate_limits="true", address_rate="4/3600")
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.mark.parametrize("way", WAYS)
def test_wrong_credentials_are_answered_with_429_in_the_end(strict: Web, way: str) -> None:
    method, path, options = WAYS[way]
    own_address = httpx.HTTPTransport(local_address=f"127.0.1.{1 + list(WAYS).index(way)}")
    with httpx.Client(base_url=strict.url.replace("localhost", "127.0.0.1"), transport=own_address) as client:
        replies = [client.request(method, path, **options) for _ in range(6)]
    statuses = [reply.status_code for reply in replies]
    assert statuses[4:] == [429, 429]
    assert 429 not in statuses[:4]
    assert replies[-1].json()["code"] == "RATE_LIMIT_HIT"
    assert float(replies[-1].headers["retry-after"]) > 0


def test_avatars_cost_nothing_with_valid_credentials_or_none(server: Server, strict: Web) -> None:
    own_address = httpx.HTTPTransport(local_address="127.0.1.200")
    url = strict.url.replace("localhost", "127.0.0.1")
    path = f"/avatar/{server.owner.user_id}"
    with httpx.Client(base_url=url, transport=own_address) as client:
        assert {client.get(path).status_code for _ in range(10)} == {200}
        auth = (server.owner.email, server.owner.api_key)
        assert {client.get(path, auth=auth).status_code for _ in range(10)} == {302}
