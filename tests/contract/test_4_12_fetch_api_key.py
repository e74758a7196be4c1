"""POST /fetch_api_key (specification 4.12, contract/users.md 9, decision 17)."""

import pytest

from tests.talk import Speaker, check_error, check_success


def test_a_password_is_exchanged_for_a_key_that_works(nobody: Speaker, member: Speaker) -> None:
    reply = nobody.post("fetch_api_key", username=member.email, password=member.user.password)
    assert set(reply) == {"result", "msg", "api_key", "email", "user_id"}
    assert (reply["email"], reply["user_id"]) == (member.email, member.id)
    own = check_success(nobody.http.get("users/me", auth=(member.email, reply["api_key"])))
    assert own["user_id"] == member.id


def test_a_key_has_32_letters_and_digits(nobody: Speaker, member: Speaker) -> None:
    key = nobody.post("fetch_api_key", username=member.email, password=member.user.password)["api_key"]
    assert (len(key), key.isalnum(), key.isascii()) == (32, True, True)


def test_every_call_makes_a_key_of_its_own_and_the_others_stay(nobody: Speaker, member: Speaker) -> None:
    login = {"username": member.email, "password": member.user.password}
    keys = {nobody.post("fetch_api_key", **login)["api_key"] for _ in range(2)} | {member.user.api_key}
    assert len(keys) == 3
    for key in keys:
        check_success(nobody.http.get("users/me", auth=(member.email, key)))


def test_the_case_of_the_address_and_blanks_around_it_do_not_matter(nobody: Speaker, member: Speaker) -> None:
    username = f" {member.email.upper()} "
    assert nobody.post("fetch_api_key", username=username, password=member.user.password)["user_id"] == member.id


def test_an_unknown_user_a_bot_and_a_wrong_or_empty_password_get_the_same_answer(
    nobody: Speaker, member: Speaker, bot: Speaker
) -> None:
    password = str(member.user.password)
    attempts = [
        (member.email, "wrong"),
        (member.email, ""),
        (member.email, f" {password}"),
        ("nobody@nowhere.example", password),
        (bot.email, "wrong"),
    ]
    replies = [nobody.request("POST", "fetch_api_key", username=who, password=what) for who, what in attempts]
    for reply in replies:
        check_error(reply, "AUTHENTICATION_FAILED", 401)
        assert "www-authenticate" not in reply.headers
    assert len({reply.text for reply in replies}) == 1


@pytest.mark.parametrize("missing", ["username", "password"])
def test_both_parameters_are_required(nobody: Speaker, missing: str) -> None:
    fields: dict[str, object] = {"username": "a@example.com", "password": "x", missing: None}
    assert missing in check_error(nobody.request("POST", "fetch_api_key", **fields))


@pytest.mark.parametrize("username", ["", "kofi", "a b@example.com", "@"])
def test_a_user_name_that_is_no_address_is_a_bad_request(nobody: Speaker, username: str) -> None:
    check_error(nobody.request("POST", "fetch_api_key", username=username, password="x"))


def test_credentials_in_the_header_are_not_looked_at(nobody: Speaker, member: Speaker) -> None:
    login = {"username": member.email, "password": str(member.user.password)}
    wrong = ("nobody@nowhere.example", "k" * 32)
    assert check_success(nobody.http.post("fetch_api_key", data=login, auth=wrong))["user_id"] == member.id
