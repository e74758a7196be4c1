"""Whatever a few people ask for, there are connections of the database left for others: their own wait for each other."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Stage, Web, later
from tests.harness.talk import Speaker, check_error

POOL = 10
AT_ONCE = 6
OF_ONE = 3
BESIDE_FIRST, WRITING_BESIDE_FIRST = 3, 2
"""Of all people together."""
NARROW_SECONDS = 1
BLOCKED = "select count(*) from pg_locks where not granted and pid != pg_backend_pid()"


@pytest.fixture(scope="module")
def strict(server: Server, shared_folder: Path) -> Iterator[Web]:
    rates = dict.fromkeys(("user_rate", "bots_rate", "address_rate"), "10000/60")
    limits = {"pool_size": POOL, "requests_at_once": AT_ONCE, "postgres_pool_seconds": 2}
    web = Web(server, shared_folder, rate_limits="true", postgres_narrow_seconds=NARROW_SECONDS, **limits, **rates)
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.mark.parametrize(
    ("asked", "beside_first", "of_others"),
    [
        ("GET", BESIDE_FIRST, ("GET", "users/me", {})),
        ("POST", WRITING_BESIDE_FIRST, ("POST", "users/me/status", {"status_text": "in"})),
    ],
    ids=["reading", "writing"],
)
def test_what_four_people_ask_for_at_once_leaves_connections_for_others(
    stage: Stage, strict: Web, asked: str, beside_first: int, of_others: tuple[str, str, dict[str, str]]
) -> None:
    realm = Realm(stage)

    def at(speaker: Speaker) -> Speaker:
        return realm.as_user(speaker.user, url=strict.url)

    people = [[at(realm.member), at(realm.bot(realm.member))], [at(realm.moderator)], [at(realm.guest)]]
    people.append([at(realm.administrator)])
    other = at(realm.owner)
    fields = {} if asked == "GET" else {"alert_words": ["tea"]}
    asking = [
        partial(one[number % len(one)].request, asked, "users/me/alert_words", **fields)
        for one in people
        for number in range(AT_ONCE)
    ]
    with stage.session() as hold:
        hold("lock table alert_word in access exclusive mode")
        slow = [later(ask) for ask in asking]
        wait_until_blocked(stage, len(people) + beside_first)
        method, path, sent = of_others
        for _ in range(5):
            assert other.request(method, path, **sent).status_code == 200
    assert [one.result(60).status_code for one in slow] == [200] * len(slow)


def test_pictures_that_strangers_ask_for_leave_connections_for_others(stage: Stage, strict: Web) -> None:
    realm = Realm(stage)
    other = realm.as_user(realm.owner.user, url=strict.url)
    picture = f"{strict.url}/user_avatars/{realm.id}/emoji/images/0123456789abcdef.png"
    with stage.session() as hold:
        hold("lock table custom_emoji in access exclusive mode")
        slow = [later(partial(httpx.get, picture, timeout=60)) for _ in range(POOL * 2)]
        wait_until_blocked(stage, OF_ONE)
        for _ in range(5):
            assert other.request("GET", "users/me").status_code == 200
    assert [one.result(60).status_code for one in slow] == [404] * len(slow)


@pytest.mark.parametrize(
    ("method", "path", "asked"),
    [
        ("GET", "messages", {"num_before": 5}),
        ("GET", "messages/matches_narrow", {"msg_ids": [1]}),
        ("POST", "messages/flags/narrow", {"num_before": 5, "num_after": 0, "op": "add", "flag": "starred"}),
    ],
    ids=["window", "matches", "flags"],
)
def test_looking_for_messages_has_less_time_than_other_statements_and_costs_nobody_their_connection(
    stage: Stage, strict: Web, method: str, path: str, asked: dict[str, object]
) -> None:
    realm = Realm(stage)
    member = realm.as_user(realm.member.user, url=strict.url)
    narrow = [{"operator": "is", "operand": "starred"}]
    fields = asked if path.endswith("matches_narrow") else asked | {"anchor": "newest"}

    def look() -> httpx.Response:
        return member.request(method, path, narrow=narrow, **fields)

    assert look().status_code == 200
    with stage.session() as hold:
        hold("lock table message in access exclusive mode")
        for _ in range(OF_ONE):
            assert "takes the server too long" in check_error(look(), "SERVER_NOT_READY", 503)
    assert look().status_code == 200


def wait_until_blocked(stage: Stage, count: int) -> None:
    """So many, and no more."""
    deadline = time.monotonic() + 60
    while (blocked := stage.sql(BLOCKED)[0][0]) < count:
        assert time.monotonic() < deadline, "the requests did not come to the lock"
        time.sleep(0.05)
    time.sleep(0.5)
    assert (blocked, stage.sql(BLOCKED)) == (count, [(count,)])
