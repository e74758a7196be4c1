"""Nobody waits for PostgreSQL without a limit: not for a connection, not for a statement, not for a commit."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

import httpx
import psycopg2
import pytest

from tertulia.kernel import db
from tertulia.kernel.db import Database, OutcomeUnknown
from tertulia.kernel.engine_failures import as_refusal
from tertulia.kernel.postgres import GRACE_SECONDS, Connector, Limits
from tests.harness.forwarder import Forwarder
from tests.harness.server import Engines, Server, is_ready
from tests.harness.stage import Stage, Web, later
from tests.harness.talk import Speaker, eventually, unique

STATEMENT_SECONDS = 3.0
MUCH_LATER = 12.0
"""What the limits of the process allow together, and what a busy machine adds."""
SHORT = {
    "postgres_connect_seconds": 1,
    "postgres_pool_seconds": 1,
    "postgres_statement_seconds": STATEMENT_SECONDS,
}
WAITING_FOR_LOCKS = "select count(*) from pg_locks where not granted and pid != pg_backend_pid()"
COUNT = "select count(*) from message where conversation_id = %s"
T = TypeVar("T")


@pytest.fixture
def way(server: Server) -> Iterator[Forwarder]:
    with Forwarder(server.postgres_url) as forwarder:
        yield forwarder


@pytest.fixture
def far_web(server: Server, way: Forwarder, folder: Path) -> Iterator[Web]:
    """A web process whose PostgreSQL can be frozen."""
    web = Web(server, folder, postgres_url=way.url, **SHORT)
    try:
        yield web.wait()
    finally:
        way.thaw()
        web.stop()


def timed(work: Callable[[], T]) -> tuple[T, float]:
    began = time.monotonic()
    return work(), time.monotonic() - began


def check_not_ready(reply: httpx.Response) -> None:
    assert (reply.status_code, reply.json()["code"]) == (503, "SERVER_NOT_READY"), reply.text
    assert int(reply.headers["retry-after"]) >= 1


def post_message(speaker: Speaker, channel_id: int, content: str) -> httpx.Response:
    """With the text as its key: a repeat is no second message."""
    fields = {"type": "channel", "to": str(channel_id), "topic": "frozen", "content": content}
    return speaker.http.post("messages", data=fields, headers={"Idempotency-Key": content})


@pytest.mark.timed
@pytest.mark.slow
def test_while_postgres_is_silent_requests_are_refused_in_time_and_after_a_promotion_they_succeed(
    stage: Stage, far_web: Web, way: Forwarder
) -> None:
    user = stage.user()
    near, far = stage.speaker(user), stage.speaker(user, url=far_web.url)
    channel = stage.channel(near)
    others = [stage.speaker(user, url=far_web.url) for _ in range(8)]
    for other in others:
        other.get("users/me")
    assert post_message(far, channel.stream_id, unique("before")).status_code == 200
    way.freeze()
    text = unique("frozen")
    sending = later(timed, lambda: post_message(far, channel.stream_id, text))
    asking = [later(timed, lambda other=other: other.request("GET", "users")) for other in others]
    ready, seconds = timed(lambda: is_ready(far_web.metrics))
    assert not ready
    assert seconds < 2.5
    for reply, seconds in [one.result(60) for one in (sending, *asking)]:
        check_not_ready(reply)
        assert seconds < MUCH_LATER
    way.serve_new()
    eventually(lambda: post_message(far, channel.stream_id, text).status_code == 200, MUCH_LATER)
    eventually(lambda: is_ready(far_web.metrics), MUCH_LATER)
    assert far.get("users/me")["user_id"] == user.user_id
    assert stage.sql(COUNT, channel.stream_id) == [(2,)], "the one before, and the other once"


@pytest.mark.timed
@pytest.mark.slow
def test_a_web_process_that_stands_still_in_a_transaction_gives_its_locks_back(
    stage: Stage, server: Server, folder: Path
) -> None:
    web = Web(server, folder, postgres_idle_transaction_seconds=2).wait()
    try:
        user = stage.user()
        here, there = stage.speaker(user), stage.speaker(user, url=web.url)
        channel = stage.channel(here)
        message_id = here.send(channel.stream_id, "still")
        with stage.session() as hold:
            hold("select from message where id = %s for update", message_id)
            editing = there.later("PATCH", f"messages/{message_id}", content="edited")
            eventually(lambda: stage.sql(WAITING_FOR_LOCKS) != [(0,)])
            os.kill(web.pid, signal.SIGSTOP)
        # The edit has its locks now, that of the channel among them, and nobody who would go on.
        _, seconds = timed(lambda: here.send(channel.stream_id, "still"))
        assert 0.5 < seconds < MUCH_LATER
        os.kill(web.pid, signal.SIGCONT)
        check_not_ready(editing.result(60))
        assert "edited" not in here.message(message_id)["content"]
        there.send(channel.stream_id, "still")
    finally:
        os.kill(web.pid, signal.SIGCONT)
        web.stop()


@pytest.mark.timed
@pytest.mark.slow
def test_a_locked_channel_stops_neither_readers_nor_other_channels_and_loses_and_doubles_nothing(
    stage: Stage, server: Server, folder: Path
) -> None:
    web = Web(server, folder, postgres_lock_seconds=1, **SHORT).wait()
    try:
        members = [stage.speaker(url=web.url) for _ in range(30)]
        other = stage.speaker(url=web.url)
        stuck, free = stage.channel(*members), stage.channel(other)
        own = [member.send(stuck.stream_id, "frozen") for member in members]
        texts = [unique("stuck") for _ in members]
        with stage.session() as hold:
            hold("select from conversation where id = %s for update", stuck.stream_id)
            sending = [
                later(timed, partial(post_message, member, stuck.stream_id, text))
                for member, text in zip(members, texts, strict=True)
            ]
            editing = [
                later(timed, partial(member.request, "PATCH", f"messages/{message_id}", content="edited"))
                for member, message_id in zip(members, own, strict=True)
            ]
            eventually(lambda: stage.sql(WAITING_FOR_LOCKS)[0][0] >= 2)
            for _ in range(5):
                assert timed(partial(other.get, "users/me"))[1] < 2
                assert timed(partial(other.send, free.stream_id, "free"))[1] < 2
            for reply, seconds in [one.result(60) for one in (*sending, *editing)]:
                check_not_ready(reply)
                assert seconds < MUCH_LATER
        eventually(lambda: stage.sql(WAITING_FOR_LOCKS) == [(0,)])
        assert stage.sql(COUNT, stuck.stream_id) == [(len(members),)], "what was refused is not stored later"
        for _ in range(2):
            for member, text in zip(members, texts, strict=True):
                assert post_message(member, stuck.stream_id, text).status_code == 200
        assert stage.sql(COUNT, stuck.stream_id) == [(2 * len(members),)]
    finally:
        web.stop()


@pytest.mark.timed
def test_who_waits_for_a_locked_channel_sends_as_soon_as_the_lock_is_gone(
    stage: Stage, server: Server, folder: Path
) -> None:
    web = Web(server, folder, postgres_lock_seconds=0.5).wait()
    try:
        member = stage.speaker(url=web.url)
        channel = stage.channel(member)
        with stage.session() as hold:
            hold("select from conversation where id = %s for update", channel.stream_id)
            sending = [later(post_message, member, channel.stream_id, unique("late")) for _ in range(5)]
            time.sleep(2)  # longer than one try takes
        assert [one.result(60).status_code for one in sending] == [200] * 5
        assert stage.sql(COUNT, channel.stream_id) == [(5,)]
    finally:
        web.stop()


async def test_a_silent_first_host_does_not_hide_the_second(server: Server, way: Forwarder) -> None:
    way.freeze()
    user, at, host = server.postgres_url.partition("://")[2].rpartition("@")
    several = f"postgresql://{user}{at}{way.host},{host}"
    began = time.monotonic()
    async with await Database.connect(several, shards=4, size=2, limits=Limits(connect=1)) as database:
        assert 1 <= time.monotonic() - began < 5
        async with database.reader() as one, database.reader() as other:
            assert await one.fetchval("select 1") == await other.fetchval("select 1")
        assert time.monotonic() - began < 5


async def test_a_connection_notices_that_the_other_end_is_gone(server: Server) -> None:
    connection = await Connector(server.postgres_url, Limits(silence=8)).connect()
    try:
        found = connection._transport.get_extra_info("socket")  # type: ignore[attr-defined]
        assert found.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert found.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 4
        assert found.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 8000
    finally:
        await connection.close()


async def test_who_finds_no_free_connection_in_time_is_told_to_try_again(server: Server) -> None:
    limits = Limits(connect=0.3, pool=0.2)
    async with await Database.connect(server.postgres_url, shards=4, size=1, limits=limits) as database:
        async with database.reader():
            with pytest.raises(TimeoutError) as refused:
                async with asyncio.timeout(5), database.reader():
                    pass
        refusal = as_refusal(refused.value)
        assert refusal is not None
        assert refusal.status == 503
        async with database.reader() as reader:
            assert await reader.fetchval("select 1") == 1


async def test_a_commit_that_waits_for_its_standby_is_not_called_committed(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancel request would end the waiting, and leave a commit that the next promotion may undo."""
    monkeypatch.setattr(db, "OUTCOME_SECONDS", 1.0)
    url, limits = engines.postgres.url_of("postgres"), Limits(pool=1, answer=GRACE_SECONDS + 0.5)
    with closing(psycopg2.connect(url)) as admin:
        admin.autocommit = True
        cursor = admin.cursor()
        cursor.execute("alter system set synchronous_standby_names = 'nobody'")
        cursor.execute("select pg_reload_conf()")
        try:
            async with await Database.connect(url, shards=4, size=2, limits=limits) as database:
                with pytest.raises(OutcomeUnknown):
                    async with database.transaction() as tx:
                        tx.emit(1, limits)
        finally:
            cursor.execute("alter system reset synchronous_standby_names")
            cursor.execute("select pg_reload_conf()")
