"""Past advisories, classes AT, IN and SE: who gets into an account, and what stays open (docs/reference/advisories.md)."""

from collections.abc import Iterator

import httpx
import pytest

from tests.harness.browser import Browser, person
from tests.harness.channels import make
from tests.harness.passwords import PASSWORD
from tests.harness.realm import Realm
from tests.harness.server import User
from tests.harness.stage import Stage
from tests.harness.talk import Json, Speaker, check_error, check_success, unique

OPERATORS: tuple[object, ...] = ({"$ne": ""}, {"$regex": ".*"}, [""], [], {}, True, 0, 1.5)


@pytest.fixture
def nobody(stage: Stage) -> Speaker:
    return stage.nobody()


@pytest.fixture
def user(stage: Stage) -> User:
    return person(stage)


@pytest.fixture
def browser(stage: Stage) -> Iterator[Browser]:
    one = Browser(stage.server.url)
    try:
        yield one
    finally:
        one.http.close()


def log_in(nobody: Speaker, username: str, password: str) -> list[int]:
    """The status of every way in by a password."""
    fields: Json = {"username": username, "password": password}
    return [nobody.request("POST", path, **fields).status_code for path in ("fetch_api_key", "sessions")]


def test_at_08_no_way_in_takes_a_wrong_password(nobody: Speaker, user: User, browser: Browser) -> None:
    for wrong in (PASSWORD.upper(), PASSWORD[:-1]):
        assert log_in(nobody, user.email, wrong) == [401, 401], wrong
    browser.log_in(user)
    check_error(browser.request("PATCH", "settings", old_password="wrong", new_password="another good one 17"))
    basic = httpx.BasicAuth(user.email, PASSWORD)
    assert nobody.http.get("users/me", auth=basic).status_code == 401


def test_at_10_what_should_be_a_text_is_refused_as_anything_else(nobody: Speaker, user: User, realm: Realm) -> None:
    asked: list[tuple[str, str, Json]] = [
        ("POST", "fetch_api_key", {"username": user.email, "password": None}),
        ("POST", "fetch_api_key", {"username": None, "password": PASSWORD}),
        ("POST", "sessions", {"username": user.email, "password": None}),
        ("POST", "accounts/password/reset/confirm", {"token": None, "new_password": PASSWORD}),
        ("POST", "accounts/email/confirm", {"token": None}),
        ("POST", "signups", {"email": "a@example.com", "key": None}),
    ]
    for method, path, fields in asked:
        for value in OPERATORS:
            body = {name: value if given is None else given for name, given in fields.items()}
            reply = nobody.http.request(method, path, json=body)
            assert reply.status_code in (400, 401), (path, value, reply.text)
    for value in OPERATORS:
        narrow = [{"operator": "search", "operand": value}]
        found = realm.member.http.post("messages/flags/narrow", json={"narrow": narrow, "op": "add", "flag": "read"})
        assert found.status_code == 400, value
        assert realm.member.request("GET", "messages", anchor="newest", narrow=narrow).status_code == 400, value


def test_at_16_no_address_of_a_file_leads_to_another_site(realm: Realm) -> None:
    http, root = realm.member.http, realm.stage.server.url
    evil = ("//evil.example", "/%2f%2fevil.example", "/\\evil.example", "/https://evil.example", "/..//evil.example")
    for place in (
        "/avatar",
        "/user_avatars",
        "/user_uploads",
        "/user_uploads/thumbnail",
        "/assets",
        "/static",
        "/join",
    ):
        for end in evil:
            reply = http.get(f"{root}{place}{end}", follow_redirects=False)
            assert leads_home(reply), (place, end, reply.headers["location"])
    assert leads_home(http.get(f"{root}/avatar/{realm.member.id}?next=//evil.example&x=https://evil.example"))


def leads_home(reply: httpx.Response) -> bool:
    """Whether a browser that follows the answer stays on the site; it takes backslashes for slashes."""
    here = reply.request.url
    return here.join(reply.headers.get("location", "/").replace("\\", "/")).host == here.host


def test_at_17_an_address_is_compared_as_a_whole(nobody: Speaker, user: User) -> None:
    name, _, domain = user.email.partition("@")
    others = (
        f"{name}@{domain}.evil.example",
        f"x{user.email}",
        f"{name[:-1]}@{domain}",
        f"{name}%@{domain}",
        user.email.replace("e", "е"),  # a Cyrillic letter
    )
    for other in others:
        assert set(log_in(nobody, other, PASSWORD)) <= {400, 401}, other
    for same in (user.email.upper(), f" {user.email} "):
        assert log_in(nobody, same, PASSWORD) == [200, 200]


def test_in_01_whoever_may_not_add_people_to_a_channel_invites_nobody_to_it(realm: Realm) -> None:
    groups = {group["name"]: group["id"] for group in realm.owner.get("user_groups")["user_groups"]}
    members, administrators = groups["role:members"], groups["role:administrators"]
    channel = make(realm, realm.member, realm.administrator)
    settings: Json = {
        "can_add_subscribers_group": {"new": administrators},
        "create_multiuse_invite_group": {"new": members},
    }
    check_success(realm.owner.request("PATCH", "realm", **settings))
    email = unique("invited").replace(" ", ".") + "@example.com"
    offer: Json = {"stream_ids": [channel.stream_id]}
    assert channel.name in check_error(realm.member.request("POST", "invites", invitee_emails=email, **offer))
    assert channel.name in check_error(realm.member.request("POST", "invites/multiuse", **offer))
    assert realm.owner.get("invites")["invites"] == []
    check_success(realm.administrator.request("POST", "invites/multiuse", **offer))
