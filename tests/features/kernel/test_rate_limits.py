"""Rate limits through the front door, in one process and across two by a real Redis."""

import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tertulia.engines import ChildProcess, free_port
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Web
from tests.harness.talk import Speaker, eventually, unique

BUDGET = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


class Redis(NamedTuple):
    """A real one."""

    url: str
    process: ChildProcess


@pytest.fixture
def redis(folder: Path) -> Iterator[Redis]:
    program = shutil.which("redis-server")
    assert program, "redis-server is missing: apt-get install redis-server (the .ci/run script does it as root)"
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = ChildProcess(command, folder / "redis.log")
    process.start()
    while "Ready to accept connections" not in (folder / "redis.log").read_text():
        time.sleep(0.02)
    yield Redis(f"redis://127.0.0.1:{port}/0", process)
    process.stop(signal.SIGTERM, 10)


@pytest.fixture(scope="module")
def limited(server: Server, shared_folder: Path) -> Iterator[Web]:
    """A process that limits."""
    web = Web(server, shared_folder, rate_limits="true", user_rate="20/60", bots_rate="40/3600", address_rate="30/60")
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.mark.timed
def test_a_user_is_refused_after_the_burst_and_told_when_to_come_back(server: Server, limited: Web) -> None:
    with server.client(server.guest, url=limited.url) as guest:
        first = guest.get("users/me")
        assert first.status_code == 200
        assert first.headers["X-RateLimit-Limit"] == "20"
        left = int(first.headers["X-RateLimit-Remaining"])
        assert left == 19
        assert 0 < int(first.headers["X-RateLimit-Reset"]) - time.time() < 60
        replies = [guest.get("users/me") for _ in range(30)]
    refused = [reply for reply in replies if reply.status_code == 429]
    assert 30 - left - 2 <= len(refused) <= 30 - left
    body = refused[-1].json()
    assert body["result"] == "error"
    assert body["code"] == "RATE_LIMIT_HIT"
    assert 0 < body["retry-after"] <= 3.1
    assert float(refused[-1].headers["Retry-After"]) == body["retry-after"]
    assert refused[-1].headers["X-RateLimit-Remaining"] == "0"
    # Another user of the same address has a budget of their own.
    with server.client(server.owner, url=limited.url) as owner:
        assert owner.get("users/me").status_code == 200


def test_strangers_and_wrong_keys_spend_the_budget_of_their_address(server: Server, limited: Web) -> None:
    with server.client(url=limited.url) as stranger:
        codes = []
        for attempt in range(45):
            if attempt % 2:
                codes.append(stranger.get("server_settings").status_code)
            else:
                codes.append(stranger.get("users/me", auth=("nobody@example.com", "x" * 32)).status_code)
    assert codes.count(429) >= 10
    assert 401 in codes
    assert 200 in codes


@pytest.mark.timed
def test_the_bots_of_one_person_share_a_budget_which_is_neither_the_person_s_nor_of_other_bots(
    realm: Realm, limited: Web
) -> None:
    def calls(bot: Speaker, times: int) -> list[int]:
        return [
            bot.http.get(f"{limited.url}/api/v1/users/me", headers={"host": realm.host}).status_code
            for _ in range(times)
        ]

    codes = [code for bot in (realm.bot(realm.member) for _ in range(5)) for code in calls(bot, 12)]
    assert codes[:12] == [200] * 12
    assert codes.count(200) in (40, 41), "no more than all of them together have, though each has room for 20"
    assert calls(realm.member, 1) == calls(realm.bot(realm.owner), 1) == [200]


def test_files_have_a_rate_and_it_is_not_that_of_other_calls(realm: Realm, server: Server, folder: Path) -> None:
    web = Web(server, folder, rate_limits="true", user_rate="20/3600", file_rate="30/3600")
    try:
        member, bot = (realm.as_user(one.user, url=web.wait().url) for one in (realm.member, realm.bot(realm.member)))
        no_file, part = f"{web.url}/user_uploads/1/ab/cdef/x.png", f"{web.url}/api/v1/tus/abcdefgh"
        codes = [member.http.get(no_file).status_code for _ in range(15)]
        codes += [bot.http.patch(part).status_code for _ in range(15)]
        assert codes == [404] * 30
        refused = [member.http.get(no_file), member.http.patch(part), bot.http.get(no_file)]
        assert [reply.status_code for reply in refused] == [429] * 3
        assert member.http.get(f"{web.url}/avatar/{member.id}").status_code == 429
        assert member.http.get("users/me").status_code == 200
    finally:
        web.stop()


@pytest.mark.timed
def test_who_does_not_wait_is_refused_without_a_question_to_the_database(
    realm: Realm, server: Server, folder: Path
) -> None:
    web = Web(server, folder, rate_limits="true", user_rate="3/9", address_rate="3/3600")
    try:
        member = realm.as_user(realm.member.user, url=web.wait().url)
        assert [member.http.get("users/me").status_code for _ in range(3)] == [200] * 3
        first = member.http.get("users/me")
        assert first.status_code == 429
        # Nobody looks whose the key is: it counts for nothing by now, which would be answered with 401.
        realm.stage.sql("delete from api_key where user_id = %s", member.id)
        again = member.http.get("users/me")
        assert (again.status_code, again.json()["code"]) == (429, "RATE_LIMIT_HIT")
        assert 0 < again.json()["retry-after"] < first.json()["retry-after"]
        assert [again.headers[name] for name in BUDGET] == [first.headers[name] for name in BUDGET]
        time.sleep(again.json()["retry-after"])
        assert member.http.get("users/me").status_code == 401
    finally:
        web.stop()


def test_mails_that_strangers_ask_for_are_counted_by_who_gets_them_and_by_organization(
    realm: Realm, server: Server, folder: Path
) -> None:
    """However many people sit behind one address, as behind a proxy that names nobody."""
    key = str(realm.owner.post("invites/multiuse")["invite_link"]).rpartition("/")[2]
    web = Web(server, folder, rate_limits="true", mail_rate="2/3600", realm_mail_rate="9/3600")

    def ask(host: str, path: str, email: str, **more: str) -> int:
        with server.client(url=web.url) as stranger:
            reply = stranger.post(path, data={"email": email, **more}, headers={"host": host})
        return reply.status_code

    newcomers = [unique("new").replace(" ", ".") + "@example.com" for _ in range(8)]
    try:
        web.wait()
        assert [ask(realm.host, "signups", one, key=key) for one in newcomers[:6]] == [200] * 6
        again = [ask(realm.host, "accounts/password/reset", newcomers[0].upper()) for _ in range(3)]
        assert again == [200, 200, 429], "nobody gets more than two, whoever asks"
        members = [person.email for person in realm.all]
        last = [ask(realm.host, "accounts/password/reset", one) for one in members[:4]]
        assert last == [200, 200, 200, 429], "the organization has none left"
        assert ask(realm.host, "accounts/password/reset", newcomers[6]) == 429, "nor does that tell who is there"
        assert ask("localhost", "accounts/password/reset", newcomers[7]) == 200
    finally:
        web.stop()


def test_what_is_not_sent_uses_up_nobodys_mails(realm: Realm, server: Server, folder: Path) -> None:
    """Strangers without an invitation, and addresses that nobody has, keep nobody from joining or from a new password."""
    key = str(realm.owner.post("invites/multiuse")["invite_link"]).rpartition("/")[2]
    web = Web(server, folder, rate_limits="true", mail_rate="2/3600", realm_mail_rate="3/3600")

    def ask(path: str, email: str, **more: str) -> httpx.Response:
        with server.client(url=web.url) as stranger:
            return stranger.post(path, data={"email": email, **more}, headers={"host": realm.host})

    newcomer, *nobody = [unique("new").replace(" ", ".") + "@example.com" for _ in range(6)]
    try:
        web.wait()
        assert [ask("signups", newcomer).status_code for _ in range(5)] == [400] * 5
        assert [ask("signups", newcomer, key="not good").status_code for _ in range(5)] == [400] * 5
        answers = [ask("accounts/password/reset", one) for one in nobody]
        assert [answer.status_code for answer in answers] == [200] * 5
        known = ask("accounts/password/reset", realm.member.email)
        assert known.status_code == 200
        told = "X-RateLimit-Remaining"
        assert known.headers.get(told) == answers[0].headers.get(told) == answers[4].headers.get(told)
        assert ask("signups", newcomer, key=key).status_code == 200
    finally:
        web.stop()


@pytest.mark.slow
@pytest.mark.timed
def test_with_redis_two_processes_share_a_budget(server: Server, folder: Path, redis: Redis) -> None:
    first, second = (Web(server, folder, rate_limits="true", user_rate="20/60", redis_url=redis.url) for _ in range(2))
    try:
        guest = server.guest
        with server.client(guest, url=first.wait().url) as here, server.client(guest, url=second.wait().url) as there:
            left = int(here.get("users/me").headers["X-RateLimit-Remaining"])
            codes = [client.get("users/me").status_code for _ in range(15) for client in (here, there)]
        assert left == 19
        assert codes == [200] * left + [429] * (30 - left)
    finally:
        first.stop()
        second.stop()


@pytest.mark.slow
@pytest.mark.timed
def test_while_redis_is_silent_or_gone_a_process_limits_by_itself_and_nobody_waits(
    server: Server, folder: Path, redis: Redis
) -> None:
    web = Web(server, folder, rate_limits="true", user_rate="20/60", redis_url=redis.url)
    try:
        with server.client(server.guest, url=web.wait().url) as guest:
            assert guest.get("users/me").status_code == 200
            redis.process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            codes = [guest.get("users/me").status_code for _ in range(25)]
            assert codes == [200] * 20 + [429] * 5
            assert time.monotonic() - began < 4
            redis.process.send_signal(signal.SIGCONT)
            # It remembers the calls that it heard of, which are few; the process itself had them all.
            eventually(lambda: int(guest.get("users/me").headers.get("X-RateLimit-Remaining", "0")) > 10)
            redis.process.kill()
            left = guest.get("users/me")
            assert (left.status_code, int(left.headers["X-RateLimit-Remaining"]) < 10) == (200, True)
    finally:
        redis.process.send_signal(signal.SIGCONT)
        web.stop()
