"""API keys that end by themselves, where the operator says so."""

import asyncio

import httpx
import pytest

from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.people.logins.old_keys import end_keys_by_age
from tertulia.people.users.actions import create_api_key
from tertulia.people.users.model import KeyOrigin
from tests.harness.server import Server
from tests.harness.stage import Stage, later
from tests.harness.talk import Speaker, check_error, check_success


def end_old(server: Server, **settings: int) -> int:
    async def run() -> int:
        async with await Database.connect(server.postgres_url, shards=4, size=1) as database:
            return await end_keys_by_age(database, Settings(**settings))  # type: ignore[arg-type]

    return asyncio.run(run())


def key_of(stage: Stage, speaker: Speaker, origin: KeyOrigin, *, made: int, used: int | None = None) -> str:
    """A key that was made, and used last, so many days ago."""
    key = stage.write(lambda tx: create_api_key(tx, speaker.id, "old", origin))
    sql = """
    update api_key set created = now() - make_interval(days => %s), last_used = now() - make_interval(days => %s)
    where id = (select max(id) from api_key where user_id = %s)
    """
    stage.sql(sql, made, used, speaker.id)
    return key


def using(speaker: Speaker, key: str) -> httpx.Response:
    return speaker.http.get("users/me", auth=(speaker.email, key))


def test_a_key_that_nobody_uses_ends_if_the_operator_says_so(stage: Stage, server: Server) -> None:
    speaker = stage.speaker()
    fresh = key_of(stage, speaker, KeyOrigin.SESSION, made=400, used=10)
    young = key_of(stage, speaker, KeyOrigin.SESSION, made=10)
    idle = key_of(stage, speaker, KeyOrigin.SESSION, made=400, used=91)
    never = key_of(stage, speaker, KeyOrigin.OWNER, made=91)
    assert end_old(server) == 0
    assert end_old(server, app_key_max_days=90) == 0
    assert end_old(server, api_key_idle_days=90) == 2
    for key in (idle, never):
        check_error(using(speaker, key), "UNAUTHORIZED", 401)
    for key in (fresh, young):
        check_success(using(speaker, key))
    speaker.get("users/me")


@pytest.mark.parametrize("origin", list(KeyOrigin))
def test_the_log_in_of_an_app_ends_by_age_and_a_key_for_a_program_does_not(
    stage: Stage, server: Server, origin: KeyOrigin
) -> None:
    speaker = stage.speaker()
    old = key_of(stage, speaker, origin, made=31, used=0)
    young = key_of(stage, speaker, origin, made=29, used=0)
    is_login = origin in (KeyOrigin.PASSWORD, KeyOrigin.PROVIDER)
    assert end_old(server, app_key_max_days=30) == int(is_login)
    assert using(speaker, old).status_code == (401 if is_login else 200)
    check_success(using(speaker, young))


def test_a_poll_that_waits_with_such_a_key_learns_of_its_end(stage: Stage, server: Server) -> None:
    speaker = stage.speaker()
    key = key_of(stage, speaker, KeyOrigin.PASSWORD, made=31)
    auth = (speaker.email, key)
    queue = check_success(speaker.http.post("register", data={"event_types": '["message"]'}, auth=auth))
    asked = {"queue_id": queue["queue_id"], "last_event_id": str(queue["last_event_id"])}
    waiting = later(speaker.http.get, "events", params=asked, auth=auth)
    assert end_old(server, app_key_max_days=30) == 1
    assert waiting.result(30).status_code == 401
