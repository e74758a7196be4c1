"""Few requests of one person are under way at once: the others wait, and nobody else notices."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tertulia.kernel.admission import WAITING
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Stage, Web, later
from tests.harness.talk import Speaker, check_error

AT_ONCE = 2
MORE = 5
WAITING_FOR_LOCKS = "select count(*) from pg_locks where not granted and pid != pg_backend_pid()"


@pytest.fixture(scope="module")
def strict(server: Server, shared_folder: Path) -> Iterator[Web]:
    rates = dict.fromkeys(("user_rate", "bots_rate", "address_rate"), "10000/60")
    web = Web(server, shared_folder, rate_limits="true", requests_at_once=AT_ONCE, **rates)
    try:
        yield web.wait()
    finally:
        web.stop()


def wait_until_blocked(stage: Stage, count: int) -> None:
    deadline = time.monotonic() + 60
    while stage.sql(WAITING_FOR_LOCKS) != [(count,)]:
        assert time.monotonic() < deadline, "the requests did not come to the lock"
        time.sleep(0.05)


def test_what_one_person_asks_for_at_once_waits_for_its_turn_and_others_do_not(stage: Stage, strict: Web) -> None:
    realm = Realm(stage)

    def at(speaker: Speaker) -> Speaker:
        return realm.as_user(speaker.user, url=strict.url)

    member, bot, owner = at(realm.member), at(realm.bot(realm.member)), at(realm.owner)
    queue = member.register()
    waiting = queue.later()  # for events, which does not count
    with stage.session() as hold:
        hold("select from account where id = %s for update", member.id)
        slow = [later(member.request, "POST", "users/me/alert_words", alert_words=["tea"]) for _ in range(AT_ONCE)]
        wait_until_blocked(stage, AT_ONCE)
        asking = [partial(one.request, "GET", "users/me") for one in (member, bot)] * (AT_ONCE * WAITING)
        asked = [later(ask) for ask in asking[: AT_ONCE * WAITING + MORE]]
        deadline = time.monotonic() + 60
        while sum(one.done() for one in asked) < MORE:
            assert time.monotonic() < deadline, "nobody was refused"
            time.sleep(0.05)
        for refused in [one.result() for one in asked if one.done()]:
            check_error(refused, "RATE_LIMIT_HIT", 429, **{"retry-after": refused.json().get("retry-after")})
        assert owner.request("GET", "users/me").status_code == 200
        assert queue.request(dont_block=True).status_code == 200
    replies = [one.result(60).status_code for one in (*slow, *asked)]
    assert sorted(replies) == [200] * (AT_ONCE * (WAITING + 1)) + [429] * MORE
    member.send([member.id], content="an end to waiting")
    assert waiting.result(60).status_code == 200
