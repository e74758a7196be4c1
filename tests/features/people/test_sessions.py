"""Sessions of browsers: how they begin and end, and what protects them."""

import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tertulia.kernel.cookies import SESSION, cookie_line
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.people.logins.places import DEVICE
from tertulia.people.sessions.actions import forget_old_sessions
from tests.harness.browser import Browser, person
from tests.harness.mails import mails_to
from tests.harness.passwords import PASSWORD
from tests.harness.server import Server, User
from tests.harness.stage import Stage, Web
from tests.harness.talk import Speaker, check_error, check_success, eventually, unique

Open = Callable[..., Browser]
DAY = 86400


@pytest.fixture
def browser(server: Server) -> Iterator[Open]:
    opened: list[Browser] = []

    def open_one(url: str = server.url) -> Browser:
        opened.append(Browser(url))
        return opened[-1]

    try:
        yield open_one
    finally:
        for one in opened:
            one.http.close()


@pytest.fixture
def user(stage: Stage) -> User:
    return person(stage)


def digest_of(browser: Browser) -> bytes:
    return hashlib.sha256(browser.token.encode()).digest()


def test_a_session_works_from_the_login_to_the_logout(browser: Open, user: User) -> None:
    one = browser()
    check_error(one.request("GET", "sessions/current"), "UNAUTHORIZED", 401)
    begun = one.log_in(user)
    assert begun == {"result": "success", "msg": "", "user_id": user.user_id, "email": user.email,
                     "csrf_token": begun["csrf_token"]}  # fmt: skip
    assert one.get("sessions/current") == begun
    assert one.get("users/me")["user_id"] == user.user_id
    assert one.post("messages", type="direct", to=[user.user_id], content="Hello")["id"]
    old = one.token
    ended = one.request("DELETE", "sessions/current")
    check_success(ended)
    assert "Max-Age=0" in ended.headers["set-cookie"]
    assert [cookie.name for cookie in one.http.cookies.jar] == [DEVICE]
    one.http.headers["cookie"] = f"{SESSION}={old}"
    reply = one.request("GET", "users/me")
    check_error(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith("Session realm=")


def test_a_login_from_a_new_browser_is_told_by_mail_in_the_readers_language(
    browser: Open, user: User, folder_of_mails: Path, stage: Stage
) -> None:
    known, other = browser(), browser()
    known.log_in(user)  # the first one is no news
    known.log_in(user)
    check_success(known.request("PATCH", "settings", default_language="es"))
    other.http.headers["user-agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    other.log_in(user)
    [mail] = mails_to(folder_of_mails, user.email)
    assert mail["Subject"].startswith("Un nuevo inicio de sesión en ")
    assert "    Firefox, Linux" in mail.get_content().replace("\r\n", "\n").split("\n")
    check_success(known.request("PATCH", "settings", enable_login_emails=False))
    browser().log_in(user)
    eventually(lambda: stage.sql("select 1 from mail_outbox where recipient = %s", user.email) == [])
    assert len(mails_to(folder_of_mails, user.email)) == 1


def test_somebody_who_logs_in_without_end_gets_no_mails_without_end(
    browser: Open, user: User, folder_of_mails: Path, stage: Stage
) -> None:
    for _ in range(13):
        browser().log_in(user)
    eventually(lambda: stage.sql("select 1 from mail_outbox where recipient = %s", user.email) == [])
    assert len(mails_to(folder_of_mails, user.email)) == 9  # the first one is no news


def test_the_cookie_is_for_one_host_and_no_script(browser: Open, user: User) -> None:
    one = browser()
    reply = one.request("POST", "sessions", username=user.email, password=PASSWORD)
    line, device = reply.headers.get_list("set-cookie")
    assert line == f"{SESSION}={one.token}; Path=/; Max-Age={14 * DAY}; HttpOnly; SameSite=Lax"
    assert device.startswith(f"{DEVICE}=")
    assert device.endswith(f"; Path=/; Max-Age={180 * DAY}; HttpOnly; SameSite=Lax")
    assert len(one.token) >= 43
    assert reply.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in reply.headers


def test_over_https_the_cookie_is_secure_and_cannot_be_planted_by_another_host() -> None:
    line = cookie_line(SESSION, "x", Settings(external_scheme="https"), 5)
    assert line == f"__Host-{SESSION}=x; Path=/; Max-Age=5; HttpOnly; SameSite=Lax; Secure"


def test_only_a_digest_of_the_token_is_stored(stage: Stage, browser: Open, user: User) -> None:
    one = browser()
    one.log_in(user)
    [(row,)] = stage.sql("select browser_session::text from browser_session where user_id = %s", user.user_id)
    assert digest_of(one).hex() in row
    assert one.token not in row


def test_a_login_fails_and_is_counted_as_the_fetching_of_a_key(stage: Stage, browser: Open, user: User) -> None:
    one = browser()
    for _ in range(3):
        reply = one.request("POST", "sessions", username=user.email, password="wrong")
        check_error(reply, "AUTHENTICATION_FAILED", 401)
        assert "set-cookie" not in reply.headers
    nobody = stage.nobody()
    for _ in range(2):
        check_error(
            nobody.request("POST", "fetch_api_key", username=user.email, password="wrong"), "AUTHENTICATION_FAILED", 401
        )
    assert one.request("POST", "sessions", username=user.email, password=PASSWORD).status_code == 429
    check_error(one.request("POST", "sessions", username="no address", password="x"))


def test_a_login_always_makes_a_new_token_and_ends_the_old_session(stage: Stage, browser: Open, user: User) -> None:
    one = browser()
    planted = {"cookie": f"{SESSION}=chosen-by-somebody-else"}
    fields = {"username": user.email, "password": PASSWORD}
    check_success(one.http.post("sessions", data=fields, headers=planted))
    first = one.token
    assert first != "chosen-by-somebody-else"
    one.log_in(user)
    assert one.token != first
    assert stage.sql("select count(*) from browser_session where user_id = %s", user.user_id) == [(1,)]
    assert httpx.get(f"{one.http.base_url}users/me", headers=planted, trust_env=False).status_code == 401


UNSAFE = [("POST", "messages"), ("PATCH", "settings"), ("DELETE", "sessions/current"), ("DELETE", "events"),
          ("POST", "register"), ("DELETE", "sessions")]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), UNSAFE)
def test_nothing_is_changed_without_the_csrf_token(browser: Open, user: User, method: str, path: str) -> None:
    one = browser()
    right = one.log_in(user)["csrf_token"]
    for wrong in (None, "", "x", right[:-1], right + "x", right.swapcase(), one.token):
        one.csrf_token = None
        headers = {} if wrong is None else {"X-CSRF-Token": wrong}
        reply = one.http.request(method, path, headers=headers)
        reason = f"The X-CSRF-Token header is {'missing' if wrong is None else 'wrong'}."
        check_error(reply, "CSRF_FAILED", 403, reason=reason)
    assert one.get("users/me")["user_id"] == user.user_id


def test_the_token_of_one_session_is_no_good_for_another(stage: Stage, browser: Open, user: User) -> None:
    one, other = browser(), browser()
    one.log_in(user)
    theirs = other.log_in(person(stage))["csrf_token"]
    one.csrf_token = theirs
    assert one.request("POST", "register").status_code == 403


def test_an_authorization_header_wins_and_needs_no_token(stage: Stage, browser: Open, user: User) -> None:
    one, somebody = browser(), stage.speaker()
    one.log_in(user)
    one.csrf_token = None
    one.http.auth = httpx.BasicAuth(somebody.email, somebody.user.api_key)
    assert one.get("users/me")["user_id"] == somebody.id
    check_success(one.request("POST", "messages", type="direct", to=[somebody.id], content="Hello"))
    check_error(one.request("DELETE", "sessions/current"))
    one.http.auth = httpx.BasicAuth(somebody.email, "x" * 32)
    reply = one.request("GET", "users/me")
    check_error(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith("Basic realm=")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[bad"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_another_site_cannot_log_its_reader_in(browser: Open, user: User, headers: dict[str, str]) -> None:
    one = browser()
    fields = {"username": user.email, "password": PASSWORD}
    reply = one.http.post("sessions", data=fields, headers=headers)
    check_error(reply, "CSRF_FAILED", 403, reason=reply.json()["reason"])
    assert "set-cookie" not in reply.headers
    own = {"Origin": str(one.http.base_url).removesuffix("/api/v1/"), "Sec-Fetch-Site": "same-origin"}
    check_success(one.http.post("sessions", data=fields, headers=own))


def test_a_logout_on_one_node_ends_the_session_on_the_other_at_once(browser: Open, user: User, second: Web) -> None:
    here, there = browser(), browser(second.url)
    here.log_in(user)
    there.http.headers["cookie"] = f"{SESSION}={here.token}"
    assert there.get("users/me")["user_id"] == user.user_id
    check_success(here.request("DELETE", "sessions/current"))
    check_error(there.request("GET", "users/me"), "UNAUTHORIZED", 401)


def test_logging_out_everywhere_leaves_no_session_of_that_user(stage: Stage, browser: Open, user: User) -> None:
    one, two, other = browser(), browser(), browser()
    one.log_in(user)
    two.log_in(user)
    other.log_in(person(stage))
    check_success(one.request("DELETE", "sessions", password=PASSWORD))
    assert two.request("GET", "users/me").status_code == 401
    assert other.request("GET", "users/me").status_code == 200


def test_deactivation_ends_sessions_for_good(stage: Stage, browser: Open, user: User, server: Server) -> None:
    one, administrator = browser(), stage.speaker(server.administrator)
    one.log_in(user)
    administrator.delete(f"users/{user.user_id}")
    check_error(one.request("GET", "users/me"), "UNAUTHORIZED", 401)
    administrator.post(f"users/{user.user_id}/reactivate")
    check_error(one.request("GET", "users/me"), "UNAUTHORIZED", 401)
    one.log_in(user)


def test_a_deactivated_account_is_refused_even_if_its_session_is_there(stage: Stage, browser: Open, user: User) -> None:
    one = browser()
    one.log_in(user)
    stage.sql("update account set is_active = false where id = %s", user.user_id)
    reply = one.request("GET", "users/me")
    check_error(reply, "UNAUTHORIZED", 401)
    assert reply.headers["www-authenticate"].startswith("Session realm=")


def test_a_session_is_good_in_its_own_organization_only(stage: Stage, browser: Open, user: User) -> None:
    one = browser()
    one.log_in(user)
    _, subdomain = stage.realm()
    elsewhere = {"host": f"{subdomain}.localhost", "cookie": f"{SESSION}={one.token}"}
    check_error(one.http.get("users/me", headers=elsewhere), "UNAUTHORIZED", 401)


def test_a_session_slides_and_is_written_at_most_once_an_hour(stage: Stage, browser: Open, user: User) -> None:
    one = browser()
    one.log_in(user)

    def times() -> tuple[float, float]:
        sql = (
            "select extract(epoch from last_used), extract(epoch from expires) from browser_session where user_id = %s"
        )
        [(used, expires)] = stage.sql(sql, user.user_id)
        return float(used), float(expires)

    begun = times()
    assert "set-cookie" not in one.request("GET", "users/me").headers
    assert times() == begun
    stage.sql(
        "update browser_session set last_used = last_used - interval '61 minutes', expires = now() + interval '1 day' "
        "where user_id = %s",
        user.user_id,
    )
    token = one.token
    prolonged = one.request("GET", "users/me")
    assert prolonged.headers["set-cookie"].startswith(f"{SESSION}={token}; Path=/; Max-Age={14 * DAY};")
    used, expires = times()
    assert abs(used - time.time()) < 60
    assert abs(expires - used - 14 * DAY) < 1
    assert "set-cookie" not in one.request("GET", "users/me").headers


async def test_an_expired_session_is_over_and_is_forgotten(stage: Stage, browser: Open, user: User) -> None:
    one = browser()
    one.log_in(user)
    stage.sql("update browser_session set expires = now() - interval '1 s' where user_id = %s", user.user_id)
    check_error(one.request("GET", "users/me"), "UNAUTHORIZED", 401)
    async with await Database.connect(stage.server.postgres_url, shards=4, size=1) as database:
        await forget_old_sessions(database)
    assert stage.sql("select count(*) from browser_session where user_id = %s", user.user_id) == [(0,)]


def test_another_password_ends_all_other_sessions(browser: Open, user: User) -> None:
    one, two = browser(), browser()
    one.log_in(user)
    two.log_in(user)
    check_success(one.request("PATCH", "settings", old_password=PASSWORD, new_password="seven quiet harbours at dawn"))
    assert one.request("GET", "users/me").status_code == 200
    assert two.request("GET", "users/me").status_code == 401


@pytest.mark.parametrize(
    ("agent", "name"),
    [("Mozilla/5.0 (X11)", "website"), ("TertuliaDesktop/2.1", "TertuliaDesktop"), ("", "website")],
)
def test_browsers_are_known_as_the_website(browser: Open, user: User, agent: str, name: str) -> None:
    one = browser()
    one.http.headers["user-agent"] = agent
    one.log_in(user)
    sent = one.post("messages", type="direct", to=[user.user_id], content=unique("Hello"))["id"]
    [message] = one.get("messages", anchor=sent, num_before=0, num_after=0)["messages"]
    assert message["client"] == name


@pytest.mark.parametrize("cookie", ["", "x", "=", ";;;", "a" * 5000, 'tertulia_session="quoted"', "tertulia_session=é"])
def test_a_cookie_that_is_not_ours_is_as_none(stage: Stage, cookie: str) -> None:
    nobody: Speaker = stage.nobody()
    for line in (cookie, f"{SESSION}={cookie}", f"other=1; {SESSION}={cookie}; more=2"):
        reply = nobody.http.get("users/me", headers={b"cookie": line.encode("latin-1")})
        check_error(reply, "UNAUTHORIZED", 401)
        assert nobody.http.get("server_settings", headers={b"cookie": line.encode("latin-1")}).status_code == 200


def test_one_sees_where_one_is_logged_in_and_ends_one_of_the_sessions(stage: Stage, browser: Open, user: User) -> None:
    first, second, stranger = browser(), browser(), browser()
    first.log_in(user)
    second.log_in(user)
    stranger.log_in(person(stage))
    sessions = first.get("sessions")["sessions"]
    assert [one["is_current"] for one in sessions] == [True, False]
    assert all(abs(one["created"] - time.time()) < 60 and one["last_used"] >= one["created"] for one in sessions)
    other = sessions[1]["id"]
    check_error(stranger.request("DELETE", f"sessions/{other}"))
    check_success(first.request("DELETE", f"sessions/{other}", password=PASSWORD))
    check_error(first.request("DELETE", f"sessions/{other}"))
    assert second.request("GET", "users/me").status_code == 401
    assert [one["id"] for one in first.get("sessions")["sessions"]] == [sessions[0]["id"]]


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"


def test_a_session_is_listed_with_its_browser_and_its_address(browser: Open, user: User) -> None:
    one = browser()
    one.http.headers["user-agent"] = FIREFOX
    one.log_in(user)
    [session] = one.get("sessions")["sessions"]
    assert (session["device"], session["address"]) == ("Firefox, Linux", "127.0.0.1")
    assert abs(session["ends"] - time.time() - 14 * DAY) < 60


def test_a_session_ends_for_good_thirty_days_after_the_login(stage: Stage, browser: Open, user: User) -> None:
    one = browser()
    one.log_in(user)
    age = "update browser_session set last_used = now() - interval '2 hours', created = now() - %s::interval where user_id = %s"
    stage.sql(age, "29 days", user.user_id)
    one.get("users/me")
    [session] = one.get("sessions")["sessions"]
    assert abs(session["ends"] - time.time() - DAY) < 60
    stage.sql(age, "31 days", user.user_id)
    one.request("GET", "users/me")
    check_error(one.request("GET", "users/me"), "UNAUTHORIZED", 401)


def test_everything_else_ends_at_once_with_the_password(stage: Stage, browser: Open, user: User) -> None:
    one, two, stranger = browser(), browser(), browser()
    one.log_in(user)
    two.log_in(user)
    stranger.log_in(person(stage))
    key = one.post("users/me/api_key/regenerate", password=PASSWORD)["api_key"]
    check_error(one.request("POST", "sessions/end_others"), "REAUTHENTICATION_REQUIRED", 403, methods=["password"])
    ended = one.post("sessions/end_others", password=PASSWORD)
    assert (ended["sessions"], ended["api_keys"]) == (1, 1)
    assert one.request("GET", "users/me").status_code == 200
    assert stranger.request("GET", "users/me").status_code == 200
    assert two.request("GET", "users/me").status_code == 401
    assert stage.nobody().http.get("users/me", auth=(user.email, key)).status_code == 401
    assert [one["is_current"] for one in one.get("sessions")["sessions"]] == [True]
