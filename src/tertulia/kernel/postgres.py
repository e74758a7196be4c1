"""How PostgreSQL is reached: host by host, and never waited for without a limit.

- Each host of the address has the connect limit for itself: asyncpg's own covers all of them together, so a first host that
  is silent would hide a healthy second one.
- The server ends statements that take too long. The client has a limit as well, a little longer, for a server that does
  not even say so.
- A host that vanishes says nothing at all: the kernel is told to give up on it (keepalives, TCP_USER_TIMEOUT).
- COMMIT is never cancelled: a cancelled one no longer waits for its synchronous standby, and would look committed.
"""

import asyncio
import socket
from typing import Any, TypeAlias

import asyncpg
import msgspec
import psycopg2

from tertulia.kernel.engine_addresses import single_host_urls
from tertulia.kernel.form import application_name
from tertulia.kernel.settings import Settings

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record]"
GRACE_SECONDS = 2.0
"""How much later than the server the client gives up."""
WORK_IDLE_SECONDS = 300.0
"""The worker talks to mail servers and object stores inside transactions. None of these talks takes longer than this."""
PENDING_WORDS = "256kB"
"""Words of new texts wait in a list of the index, and the statement that finds it full sorts them in, while all senders of a
process may wait for it. Of PostgreSQL's 4 MB that takes seconds, and somebody who makes up words fills it with a hundred texts
(docs/decisions/0183). Whoever adds to the list keeps it short: one session that did not would leave it to the senders."""
PROBES = 3
"""So many keepalives without an answer end a connection."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How long PostgreSQL may keep us waiting, in seconds. The defaults are those of commands, which nobody waits for with a
    request: they have as long as it takes."""

    connect: float = 5.0
    """At each host."""
    pool: float | None = None
    """For a free connection, besides the time to open one; None: for ever."""
    statement: float = 30.0
    """On the server."""
    answer: float | None = None
    """For the answer to a statement; None: for ever."""
    shaped: float | None = None
    """For the answer to a statement that its caller has put together, such as a narrow; None: as for others."""
    lock: float = 0.0
    """For a lock that somebody else holds; 0: as long as the statement may take."""
    idle_transaction: float = 0.0
    """How long PostgreSQL keeps a transaction open, with its locks, for a process that is silent; 0: for ever."""
    silence: float = 6.0
    """For any sign of life of the other end's TCP."""
    process: str = ""
    """Who asks, as PostgreSQL lists its connections."""

    @property
    def commit(self) -> float | None:
        """For a commit; None: for ever. Shorter than `answer`, whose end would cancel it."""
        return None if self.answer is None else self.answer - GRACE_SECONDS

    def session_settings(self) -> dict[str, str]:
        """Settings of every session of ours. They travel with the greeting, so they cost nothing."""
        return {
            "application_name": application_name(self.process),
            "statement_timeout": _milliseconds(self.statement),
            "lock_timeout": _milliseconds(self.lock),
            "idle_in_transaction_session_timeout": _milliseconds(self.idle_transaction),
            "timezone": "UTC",
            "jit": "off",
            "gin_pending_list_limit": PENDING_WORDS,
            "random_page_cost": "1.1",  # of solid-state disks: with PostgreSQL's 4 a feed reads whole tables
        }


def request_limits(settings: Settings) -> Limits:
    """Of a web process: somebody waits for each answer."""
    return Limits(
        connect=settings.postgres_connect_seconds,
        pool=settings.postgres_pool_seconds,
        statement=settings.postgres_statement_seconds,
        answer=settings.postgres_statement_seconds + GRACE_SECONDS,
        shaped=settings.postgres_narrow_seconds,
        lock=settings.postgres_lock_seconds,
        idle_transaction=settings.postgres_idle_transaction_seconds,
        silence=settings.postgres_silence_seconds,
        process="web",
    )


def work_limits(settings: Settings, process: str = "") -> Limits:
    """Of the worker and the relay: nobody waits, and what they do at once may be much."""
    return Limits(
        connect=settings.postgres_connect_seconds,
        statement=settings.postgres_work_seconds,
        answer=settings.postgres_work_seconds + GRACE_SECONDS,
        idle_transaction=WORK_IDLE_SECONDS,
        silence=settings.postgres_silence_seconds,
        process=process,
    )


class Connector:
    """Opens connections to a PostgreSQL that may be at one of several hosts."""

    def __init__(self, url: str, limits: Limits) -> None:
        self._urls = single_host_urls(url)
        self._limits = limits

    @property
    def most_seconds(self) -> float:
        """How long it may take to open a connection."""
        return self._limits.connect * len(self._urls)

    async def connect(self, _url: str | None = None, **options: Any) -> Connection:
        """A new connection. Takes what `asyncpg.connect` takes; a pool gives its own address, which is ours already."""
        failed: Exception | None = None
        for url in tuple(self._urls):
            try:
                connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(
                    url, timeout=self._limits.connect, **options
                )
            except (OSError, asyncpg.CannotConnectNowError, asyncpg.TargetServerAttributeNotMatched) as error:
                failed = failed or error
                continue
            # The next connection begins where this one was found, and does not wait for those that are away.
            self._urls.remove(url)
            self._urls.insert(0, url)
            watch_silence(connection, self._limits.silence)
            return connection
        raise failed or OSError("the address of PostgreSQL names no host")


def connect_libpq(url: str, **options: Any) -> Any:
    """A new connection of psycopg2, for what asyncpg cannot do. PostgreSQL's own library goes on to the next host if nobody
    listens or answers, but not if the connection is taken and closed, as a balancer does in front of a dead server."""
    *others, last = single_host_urls(url)
    for one in others:
        try:
            return psycopg2.connect(one, **options)
        except psycopg2.OperationalError:
            continue
    return psycopg2.connect(last, **options)


def watch_silence(connection: Connection, seconds: float) -> None:
    """Let the kernel end a connection whose other end is gone without a word: asyncpg sets nothing of the kind."""
    found = connection._transport.get_extra_info("socket")  # type: ignore[attr-defined]
    if found.family == socket.AF_UNIX:
        return
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _tcp_options(seconds).items():
        if hasattr(socket, name):
            found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _tcp_options(seconds: float) -> dict[str, int]:
    idle, interval = _keepalive(seconds)
    return {
        "TCP_KEEPIDLE": idle,
        "TCP_KEEPINTVL": interval,
        "TCP_KEEPCNT": PROBES,
        "TCP_USER_TIMEOUT": int(seconds * 1000),
    }


def libpq_options(seconds: float) -> dict[str, Any]:
    """The same for connections of psycopg2."""
    idle, interval = _keepalive(seconds)
    return {
        "keepalives": 1,
        "keepalives_idle": idle,
        "keepalives_interval": interval,
        "keepalives_count": PROBES,
        "tcp_user_timeout": int(seconds * 1000),
    }


def _keepalive(seconds: float) -> tuple[int, int]:
    """When an idle connection is first probed, and how often then: half of the time each, in whole seconds."""
    return max(1, int(seconds / 2)), max(1, int(seconds / 2 / PROBES))


async def commit(
    connection: "Connection | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]",
    transaction: "asyncpg.transaction.Transaction",
    seconds: float | None,
) -> None:
    """Commit. After so many seconds the connection is dropped, and whoever asks must ask for the outcome on another one.

    asyncpg's own limit would send a cancel request. PostgreSQL would then stop waiting for its synchronous standby, and the
    outcome would be `committed` although the next promotion may undo it.
    """
    if seconds is None:
        await transaction.commit()
        return
    timer = asyncio.get_running_loop().call_later(seconds, connection.terminate)
    try:
        await transaction.commit()
    finally:
        timer.cancel()


def _milliseconds(seconds: float) -> str:
    return f"{int(seconds * 1000)}ms"
