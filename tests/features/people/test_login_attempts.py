"""Wrong passwords: whoever guesses is held up, and nobody else."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import httpx
import pytest

from tests.harness.browser import Browser, person
from tests.harness.passwords import PASSWORD
from tests.harness.server import Server, User
from tests.harness.stage import Stage, Web
from tests.harness.talk import check_error, check_success, unique

Open = Callable[..., Browser]
HOME, ELSEWHERE, THIRD = "127.0.0.1", "127.0.0.2", "127.0.0.3"


@pytest.fixture
def browser(server: Server) -> Iterator[Open]:
    """Browsers in networks of one's choice: every address of this machine is one."""
    opened: list[Browser] = []

    def open_one(network: str = HOME, cookies: httpx.Cookies | None = None, url: str = server.url) -> Browser:
        one = Browser(url)
        one.http.close()
        one.http = httpx.Client(
            base_url=f"{url}/api/v1/",
            transport=httpx.HTTPTransport(local_address=network),
            cookies=cookies,
            timeout=90,
        )
        opened.append(one)
        return one

    try:
        yield open_one
    finally:
        for one in opened:
            one.http.close()


@pytest.fixture
def user(stage: Stage) -> User:
    return person(stage)


def log_in(browser: Browser, username: str, password: str = PASSWORD) -> httpx.Response:
    return browser.request("POST", "sessions", username=username, password=password)


def fetch_key(browser: Browser, username: str) -> httpx.Response:
    return browser.request("POST", "fetch_api_key", username=username, password=PASSWORD)


def guess(browser: Browser, username: str, count: int = 5) -> None:
    for _ in range(count):
        check_error(log_in(browser, username, "guessed"), "AUTHENTICATION_FAILED", 401)


def guess_from_everywhere(stage: Stage, username: str) -> None:
    sql = """
    insert into login_failure (realm_id, username_key, place)
    select %s, %s, 'network 192.0.2.' || number from generate_series(1, 100) as number
    """
    stage.sql(sql, stage.realm_id, username)


def test_who_guesses_is_held_up_and_the_owner_of_the_address_is_not(browser: Open, user: User) -> None:
    stranger, owner = browser(ELSEWHERE), browser(HOME)
    guess(stranger, user.email)
    assert log_in(stranger, user.email).status_code == 429
    check_success(log_in(owner, user.email))
    check_success(fetch_key(browser(THIRD), user.email))
    assert log_in(stranger, user.email).status_code == 429  # the success of others clears nothing there


def test_in_the_same_network_a_browser_that_was_logged_in_before_gets_in(browser: Open, user: User) -> None:
    own = browser()
    own.log_in(user)
    check_success(own.request("DELETE", "sessions/current"))
    stranger = browser()
    guess(stranger, user.email)
    assert log_in(stranger, user.email).status_code == 429
    check_success(log_in(own, user.email))


def test_a_known_browser_has_a_count_of_its_own(browser: Open, stage: Stage, user: User) -> None:
    own, other = browser(), person(stage)
    own.log_in(user)
    guess(own, user.email)
    assert log_in(own, user.email).status_code == 429
    check_success(log_in(browser(), user.email))
    # Its cookie is worth nothing for others' accounts: there it is one of its network.
    guess(own, other.email)
    assert log_in(browser(), other.email).status_code == 429


def test_a_stranger_s_guesses_do_not_keep_a_session_from_another_password(browser: Open, user: User) -> None:
    own, stranger = browser(), browser()
    own.log_in(user)
    guess(stranger, user.email)
    new = "seven copper kettles sing"
    check_success(own.request("PATCH", "settings", old_password=PASSWORD, new_password=new))


def test_guessing_from_many_networks_ends_for_all_places_but_those_known(
    browser: Open, stage: Stage, user: User
) -> None:
    own = browser(HOME)
    own.log_in(user)
    check_success(fetch_key(browser(ELSEWHERE), user.email))
    guess_from_everywhere(stage, user.email)
    assert log_in(browser(THIRD), user.email).status_code == 429
    assert fetch_key(browser(HOME), user.email).status_code == 429  # the browser is known there, not the network
    check_success(fetch_key(browser(ELSEWHERE), user.email))
    check_success(log_in(browser(THIRD, own.http.cookies), user.email))


def test_names_that_nobody_has_are_held_up_alike(browser: Open, stage: Stage, user: User) -> None:
    for name in (user.email, user.email.replace("person", "nobody")):
        stranger = browser(ELSEWHERE)
        guess(stranger, name)
        assert log_in(stranger, name, "guessed").json()["code"] == "RATE_LIMIT_HIT"
        guess(browser(HOME), name, 1)
        guess_from_everywhere(stage, name)
        assert log_in(browser(THIRD), name, "guessed").json()["code"] == "RATE_LIMIT_HIT"


def test_so_many_places_are_remembered_and_no_more(browser: Open, stage: Stage, user: User) -> None:
    sql = "insert into login_place select %s, 'network 192.0.2.' || number from generate_series(1, 25) as number"
    stage.sql(sql, user.user_id)
    browser().log_in(user)
    assert stage.sql("select count(*) from login_place where user_id = %s", user.user_id) == [(20,)]


MANY = 100
"""More than wait for a password check at once."""


def flood(work: Callable[[int], httpx.Response]) -> tuple[list["Future[httpx.Response]"], ThreadPoolExecutor]:
    """Do it many times at once; when this returns the first of them was refused because too many wait, the rest wait."""
    threads = ThreadPoolExecutor(MANY)
    sent = [threads.submit(work, number) for number in range(MANY)]
    left = set(sent)
    while left:
        done, left = wait(left, return_when=FIRST_COMPLETED)
        if any(one.result().status_code == 503 for one in done):
            return sent, threads
    raise AssertionError("none was refused")


def test_who_sends_many_wrong_passwords_at_once_keeps_nobody_elsewhere_from_logging_in(
    browser: Open, user: User, other_web: Web
) -> None:
    own, stranger = browser(HOME, url=other_web.url), browser(ELSEWHERE, url=other_web.url)
    names = [f"{unique('nobody').replace(' ', '.')}@example.com" for _ in range(MANY)]
    sent, threads = flood(lambda number: fetch_key(stranger, names[number]))
    with threads:
        check_success(log_in(own, user.email))
        check_success(own.request("POST", "fetch_api_key", username=user.email, password=PASSWORD))
        statuses = {one.result().status_code for one in sent}
    assert statuses == {401, 503}
    guess(stranger, user.email, 1)  # the room that the stranger had has come back
