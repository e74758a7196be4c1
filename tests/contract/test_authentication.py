"""Authentication (specification section 5, decisions 6 and 17)."""

import httpx
import pytest

from tests.contract.talk import refusal, success
from tests.server import Server

PROTECTED = [("GET", "users/me"), ("GET", "messages"), ("POST", "messages"), ("POST", "register"), ("GET", "events")]


@pytest.mark.parametrize(("method", "path"), PROTECTED)
def test_calls_need_credentials_and_say_so_before_looking_at_parameters(
    nobody: httpx.Client, method: str, path: str
) -> None:
    reply = nobody.request(method, path)
    refusal(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith("Basic realm=")


def test_email_and_key_are_the_credentials_whatever_the_case_of_the_email(nobody: httpx.Client, server: Server) -> None:
    user = server.members[0]
    for email in (user.email, user.email.upper()):
        assert success(nobody.get("users/me", auth=(email, user.api_key)))["user_id"] == user.user_id


def test_a_key_belongs_to_one_email(nobody: httpx.Client, server: Server) -> None:
    someone, other = server.members[:2]
    refusal(nobody.get("users/me", auth=(someone.email, other.api_key)), "UNAUTHORIZED", 401)


@pytest.mark.parametrize("key", ["", "short", "x" * 32, "x" * 33, "ü" * 32])
def test_an_unknown_key_is_refused(nobody: httpx.Client, server: Server, key: str) -> None:
    refusal(nobody.get("users/me", auth=(server.members[0].email, key)), "UNAUTHORIZED", 401)


@pytest.mark.parametrize("header", ["Basic", "Basic !!!", "Basic Zm9v", "Basic YTpiOmM="])
def test_a_malformed_header_is_refused(nobody: httpx.Client, header: str) -> None:
    refusal(nobody.get("users/me", headers={"authorization": header}), "UNAUTHORIZED", 401)


def test_another_scheme_is_a_bad_request(nobody: httpx.Client) -> None:
    refusal(nobody.get("users/me", headers={"authorization": "Bearer abc"}))


def test_bots_have_keys_too(nobody: httpx.Client, server: Server) -> None:
    bot = success(nobody.get("users/me", auth=(server.bot.email, server.bot.api_key)))
    assert (bot["user_id"], bot["is_bot"]) == (server.bot.user_id, True)


def test_an_unknown_organization_is_not_found(nobody: httpx.Client) -> None:
    host = {"host": "no-such-place.localhost"}
    refusal(nobody.get("server_settings", headers=host), "NONEXISTENT_SUBDOMAIN", 404)
