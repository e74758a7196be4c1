"""A stage for tests that look inside: people and channels of their own, the database, and more web processes.

Everything here works on the engines of a running server (`Server`), beside its own processes.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import psycopg2

from tertulia.conversations.channels.actions import create_channel, subscribe, unsubscribe
from tertulia.engines import free_port
from tertulia.kernel.auth import Role
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.actions import create_realm
from tertulia.people.users.actions import create_api_key, create_user
from tests.harness.forking import Forked
from tests.harness.server import MAIL_IN, PATIENT, Channel, OwnServer, Server, User, is_ready
from tests.harness.talk import Speaker, eventually, unique

T = TypeVar("T")
_background = ThreadPoolExecutor(64, thread_name_prefix="stage")


class Backstage:
    """Writes what only the server's own code can write. One connection for all tests. Close it."""

    def __init__(self, server: Server) -> None:
        self._runner = asyncio.Runner()
        self._database = self._runner.run(Database.connect(server.postgres_url, shards=Settings().shards, size=1))

    def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Do something of the server's own in a transaction, with its events."""

        async def run() -> T:
            async with self._database.transaction() as tx:
                return await work(tx)

        return self._runner.run(run())

    def close(self) -> None:
        self._runner.run(self._database.close())
        self._runner.close()


class Stage:
    """Makes what a test needs, and closes its connections."""

    def __init__(self, server: Server, backstage: Backstage) -> None:
        self.server = server
        self.write = backstage.write
        self._speakers: list[Speaker] = []

    def close(self) -> None:
        for speaker in self._speakers:
            speaker.http.close()
        if "_connection" in self.__dict__:
            self._connection.close()

    # People and channels

    def realm(self) -> tuple[int, str]:
        """A new organization: its id and its subdomain."""
        realm_id, subdomain, _ = self.realm_with()
        return realm_id, subdomain

    def realm_with(self, *roles: int) -> tuple[int, str, list[User]]:
        """A new organization with a new account of each of these roles, in one transaction."""
        subdomain = unique("realm").replace(" ", "-")

        async def make(tx: Transaction) -> tuple[int, list[User]]:
            realm_id = await create_realm(tx, subdomain, "Elsewhere")
            return realm_id, [await _new_user(tx, realm_id, role) for role in roles]

        realm_id, users = self.write(make)
        return realm_id, subdomain, users

    def user(self, role: int = Role.MEMBER, *, realm_id: int | None = None, bot_type: int | None = None) -> User:
        """A new account."""
        realm = self.realm_id if realm_id is None else realm_id
        return self.write(lambda tx: _new_user(tx, realm, role, bot_type))

    def speaker(
        self,
        user: User | int | None = None,
        *,
        url: str | None = None,
        host: str | None = None,
    ) -> Speaker:
        """Somebody new (of that role), or that user, at the server or at another of its processes."""
        if not isinstance(user, User):
            user = self.user(Role.MEMBER if user is None else user)
        speaker = Speaker(self.server, user, url=url, host=host)
        self._speakers.append(speaker)
        return speaker

    def nobody(self, *, url: str | None = None, host: str | None = None) -> Speaker:
        """A connection without credentials."""
        speaker = Speaker(self.server, None, url=url, host=host)
        self._speakers.append(speaker)
        return speaker

    def channel(self, *inside: Speaker, invite_only: bool = False, realm_id: int | None = None) -> Channel:
        """A new channel with these subscribers."""
        realm = self.realm_id if realm_id is None else realm_id
        name = unique("channel")

        async def make(tx: Transaction) -> int:
            channel_id = await create_channel(tx, realm, name, invite_only=invite_only)
            await subscribe(tx, realm, [channel_id], [speaker.id for speaker in inside])
            return channel_id

        return Channel(self.write(make), name)

    def remove(self, channel: Channel, speaker: Speaker) -> None:
        """Unsubscribe somebody."""
        self.write(lambda tx: unsubscribe(tx, self.realm_id, [channel.stream_id], [speaker.id]))

    def add(self, channel: Channel, *people: Speaker) -> None:
        """Subscribe somebody."""
        self.write(lambda tx: subscribe(tx, self.realm_id, [channel.stream_id], [speaker.id for speaker in people]))

    @cached_property
    def realm_id(self) -> int:
        """The demo organization."""
        [(found,)] = self.sql("select id from realm where subdomain = ''")
        return int(found)

    # The database

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """One statement in a transaction of its own."""
        if threading.current_thread() is not threading.main_thread():
            with self.session() as execute:  # it may have to wait, and nobody else should for it
                return execute(statement, *values)
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    @cached_property
    def _connection(self) -> "psycopg2.extensions.connection":
        connection = psycopg2.connect(self.server.postgres_url)
        connection.autocommit = True
        return connection

    @contextmanager
    def session(self) -> Iterator[Callable[..., list[tuple[Any, ...]]]]:
        """A transaction by hand: committed on leaving, rolled back by an exception."""
        connection = psycopg2.connect(self.server.postgres_url)
        try:
            with connection, connection.cursor() as cursor:

                def execute(statement: str, *values: object) -> list[tuple[Any, ...]]:
                    cursor.execute(statement, values)
                    return cursor.fetchall() if cursor.description else []

                yield execute
        finally:
            connection.close()


def holds_up(execute: Callable[..., list[tuple[Any, ...]]]) -> bool:
    """Whether somebody waits for a lock of this session."""
    waiting = "select 1 from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))"
    execute("select pg_stat_clear_snapshot()")
    return bool(execute(waiting))


async def _new_user(tx: Transaction, realm_id: int, role: int, bot_type: int | None = None) -> User:
    email = unique("user").replace(" ", ".") + "@example.com"
    user_id = await create_user(tx, realm_id, email, "Somebody New", role, bot_type=bot_type)
    return User(user_id, email, None, await create_api_key(tx, user_id), role)


def later(work: Callable[..., T], *arguments: Any, **named: Any) -> "Future[T]":
    """Do it in the background."""
    return _background.submit(work, *arguments, **named)


def at_once(works: Sequence[Callable[[], T]]) -> list[T]:
    """Do all of it at the same time."""
    return [done.result(60) for done in [later(work) for work in works]]


class Web:
    """One more web process on the engines of a running server."""

    def __init__(self, server: Server, folder: Path, **settings: object) -> None:
        port, metrics = free_port(), free_port()
        self.url = f"http://localhost:{port}"
        self.metrics = f"http://127.0.0.1:{metrics}"
        engines = {"postgres_url": server.postgres_url, "nats_url": server.nats_url}
        if isinstance(server, OwnServer):
            engines["storage_folder"] = str(server.files)
            engines["sealing_key_file"] = str(server.sealing_keys)
        asked = {
            **engines,
            "port": port,
            "metrics_port": metrics,
            "pool_size": 5,
            "development": "true",
            "mail_folder": folder / "mail",
            "mail_in_address": MAIL_IN,
            **PATIENT,
            **settings,
        }
        env = os.environ | {f"TERTULIA_{name.upper()}": str(value) for name, value in asked.items()}
        self._log = folder / f"web-{port}.log"
        self._process = Forked(["web"], self._log, env=env)
        self._process.start()

    def wait(self) -> "Web":
        """Until it is ready."""
        eventually(lambda: is_ready(self.metrics) or not self._process.is_alive(), 90)
        assert self._process.is_alive(), "the web process ended"
        return self

    @property
    def pid(self) -> int:
        return self._process.pid

    def log(self) -> str:
        return self._log.read_text()

    def kill(self) -> None:
        """kill -9."""
        self._process.stop(signal.SIGKILL, 10)

    def stop(self) -> None:
        """In order."""
        self._process.stop(signal.SIGTERM, 20)
