"""Authentication (protocol/basics.md#authentication)."""

import base64
import secrets

import pytest

from tests.harness.server import Server, User
from tests.harness.talk import Speaker, check_error, check_success, speaking, unique

GUARDED = [
    ("GET", "users/me"),
    ("GET", "messages"),
    ("POST", "messages"),
    ("POST", "messages/flags"),
    ("POST", "register"),
    ("GET", "events"),
    ("DELETE", "events"),
]


def basic(text: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(text.encode()).decode()}


@pytest.mark.holds("authentication.basic")
def test_the_email_address_and_the_api_key_are_http_basic_credentials(nobody: Speaker, member: Speaker) -> None:
    own = check_success(nobody.http.get("users/me", headers=basic(f"{member.email}:{member.user.api_key}")))
    assert own["user_id"] == member.id


@pytest.mark.holds("authentication.bots")
def test_a_bot_has_credentials_as_well(bot: Speaker) -> None:
    assert bot.get("users/me")["is_bot"] is True


@pytest.mark.holds("authentication.missing")
@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_without_credentials_a_guarded_endpoint_answers_401(nobody: Speaker, method: str, path: str) -> None:
    reply = nobody.request(method, path)
    check_error(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith('Basic realm="')


@pytest.mark.holds("authentication.malformed")
@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic ???",
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Basic " + base64.b64encode(b"a@example.com:b:c").decode(),
        "Basic " + base64.b64encode(b"\xff:\xff").decode(),
    ],
)
def test_a_malformed_header_answers_401(nobody: Speaker, header: str) -> None:
    reply = nobody.http.get("users/me", headers={"Authorization": header})
    check_error(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith("Basic ")


@pytest.mark.holds("authentication.scheme")
@pytest.mark.parametrize("header", ["Bearer abc", "Digest username=x", "abc"])
def test_another_scheme_is_a_bad_request(nobody: Speaker, header: str) -> None:
    check_error(nobody.http.get("users/me", headers={"Authorization": header}))


@pytest.mark.holds("authentication.malformed")
@pytest.mark.parametrize("key", ["", "short", "k" * 32, "k" * 33, "!" * 32, "é" * 32])
def test_an_unknown_or_malformed_key_answers_401(nobody: Speaker, member: Speaker, key: str) -> None:
    reply = nobody.http.get("users/me", headers=basic(f"{member.email}:{key}"))
    check_error(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith("Basic ")


@pytest.mark.holds("authentication.owner-only")
def test_a_key_works_with_its_owners_address_only(nobody: Speaker, member: Speaker, other: Speaker) -> None:
    for email in (other.email, "nobody@nowhere.example", ""):
        check_error(nobody.http.get("users/me", headers=basic(f"{email}:{member.user.api_key}")), "UNAUTHORIZED", 401)


@pytest.mark.holds("authentication.spelling")
def test_the_case_of_the_address_blanks_and_the_case_of_the_scheme_do_not_matter(
    nobody: Speaker, member: Speaker
) -> None:
    header = basic(f" {member.email.upper()} : {member.user.api_key} ")["Authorization"].replace("Basic", "bAsIc")
    assert check_success(nobody.http.get("users/me", headers={"Authorization": header}))["user_id"] == member.id


@pytest.mark.holds("authentication.password-is-no-key")
def test_a_password_is_no_api_key(nobody: Speaker, member: Speaker) -> None:
    check_error(
        nobody.http.get("users/me", headers=basic(f"{member.email}:{member.user.password}")), "UNAUTHORIZED", 401
    )


@pytest.mark.holds("authentication.by-password", "authentication.open-server-settings", "fetch-api-key.no-credentials")
def test_logging_in_and_the_server_settings_need_no_credentials(nobody: Speaker) -> None:
    nobody.get("server_settings")
    check_error(nobody.request("POST", "fetch_api_key"))


@pytest.mark.holds("authentication.no-organization")
def test_an_address_without_an_organization_is_not_found(nobody: Speaker, member: Speaker) -> None:
    host = {"Host": "no-such-organization.localhost"}
    check_error(nobody.http.get("server_settings", headers=host), "NONEXISTENT_SUBDOMAIN", 404)
    assert member.http.get("users/me", headers=host).status_code == 401


@pytest.mark.holds("authentication.deactivated")
def test_a_deactivated_account_answers_401_and_comes_back_without_its_key(owner: Speaker, nobody: Speaker) -> None:
    email, password = unique("leaver").replace(" ", ".") + "@example.com", secrets.token_hex(12)
    user_id = owner.post("users", email=email, password=password, full_name="Somebody Leaving")["user_id"]
    key = nobody.post("fetch_api_key", username=email, password=password)["api_key"]
    auth = (email, key)
    assert check_success(nobody.http.get("users/me", auth=auth))["user_id"] == user_id
    owner.delete(f"users/{user_id}")
    reply = nobody.http.get("users/me", auth=auth)
    check_error(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith("Basic ")
    owner.post(f"users/{user_id}/reactivate")
    check_error(nobody.http.get("users/me", auth=auth), "UNAUTHORIZED", 401)
    fresh = nobody.post("fetch_api_key", username=email, password=password)["api_key"]
    assert check_success(nobody.http.get("users/me", auth=(email, fresh)))["is_active"] is True
    owner.delete(f"users/{user_id}")


@pytest.mark.holds("authentication.new-password", "authentication.key-lifetime")
def test_a_new_password_ends_the_keys_that_were_got_by_the_old_one(newcomer: Speaker, nobody: Speaker) -> None:
    old, new = newcomer.user.password, unique("Another secret")
    other = nobody.post("fetch_api_key", username=newcomer.email, password=old)["api_key"]
    check_success(newcomer.request("PATCH", "settings", old_password=old, new_password=new))
    for key in (newcomer.user.api_key, other):
        check_error(nobody.http.get("users/me", auth=(newcomer.email, key)), "UNAUTHORIZED", 401)
    fresh = nobody.post("fetch_api_key", username=newcomer.email, password=new)["api_key"]
    check_success(nobody.http.get("users/me", auth=(newcomer.email, fresh)))


@pytest.mark.holds("authentication.waiting", "authentication.key-lifetime")
def test_a_poll_that_waits_with_a_revoked_key_brings_nothing(
    server: Server, newcomer: Speaker, nobody: Speaker
) -> None:
    key = nobody.post("fetch_api_key", username=newcomer.email, password=newcomer.user.password)["api_key"]
    user = User(newcomer.id, newcomer.email, None, key, newcomer.user.role)
    with speaking(server, user) as device, device.register() as queue:
        poll = queue.later()
        newest = newcomer.get("users/me/api_keys")["api_keys"][-1]
        newcomer.delete(f"users/me/api_keys/{newest['id']}", password=newcomer.user.password)
        newcomer.send([newcomer.id], content="after")
        check_error(poll.result(60), "UNAUTHORIZED", 401)


@pytest.mark.holds("authentication.open-users")
def test_the_list_of_users_is_closed_to_nobody_without_public_access(nobody: Speaker) -> None:
    reply = nobody.http.get("users")
    check_error(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith("Basic ")


@pytest.mark.holds("authentication.refused")
@pytest.mark.parametrize(
    ("method", "path", "who"),
    [("DELETE", "users/me", "bot"), ("POST", "users", "member"), ("DELETE", "users/1", "guest")],
)
def test_who_may_not_call_is_a_bad_request_never_forbidden(
    request: pytest.FixtureRequest, method: str, path: str, who: str
) -> None:
    speaker: Speaker = request.getfixturevalue(who)
    reply = speaker.request(method, path)
    assert (reply.status_code, reply.json()["result"]) == (400, "error")
    assert reply.json()["code"] in ("BAD_REQUEST", "UNAUTHORIZED_PRINCIPAL")
