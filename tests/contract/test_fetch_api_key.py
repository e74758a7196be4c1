"""POST /fetch_api_key (specification 4.12, decision 17)."""

import httpx
import pytest

from tests.contract.talk import refusal, success
from tests.server import Server


def test_a_password_is_exchanged_for_a_key_that_works(nobody: httpx.Client, server: Server) -> None:
    user = server.members[1]
    reply = success(nobody.post("fetch_api_key", data={"username": user.email, "password": user.password}))
    assert set(reply) == {"result", "msg", "api_key", "email", "user_id"}
    assert (reply["email"], reply["user_id"]) == (user.email, user.user_id)
    assert len(reply["api_key"]) == 32
    assert reply["api_key"].isalnum()
    assert success(nobody.get("users/me", auth=(user.email, reply["api_key"])))["user_id"] == user.user_id


def test_every_log_in_makes_a_key_of_its_own(nobody: httpx.Client, server: Server) -> None:
    user = server.members[1]
    login = {"username": user.email, "password": user.password}
    keys = {success(nobody.post("fetch_api_key", data=login))["api_key"] for _ in range(3)}
    assert len(keys) == 3
    for key in keys | {user.api_key}:
        success(nobody.get("users/me", auth=(user.email, key)))


def test_the_email_is_found_in_any_case_and_with_blanks_around(nobody: httpx.Client, server: Server) -> None:
    user = server.members[1]
    login = {"username": f" {user.email.upper()} ", "password": user.password}
    assert success(nobody.post("fetch_api_key", data=login))["user_id"] == user.user_id


def test_wrong_password_and_unknown_user_get_the_same_answer(nobody: httpx.Client, server: Server) -> None:
    wrong = nobody.post("fetch_api_key", data={"username": server.guest.email, "password": "not it at all"})
    unknown = nobody.post("fetch_api_key", data={"username": "no.one@example.com", "password": "not it at all"})
    refusal(wrong, "AUTHENTICATION_FAILED", 401)
    assert (wrong.status_code, wrong.json()) == (unknown.status_code, unknown.json())


def test_a_bot_has_no_password(nobody: httpx.Client, server: Server) -> None:
    refusal(
        nobody.post("fetch_api_key", data={"username": server.bot.email, "password": ""}), "AUTHENTICATION_FAILED", 401
    )


@pytest.mark.parametrize("missing", ["username", "password"])
def test_both_parameters_are_required(nobody: httpx.Client, missing: str) -> None:
    login = {"username": "a@example.com", "password": "x"}
    del login[missing]
    assert missing in refusal(nobody.post("fetch_api_key", data=login))


def test_a_user_name_that_is_no_email_is_a_bad_request(nobody: httpx.Client) -> None:
    refusal(nobody.post("fetch_api_key", data={"username": "kofi", "password": "x"}))
