"""Logging in with a password: what can be seen from inside, and what other realms and other nodes make of it."""

import asyncio
import time
from datetime import timedelta

import httpx
import pytest
from argon2 import PasswordHasher

from tertulia.kernel.db import Database, Transaction
from tertulia.organization.realms.queries import find_realm
from tertulia.people.logins.attempts import forget_old_failures
from tertulia.people.logins.login import PasswordLogin
from tertulia.people.logins.places import Origin
from tertulia.people.users.actions import create_api_key, create_user
from tertulia.people.users.passwords import is_outdated
from tests.harness.counting import CountingDatabase
from tests.harness.passwords import AS_IN_TESTS, PASSWORD, hashed
from tests.harness.server import MEMBER, Server, User
from tests.harness.stage import Stage, Web, at_once
from tests.harness.talk import Speaker, check_error, check_success, unique


def person(stage: Stage, realm_id: int | None = None) -> User:
    """Somebody with a password."""
    email = unique("person").replace(" ", ".") + "@example.com"

    async def make(tx: Transaction) -> int:
        return await create_user(tx, realm_id or stage.realm_id, email, "A Person", password_hash=hashed())

    return User(stage.write(make), email, PASSWORD, "", MEMBER)


def log_in(speaker: Speaker, user: User | str, password: str = PASSWORD) -> httpx.Response:
    username = user if isinstance(user, str) else user.email
    return speaker.request("POST", "fetch_api_key", username=username, password=password)


@pytest.fixture
def nobody(stage: Stage) -> Speaker:
    return stage.nobody()


def test_a_password_that_must_be_reset_is_refused_with_its_own_word(stage: Stage, nobody: Speaker) -> None:
    user = person(stage)
    stage.sql("update account set password_hash = '!' where id = %s", user.user_id)
    for password in (PASSWORD, "!", ""):
        check_error(log_in(nobody, user, password), "PASSWORD_RESET_REQUIRED", 401)


def test_an_account_without_a_password_looks_like_none(stage: Stage, nobody: Speaker) -> None:
    user = person(stage)
    stage.sql("update account set password_hash = null where id = %s", user.user_id)
    answers = {log_in(nobody, user, password).text for password in (PASSWORD, "", "None")}
    assert answers == {log_in(nobody, "nobody.at.all@example.com").text}


def test_where_password_login_is_off_there_is_none(stage: Stage) -> None:
    realm_id, subdomain = stage.realm()
    user = person(stage, realm_id)
    there = stage.nobody(host=f"{subdomain}.localhost")
    check_success(log_in(there, user))
    stage.sql("""update realm set settings = '{"password_auth_enabled": false}' where id = %s""", realm_id)
    for password in (PASSWORD, "wrong"):
        check_error(log_in(there, user, password), "PASSWORD_AUTH_DISABLED", 401)
    methods = there.get("server_settings")
    assert (methods["email_auth_enabled"], methods["authentication_methods"]["password"]) == (False, False)


def test_a_deactivated_organization_has_no_logins(stage: Stage) -> None:
    realm_id, subdomain = stage.realm()
    user = person(stage, realm_id)
    stage.sql("update realm set is_active = false where id = %s", realm_id)
    there = stage.nobody(host=f"{subdomain}.localhost")
    for password in (PASSWORD, "wrong"):
        check_error(log_in(there, user, password), "REALM_DEACTIVATED", 401)


def test_an_account_of_another_organization_looks_like_none(stage: Stage, nobody: Speaker) -> None:
    realm_id, subdomain = stage.realm()
    user = person(stage, realm_id)
    assert log_in(nobody, user).text == log_in(nobody, "nobody.at.all@example.com").text
    check_error(log_in(nobody, user), "AUTHENTICATION_FAILED", 401)
    check_success(log_in(stage.nobody(host=f"{subdomain}.localhost"), user))


def test_the_same_address_in_two_organizations_is_two_accounts_with_counts_of_their_own(
    stage: Stage, nobody: Speaker
) -> None:
    realm_id, subdomain = stage.realm()
    here = person(stage)

    async def twin(tx: Transaction) -> int:
        return await create_user(tx, realm_id, here.email, "A Twin", password_hash=hashed("another password of mine"))

    twin_id = stage.write(twin)
    there = stage.nobody(host=f"{subdomain}.localhost")
    for _ in range(6):
        log_in(nobody, here, "another password of mine")
    assert log_in(nobody, here).status_code == 429
    assert check_success(log_in(there, here, "another password of mine"))["user_id"] == twin_id


@pytest.mark.timed
def test_an_attempt_takes_as_long_for_an_unknown_user_as_for_a_known_one(stage: Stage, nobody: Speaker) -> None:
    known = [person(stage).email for _ in range(5)]
    unknown = [email.replace("person", "nobody") for email in known]

    def fastest(names: list[str], password: str) -> float:
        times = []
        for name in names:
            began = time.perf_counter()
            check_error(log_in(nobody, name, password), "AUTHENTICATION_FAILED", 401)
            times.append(time.perf_counter() - began)
        return min(times)

    # A look-up alone takes a tenth of that; the rest of the tolerance is for busy machines.
    slow, other, empty = fastest(known, "wrong"), fastest(unknown, "wrong"), fastest(unknown, "")
    assert 0.4 < slow / other < 2.5
    assert 0.4 < slow / empty < 2.5


def test_parallel_attempts_on_two_nodes_get_five_password_checks_in_all(
    stage: Stage, nobody: Speaker, second: Web
) -> None:
    user = person(stage)
    nodes = [nobody, stage.nobody(url=second.url)]
    replies = at_once([lambda node=nodes[i % 2]: log_in(node, user, "wrong") for i in range(20)])  # type: ignore[misc]
    statuses = [reply.status_code for reply in replies]
    assert (statuses.count(401), statuses.count(429)) == (5, 15)
    assert stage.sql("select count(*) from login_failure where username_key = %s", user.email) == [(5,)]


def test_parallel_right_passwords_do_not_hold_each_other_up(stage: Stage, nobody: Speaker, second: Web) -> None:
    user = person(stage)
    nodes = [nobody, stage.nobody(url=second.url)]
    replies = at_once([lambda node=nodes[i % 2]: log_in(node, user) for i in range(12)])  # type: ignore[misc]
    assert {reply.status_code for reply in replies} == {200}
    assert stage.sql("select count(*) from login_failure where username_key = %s", user.email) == [(0,)]


def test_failures_count_for_half_an_hour(stage: Stage, nobody: Speaker) -> None:
    user = person(stage)
    for _ in range(5):
        log_in(nobody, user, "wrong")
    assert log_in(nobody, user).status_code == 429
    age = "update login_failure set failed_at = failed_at - interval '29 minutes' where username_key = %s"
    stage.sql(age, user.email)
    waiting = log_in(nobody, user)
    assert (waiting.status_code, 0 < waiting.json()["retry-after"] <= 60) == (429, True)
    stage.sql(age.replace("29", "1"), user.email)
    check_success(log_in(nobody, user))


def test_a_password_that_was_hashed_at_another_cost_is_hashed_anew_by_a_login(
    stage: Stage, nobody: Speaker, second: Web
) -> None:
    user = person(stage)
    old = PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSWORD)
    stage.sql("update account set password_hash = %s where id = %s", old, user.user_id)
    check_error(log_in(nobody, user, "wrong"), "AUTHENTICATION_FAILED", 401)
    assert _hash_of(stage, user) == old
    places = [nobody, stage.nobody(url=second.url)] * 2
    replies = at_once([lambda place=place: log_in(place, user) for place in places])  # type: ignore[misc]
    keys = [check_success(reply)["api_key"] for reply in replies]
    new = _hash_of(stage, user)
    assert new != old
    assert not is_outdated(new, AS_IN_TESTS)
    check_success(log_in(nobody, user))
    assert _hash_of(stage, user) == new
    for key in keys:  # nothing that the password opened has ended
        assert nobody.http.get("users/me", auth=(user.email, key)).status_code == 200


def test_a_hash_that_says_it_costs_more_than_any_of_ours_is_not_checked(stage: Stage, nobody: Speaker) -> None:
    """A hash names its own price, and one of another server may name years. Whoever tries a password would keep others out."""
    user = person(stage)
    for passes, lanes in ((17, 1), (1, 17)):
        dear = PasswordHasher(time_cost=passes, memory_cost=8 * lanes, parallelism=lanes).hash(PASSWORD)
        stage.sql("update account set password_hash = %s where id = %s", dear, user.user_id)
        check_error(log_in(nobody, user), "AUTHENTICATION_FAILED", 401)
    stage.sql("update account set password_hash = %s where id = %s", hashed(), user.user_id)
    check_success(log_in(nobody, user))


def _hash_of(stage: Stage, user: User) -> str:
    [(stored,)] = stage.sql("select password_hash from account where id = %s", user.user_id)
    return str(stored)


@pytest.mark.timed
def test_a_login_that_was_overtaken_by_a_new_password_gets_no_key(stage: Stage, nobody: Speaker) -> None:
    user = person(stage)
    with stage.session() as session:
        # The password is checked against what is stored, but the key is made after this transaction.
        session("update account set password_hash = 'another' where id = %s", user.user_id)
        overtaken = nobody.later("POST", "fetch_api_key", username=user.email, password=PASSWORD)
        time.sleep(0.7)
        assert not overtaken.done()
    check_error(overtaken.result(10), "AUTHENTICATION_FAILED", 401)
    assert stage.sql("select count(*) from api_key where user_id = %s", user.user_id) == [(0,)]


@pytest.mark.timed
def test_an_attempt_that_was_cut_off_counts_but_nobody_waits_for_it_after_a_minute(
    stage: Stage, nobody: Speaker
) -> None:
    user = person(stage)
    cut_off = """
    insert into login_failure (realm_id, username_key, place, is_pending, failed_at)
    select %s, %s, 'network 127.0.0.1', true, now() - interval '61 seconds' from generate_series(1, 5)
    """
    stage.sql(cut_off, stage.realm_id, user.email)
    began = time.monotonic()
    assert log_in(nobody, user).status_code == 429
    assert time.monotonic() - began < 3


async def test_the_worker_forgets_what_no_longer_counts(server: Server) -> None:
    realm = "(select id from realm where subdomain = '')"
    async with await Database.connect(server.postgres_url, shards=4, size=1) as database:
        sql = f"""
        insert into login_failure (realm_id, username_key, failed_at) values ({realm}, 'old and new', now() - $1::interval)
        """
        for age in (timedelta(days=2), timedelta(hours=25), timedelta(minutes=5)):
            await database.pool.execute(sql, age)
        await forget_old_failures(database)
        left = "delete from login_failure where username_key = 'old and new' returning now() - failed_at as age"
        [row] = await database.pool.fetch(left)
    assert row["age"] < timedelta(hours=1)


async def test_a_login_takes_eight_short_statements_and_holds_no_connection_during_the_check(server: Server) -> None:
    someone = server.members[1]
    async with await CountingDatabase.connect(server.postgres_url, shards=4, size=1) as database:
        database.statements = []
        login = PasswordLogin(database, AS_IN_TESTS)
        async with database.reader() as reader:
            realm = await find_realm(reader, "")
        assert realm is not None
        database.statements.clear()
        origin = Origin("network 192.0.2.1")
        await login.log_in(realm, someone.email, str(someone.password), origin)
        # The account; whether it knows the place; lock, count twice, write the attempt; the second factor; forget it.
        assert len(database.statements) == 8
        # With a pool of one connection, these would wait for each other for ever if one were held.
        async with asyncio.timeout(60):
            found = await asyncio.gather(
                *(login.log_in(realm, someone.email, str(someone.password), origin) for _ in range(8))
            )
        assert {entered.account.id for entered in found} == {someone.user_id}


def test_a_password_is_changed_by_who_knows_the_old_one_and_wrong_ones_count(stage: Stage, nobody: Speaker) -> None:
    user = person(stage)
    key = stage.write(lambda tx: create_api_key(tx, user.user_id))  # one that does not end with the password
    speaker = stage.speaker(User(user.user_id, user.email, None, key, MEMBER))
    new = "seven copper kettles sing"

    def change(old: str, to: str) -> httpx.Response:
        return speaker.request("PATCH", "settings", old_password=old, new_password=to)

    check_error(change("wrong", new))
    check_error(change(PASSWORD, "12345678"))
    check_success(change(PASSWORD, new))
    check_error(log_in(nobody, user), "AUTHENTICATION_FAILED", 401)
    check_success(log_in(nobody, user, new))
    for _ in range(5):
        check_error(change("wrong", PASSWORD))
    assert change(new, PASSWORD).status_code == 429
    check_success(log_in(nobody, user, new))  # who is logged in is counted apart from who logs in


@pytest.mark.slow
def test_when_too_many_log_in_at_once_the_rest_are_told_to_try_again(stage: Stage, other_web: Web) -> None:
    names = [unique("stranger").replace(" ", ".") + "@example.com" for _ in range(120)]

    async def all_at_once() -> list[httpx.Response]:
        url = f"{other_web.url}/api/v1/fetch_api_key"
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=120), timeout=110) as client:
            calls = [client.post(url, data={"username": name, "password": PASSWORD}) for name in names]
            return list(await asyncio.gather(*calls))

    answers = asyncio.run(all_at_once())
    assert {answer.status_code for answer in answers} == {401, 503}
    [code] = {answer.json()["code"] for answer in answers if answer.status_code == 503}
    assert code == "SERVER_NOT_READY"
    assert all(float(answer.headers["Retry-After"]) >= 1 for answer in answers if answer.status_code == 503)
    # What was never tried is no failure, and afterwards everything is as before.
    busy = next(name for name, answer in zip(names, answers, strict=True) if answer.status_code == 503)
    [(failures,)] = stage.sql("select count(*) from login_failure where username_key = %s", busy)
    assert failures == 0
    check_success(log_in(stage.nobody(url=other_web.url), person(stage)))
