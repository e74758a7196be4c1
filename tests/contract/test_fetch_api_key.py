"""POST /fetch_api_key (protocol/people.md#fetch-api-key)."""

import secrets

import httpx
import pytest

from tests.harness.talk import Json, Speaker, check_error, check_success

PASSWORD = "violet anchors drift slowly"


@pytest.fixture
def fresh(owner: Speaker) -> Json:
    """A new account with a password, and no failed attempts."""
    email = f"fresh.{secrets.token_hex(4)}@example.com"
    made = owner.post("users", email=email, password=PASSWORD, full_name="Fresh Face")
    return {"username": email, "user_id": made["user_id"]}


def attempt(nobody: Speaker, username: str, password: str = "wrong") -> httpx.Response:
    return nobody.request("POST", "fetch_api_key", username=username, password=password)


@pytest.mark.holds("fetch-api-key.answer", "fetch-api-key.when", "authentication.by-password")
def test_a_password_is_exchanged_for_a_key_that_works(nobody: Speaker, member: Speaker) -> None:
    reply = nobody.post("fetch_api_key", username=member.email, password=member.user.password)
    assert set(reply) == {"result", "msg", "api_key", "email", "user_id"}
    assert (reply["email"], reply["user_id"]) == (member.email, member.id)
    own = check_success(nobody.http.get("users/me", auth=(member.email, reply["api_key"])))
    assert own["user_id"] == member.id


@pytest.mark.holds("fetch-api-key.new-key")
def test_a_key_has_32_letters_and_digits(nobody: Speaker, member: Speaker) -> None:
    key = nobody.post("fetch_api_key", username=member.email, password=member.user.password)["api_key"]
    assert (len(key), key.isalnum(), key.isascii()) == (32, True, True)


@pytest.mark.holds("fetch-api-key.new-key")
def test_every_call_makes_a_key_of_its_own_and_the_others_stay(nobody: Speaker, member: Speaker) -> None:
    login = {"username": member.email, "password": member.user.password}
    keys = {nobody.post("fetch_api_key", **login)["api_key"] for _ in range(2)} | {member.user.api_key}
    assert len(keys) == 3
    for key in keys:
        check_success(nobody.http.get("users/me", auth=(member.email, key)))


@pytest.mark.holds("fetch-api-key.username")
def test_the_case_of_the_address_and_blanks_around_it_do_not_matter(nobody: Speaker, member: Speaker) -> None:
    username = f" {member.email.upper()} "
    assert nobody.post("fetch_api_key", username=username, password=member.user.password)["user_id"] == member.id


@pytest.mark.holds("fetch-api-key.same-answer")
def test_an_unknown_user_a_bot_and_a_wrong_or_empty_password_get_the_same_answer(
    nobody: Speaker, fresh: Json, bot: Speaker
) -> None:
    attempts = [
        (fresh["username"], "wrong"),
        (fresh["username"], ""),
        (fresh["username"], f" {PASSWORD}"),
        (fresh["username"], f"{PASSWORD} "),
        (f"nobody.{secrets.token_hex(4)}@nowhere.example", PASSWORD),
        (bot.email, bot.user.api_key),
    ]
    replies = [attempt(nobody, who, what) for who, what in attempts]
    for reply in replies:
        check_error(reply, "AUTHENTICATION_FAILED", 401)
        assert "www-authenticate" not in reply.headers
    assert len({reply.text for reply in replies}) == 1


@pytest.mark.holds("fetch-api-key.username", "fetch-api-key.password")
@pytest.mark.parametrize("missing", ["username", "password"])
def test_both_parameters_are_required(nobody: Speaker, missing: str) -> None:
    fields: dict[str, object] = {"username": "a@example.com", "password": "x", missing: None}
    assert missing in check_error(nobody.request("POST", "fetch_api_key", **fields))


@pytest.mark.holds("fetch-api-key.username")
@pytest.mark.parametrize("username", ["", "kofi", "a b@example.com", "@"])
def test_a_user_name_that_is_no_address_is_a_bad_request(nobody: Speaker, username: str) -> None:
    check_error(nobody.request("POST", "fetch_api_key", username=username, password="x"))


@pytest.mark.holds("fetch-api-key.no-credentials", "authentication.by-password")
def test_credentials_in_the_header_are_not_looked_at(nobody: Speaker, member: Speaker) -> None:
    login = {"username": member.email, "password": str(member.user.password)}
    wrong = ("nobody@nowhere.example", "k" * 32)
    assert check_success(nobody.http.post("fetch_api_key", data=login, auth=wrong))["user_id"] == member.id


@pytest.mark.holds("fetch-api-key.deactivated")
def test_a_deactivated_user_is_told_so_whatever_the_password(nobody: Speaker, owner: Speaker, fresh: Json) -> None:
    owner.delete(f"users/{fresh['user_id']}")
    for password in (PASSWORD, "wrong"):
        reply = attempt(nobody, fresh["username"], password)
        check_error(reply, "USER_DEACTIVATED", 401)
        assert "www-authenticate" not in reply.headers


@pytest.mark.holds("fetch-api-key.attempts", "errors.shape")
def test_after_five_wrong_passwords_even_the_right_one_has_to_wait(nobody: Speaker, fresh: Json) -> None:
    for _ in range(5):
        check_error(attempt(nobody, fresh["username"]), "AUTHENTICATION_FAILED", 401)
    for password in ("wrong", PASSWORD):
        reply = attempt(nobody, fresh["username"], password)
        assert reply.status_code == 429, reply.text
        body = reply.json()
        assert (body["result"], body["code"]) == ("error", "RATE_LIMIT_HIT")
        assert isinstance(body["msg"], str)
        assert body["msg"]
        assert 1700 < body["retry-after"] <= 1800
        assert float(reply.headers["retry-after"]) == body["retry-after"]


@pytest.mark.holds("fetch-api-key.attempts")
def test_a_right_password_clears_the_count(nobody: Speaker, fresh: Json) -> None:
    for _ in range(2):
        for _ in range(4):
            check_error(attempt(nobody, fresh["username"]), "AUTHENTICATION_FAILED", 401)
        check_success(attempt(nobody, fresh["username"], PASSWORD))


@pytest.mark.holds("fetch-api-key.attempts", "fetch-api-key.same-answer")
def test_attempts_on_a_name_that_nobody_has_are_counted_alike(nobody: Speaker) -> None:
    username = f"nobody.{secrets.token_hex(4)}@nowhere.example"
    replies = [attempt(nobody, username) for _ in range(6)]
    assert [reply.status_code for reply in replies] == [401] * 5 + [429]


@pytest.mark.holds("fetch-api-key.attempts")
def test_another_spelling_of_the_name_gives_no_more_attempts(nobody: Speaker, fresh: Json) -> None:
    username = fresh["username"]
    spellings = [username, username.upper(), f" {username}", f"{username}\t", username.title()]
    assert {attempt(nobody, spelling).status_code for spelling in spellings} == {401}
    assert attempt(nobody, username, PASSWORD).status_code == 429


@pytest.mark.holds("fetch-api-key.attempts")
def test_one_name_s_failures_do_not_hold_up_another(nobody: Speaker, fresh: Json, member: Speaker) -> None:
    for _ in range(6):
        attempt(nobody, fresh["username"])
    nobody.post("fetch_api_key", username=member.email, password=member.user.password)


@pytest.mark.holds("fetch-api-key.attempts")
def test_what_is_no_attempt_is_not_counted(nobody: Speaker, fresh: Json) -> None:
    for _ in range(6):
        check_error(nobody.request("POST", "fetch_api_key", username=fresh["username"]))
    check_success(attempt(nobody, fresh["username"], PASSWORD))


@pytest.mark.holds("fetch-api-key.answer")
def test_the_email_of_the_answer_is_the_account_s_own_however_it_was_typed(nobody: Speaker, fresh: Json) -> None:
    reply = check_success(attempt(nobody, fresh["username"].upper(), PASSWORD))
    assert (reply["email"], reply["user_id"]) == (fresh["username"], fresh["user_id"])


@pytest.mark.holds("conventions.method")
def test_there_is_nothing_to_get(nobody: Speaker) -> None:
    reply = nobody.request("GET", "fetch_api_key")
    assert (reply.status_code, reply.json()["code"]) == (405, "METHOD_NOT_ALLOWED")
    assert "POST" in reply.headers["allow"]


@pytest.mark.holds("authentication.no-organization")
def test_an_unknown_host_has_no_logins(nobody: Speaker, member: Speaker) -> None:
    login = {"username": member.email, "password": str(member.user.password)}
    for host in ("nobody-lives-here.localhost", "elsewhere.example"):
        reply = nobody.http.post("fetch_api_key", data=login, headers={"host": host})
        check_error(reply, "NONEXISTENT_SUBDOMAIN", 404)


@pytest.mark.holds("conventions.ignored-parameters")
def test_unsupported_parameters_are_reported(nobody: Speaker, member: Speaker) -> None:
    reply = nobody.post("fetch_api_key", username=member.email, password=member.user.password, otp="1", client="Test")
    assert reply["ignored_parameters_unsupported"] == ["otp"]
