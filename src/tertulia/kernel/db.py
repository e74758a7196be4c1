"""PostgreSQL: the pool, transactions and their events. The only place that commits.

Invariants:
- Events emitted in a transaction are written to the WAL with it (`pg_logical_emit_message(true, ...)`), so they exist
  if and only if the change does.
- When the connection is lost while COMMIT is under way, the outcome is asked for (`pg_xact_status`), never guessed. After a
  crash the number may be somebody else's: then only what the transaction wrote proves that it was committed.
- What follows a commit (`follow_up`) is work that the transaction has written down: it may fail or never start, because
  the worker finds it there.
- Nobody waits for a connection, a statement or a commit without a limit (postgres.py).
- What one change tells has a bound, and what it costs to tell is its caller's (admission.py): the relay and every web process
  read each event, long after the request is over.
- Neither writers nor one person have all connections (shares.py): whoever only reads is answered while a row is locked.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Self, cast

import asyncpg
import msgspec
import structlog

from tertulia.kernel import audit
from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.bounds import EVENTS, Bounds, full
from tertulia.kernel.call import Call
from tertulia.kernel.form import WrongForm, check_form
from tertulia.kernel.freezing import IS_ANY_FROZEN, IS_FROZEN_AT, frozen
from tertulia.kernel.life import ASK_SECONDS, LIFE, Life
from tertulia.kernel.metrics import Durations
from tertulia.kernel.postgres import Connector, Limits, commit
from tertulia.kernel.reading import Connection as Connection
from tertulia.kernel.reading import Reader as Reader
from tertulia.kernel.sealing import NO_KEYS, Sealer
from tertulia.kernel.shares import Clock, Shares

log = structlog.get_logger()
WAITED = Durations("tertulia_postgres_wait_seconds", "How long those waited who found no free connection in the pool")

# What asyncpg raises when the connection went away under a statement.
LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the server died in the middle of an answer
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.IdleInTransactionSessionTimeoutError,  # we stood still, and the server did not wait
    OSError,
)
# What PostgreSQL says when it cannot do for now what it is asked: nothing is wrong with the request.
UNABLE = (
    asyncpg.InsufficientResourcesError,  # no room on the disk, no memory, no free connection: all of class 53
    asyncpg.ReadOnlySQLTransactionError,  # it is a standby now, or its operator made it read-only
    asyncpg.QueryCanceledError,
)
# How long an outcome is asked for: a PostgreSQL that recovers from a crash answers within this time.
OUTCOME_SECONDS = 60.0
# What a connection says or does not say, and all others of the pool would as well.
STALE = (TimeoutError, asyncpg.ReadOnlySQLTransactionError)


FEW_PEOPLE = 20
"""So many may be kept from logging in for a moment at no cost."""
ENDED_QUEUE = 200
"""What it costs that somebody's queue ends, in events: their client registers again."""
CLOSED_QUEUES = 50
"""How many end at an event that closes queues: nobody counts them."""
FREE_BYTES, BYTES_OF_EVENT = 100_000, 400
"""What the events of one request may have at no cost, and how much of the rest costs as much as one more event. They are kept for
days, and some tell all of a list when one thing in it has changed: a member could write gigabytes of them in an hour."""
LONGEST_STATEMENT = 65_536
"""Statements up to this length stay prepared: asyncpg's own limit is below that of our longest ones."""


class OutcomeUnknown(Exception):
    """The connection was lost during a commit, and PostgreSQL cannot say (in time, or for certain) what became of it."""


_EMIT = """
select pg_logical_emit_message(true, subject, pg_current_xact_id()::text || ' ' || body), pg_current_xact_id()::text
from unnest($1::text[], $2::text[]) as emitted(subject, body)
"""
_EMIT_ASKING = _EMIT.replace("\nfrom", f",\n    {IS_ANY_FROZEN}\nfrom")


class Transaction(Reader):
    """A transaction under way; `emit` says what the world will hear when it commits."""

    def __init__(
        self, connection: Connection, shards: int, bounds: Bounds, sealer: Sealer, limits: Limits | None = None
    ) -> None:
        super().__init__(connection, sealer, limits)
        self.shards = shards
        self.bounds = bounds
        self._emitted: list[tuple[str, str]] = []
        self._touched: set[int] = set()
        self._asks_freeze = False
        self._entries: list[audit.Entry] = []
        self.written: list[audit.Entry] = []
        self.follow_ups: set[str] = set()
        self._most_events: int | None = None
        self._ended = 0
        self._bytes = 0
        self._holding: Clock | None = None
        self._call: Call | None = None

    def belongs_to(self, call: Call, caller: Caller | None) -> None:
        """Whose request this is. Administrators act upon others, whose channels and bots are as many as they are."""
        self._call = call
        self._asks_freeze = not call.while_frozen
        if caller is not None and caller.role > Role.ADMINISTRATOR:
            self._most_events = self.bounds.limit(EVENTS)

    def respect_freeze(self) -> None:
        """Refuse to change a frozen organization: for work that nobody's request asks for, or one that may go on then."""
        self._asks_freeze = True

    def allow_many_events(self) -> None:
        """How many have to be told does not hang on what the caller asks for: nobody is refused for that."""
        self._most_events = None

    async def execute(self, sql: str, *arguments: object) -> str:
        """Run a statement that returns no rows."""
        began = time.perf_counter()
        try:
            return await self.connection.execute(sql, *arguments)
        finally:
            self.statements.answered(began)

    async def fetch_shaped(self, sql: str, *arguments: object, at_most: float | None = None) -> list[asyncpg.Record]:
        """As a reader's. What else a transaction takes may be its waiting for others; this is its caller's."""
        clock = Clock()
        try:
            return await super().fetch_shaped(sql, *arguments, at_most=at_most)
        finally:
            if self._call is not None:
                clock.charge(self._call)

    def holds_others_back(self) -> None:
        """From now on others wait for this transaction, whatever they do: the time until it ends is its caller's."""
        if self._holding is None and self._call is not None:
            self._holding = Clock()

    def settle(self) -> None:
        """It has ended."""
        if self._holding is not None and self._call is not None:
            self._holding.charge(self._call)

    def emit(self, realm_id: int, record: msgspec.Struct) -> None:
        """Append an event to the realm's log, in this transaction. Written in one statement before the commit.

        A Refusal if an ordinary caller makes too many in one request.
        """
        if self._most_events is not None and len(self._emitted) >= self._most_events:
            raise full(EVENTS, self._most_events)
        self._ended += len(getattr(record, "ends", ())) + CLOSED_QUEUES * getattr(record, "closes", False)
        self._touched.add(realm_id)
        body = msgspec.json.encode(record)
        self._bytes += len(body)
        self._emitted.append((subject_of(realm_id, self.shards), body.decode()))

    def note(self, entry: audit.Entry) -> None:
        """Add an entry to the audit log, in this transaction. Written in one statement right before the commit."""
        self._entries.append(entry)

    def follow_up(self, work: str) -> None:
        """After the commit, and before the reply, do the work registered under this name."""
        self.follow_ups.add(work)

    async def flush(self) -> str | None:
        """Write the noted entries and the emitted events; returns the transaction's id, if there were any.

        A Refusal if a request would change a frozen organization.
        """
        noted: str | None = None
        if self._entries:
            entries, self._entries = self._entries, []
            noted = await self.fetchval(audit.WRITE, audit.encode(entries))
            self.written += entries
        if not self._emitted:
            await self._check_freeze()
            return noted
        subjects, bodies = zip(*self._emitted, strict=True)
        self._emitted = []
        if self._call is not None:
            self._call.events += len(bodies) + ENDED_QUEUE * self._ended
            self._call.events += max(0, self._bytes - FREE_BYTES) // BYTES_OF_EVENT
            self._ended = self._bytes = 0
        # All rows are fetched: asking for the first alone would run the statement, and so the emitting, only that far.
        asked = (
            (_EMIT_ASKING, subjects, bodies, sorted(self._touched)) if self._asks_freeze else (_EMIT, subjects, bodies)
        )
        rows = await self.fetch(*asked)
        if self._asks_freeze and rows[0][2]:
            raise frozen()
        xid: str = rows[0][1]
        return xid

    async def _check_freeze(self) -> None:
        """For changes that tell nobody: where events are emitted, that statement asks."""
        if not self._asks_freeze or self._call is None:
            return
        caller = self._call.caller
        realm_id = None if caller is None else caller.realm_id
        if await self.fetchval(IS_FROZEN_AT, realm_id, None if caller else self._call.subdomain):
            raise frozen()


def subject_of(realm_id: int, shards: int) -> str:
    """The subject of a realm's events: one per realm, on the realm's shard."""
    return f"ev.{realm_id % shards}.{realm_id}"


async def _leave_as_it_is(_connection: Any) -> None:
    """Nothing in a session outlives its transaction here, so cleaning it would be a round trip for nothing.

    asyncpg rolls back an open transaction before this is called.
    """


class Database:
    """The pool of one process."""

    def __init__(
        self,
        pool: "asyncpg.Pool[asyncpg.Record]",
        connector: Connector,
        limits: Limits,
        life: Life,
        shares: Shares,
        *,
        shards: int,
        bounds: Bounds,
        sealer: Sealer,
    ) -> None:
        self.pool = pool
        self.shares = shares
        self.limits = limits
        self.shards = shards
        self.bounds = bounds
        self.sealer = sealer
        self.after_commit: dict[str, Callable[[], Awaitable[object]]] = {}
        """By name: what `Transaction.follow_up` asks for."""
        self._connector = connector
        self._life = life
        self.lent = 0
        """How many connections are taken, or waited for."""
        self.acquire_seconds = None if limits.pool is None else limits.pool + connector.most_seconds

    @classmethod
    async def connect(
        cls,
        url: str,
        *,
        shards: int,
        size: int = 10,
        bounds: Bounds | None = None,
        sealer: Sealer = NO_KEYS,
        limits: Limits | None = None,
        shared: bool = False,
        checked: bool = False,
    ) -> Self:
        """Open a pool; fails if PostgreSQL cannot be reached. `shared`: nobody's requests take all of it. `checked`: fails as
        well if the database is for another version of this program (form.py)."""
        limits = limits or Limits()
        connector, life = Connector(url, limits), Life()
        pool = await asyncpg.create_pool(
            connect=cast("Any", connector.connect),
            min_size=1,
            max_size=size,
            server_settings=limits.session_settings(),
            command_timeout=limits.answer,
            max_cacheable_statement_size=LONGEST_STATEMENT,
            init=life.note,
            reset=_leave_as_it_is,
        )
        if checked:
            try:
                async with pool.acquire() as connection:
                    await check_form(connection)
            except BaseException:
                pool.terminate()
                raise
        bounds = Bounds() if bounds is None else bounds
        shares = Shares(size, limits, of_persons=shared)
        return cls(pool, connector, limits, life, shares, shards=shards, bounds=bounds, sealer=sealer)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the pool; waits a moment for statements under way."""
        try:
            await asyncio.wait_for(self.pool.close(), 5)
        except TimeoutError:
            self.pool.terminate()

    def connection(self) -> "_Lent":
        """A connection of the pool, as a context."""
        return _Lent(self)

    def writing_connection(self) -> "_Lent":
        """A connection of the pool for a transaction that takes locks, as a context."""
        return _Lent(self, writes=True)

    async def own_connection(self, *, answer: float, **server_settings: str) -> "asyncpg.Connection[asyncpg.Record]":
        """A connection outside the pool, for whoever keeps it and closes it. `answer`: the limit of its statements."""
        settings = self.limits.session_settings() | server_settings
        return await self._connector.connect(server_settings=settings, command_timeout=answer)

    async def missing(self, seconds: float) -> str | None:
        """What this process waits for: an answer of PostgreSQL within that time, or one that is for this version; None: for
        nothing. What is left of a question without an answer ends by itself."""

        async def ask() -> None:
            async with self.pool.acquire(timeout=seconds) as connection:
                await check_form(connection)

        asking = asyncio.create_task(ask())
        done, _ = await asyncio.wait({asking}, timeout=seconds)
        asking.add_done_callback(lambda asked: asked.cancelled() or asked.exception())
        problem = asking.exception() if done else TimeoutError()
        if isinstance(problem, WrongForm):
            return f"a database of its version: {problem}"
        return None if problem is None else "PostgreSQL"

    def reader(self) -> AbstractAsyncContextManager[Reader]:
        """A connection for reads that need no common snapshot, as a context."""
        return _Reading(self)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Reader]:
        """Reads that all see the database at one moment."""
        async with self.connection() as connection:
            transaction = connection.transaction(isolation="repeatable_read", readonly=True)
            reader = Reader(connection, self.sealer, self.limits)
            await reader.counted("begin", transaction.start())
            try:
                yield reader
            except BaseException as error:
                await _roll_back(transaction, error)
                raise
            await reader.counted("commit", transaction.commit())

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """A read-write transaction: committed on leaving, rolled back on any exception."""
        async with self.writing_connection() as connection:
            transaction = connection.transaction()
            tx = Transaction(connection, self.shards, self.bounds, self.sealer, self.limits)
            await tx.counted("begin", transaction.start())
            if request := audit.request_now():
                tx.belongs_to(*request)
            life = self._life.since
            try:
                try:
                    yield tx
                    xid = await tx.flush()
                except BaseException as error:
                    await _roll_back(transaction, error)
                    raise
                await tx.counted("commit", self._commit(connection, transaction, xid, life))
            finally:
                tx.settle()
        audit.tell(tx.written)
        for work in sorted(tx.follow_ups & self.after_commit.keys()):
            try:
                await self.after_commit[work]()
            except Exception:
                # The transaction is committed, and its caller must hear that it is.
                log.exception("left to the worker", work=work)

    async def _commit(
        self,
        connection: Connection,
        transaction: "asyncpg.transaction.Transaction",
        xid: str | None,
        life: datetime | None,
    ) -> None:
        try:
            await commit(connection, transaction, self.limits.commit)
        except LOST:
            if xid is None or not await self.committed(xid, life=life):
                raise

    async def committed(
        self, xid: str, proof: tuple[str, *tuple[object, ...]] | None = None, *, life: datetime | None = None
    ) -> bool:
        """Whether the transaction committed, asked until PostgreSQL can tell (it may be recovering from a crash).

        A crash may give the number of a lost transaction to another one. `proof`, a query and its arguments, tells them
        apart: it answers true if what the transaction did is there. Who has no proof says in which life of PostgreSQL it was:
        if that is over, a number that is committed proves nothing.
        """
        deadline = asyncio.get_running_loop().time() + OUTCOME_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            try:
                async with self.connection() as connection:
                    sql = "select pg_xact_status($1::text::xid8)"
                    status = await connection.fetchval(sql, xid, timeout=ASK_SECONDS)
                    if status == "committed" and proof is not None and not await connection.fetchval(*proof):
                        status = "aborted"
                    if status == "committed" and life is not None and life != await connection.fetchval(LIFE):
                        raise OutcomeUnknown(xid)
            except asyncpg.InvalidParameterValueError:
                status = "aborted"  # the number is not in use yet: whoever had it was lost
            except LOST:
                status = "unknown"
            if status in ("committed", "aborted"):
                log.warning("outcome asked after a lost connection", xid=xid, status=status)
                return bool(status == "committed")
            await asyncio.sleep(0.1)
        raise OutcomeUnknown(xid)


class _Lent:
    """A connection, while somebody has it.

    If it fell silent, or its server has become a standby, so have those of the others: all are opened anew. It is dropped and
    not given back, because that would wait for an answer.
    """

    __slots__ = ("_connection", "_database", "_share", "_writes")

    def __init__(self, database: Database, *, writes: bool = False) -> None:
        self._database = database
        self._writes = writes

    async def __aenter__(self) -> Connection:
        database = self._database
        self._share = await database.shares.take(writes=self._writes)
        # A limit costs a task for each acquiring: only who may have to wait has one. Opening a connection has its own.
        seconds = None if database.lent < database.pool.get_max_size() else database.acquire_seconds
        database.lent += 1
        began = 0.0 if seconds is None else time.monotonic()
        try:
            self._connection = await database.pool.acquire(timeout=seconds)
        except BaseException:
            database.lent -= 1
            database.shares.give_back(self._share)
            raise
        if began:
            WAITED.observe(time.monotonic() - began)
        database.shares.begin(self._share)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if isinstance(error, STALE):
                self._connection.terminate()
                await self._database.pool.expire_connections()
            await self._database.pool.release(self._connection)
        finally:
            self._database.lent -= 1
            self._database.shares.give_back(self._share)


class _Reading:
    """A reader, while somebody has it."""

    __slots__ = ("_database", "_lent")

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lent = _Lent(database)

    async def __aenter__(self) -> Reader:
        return Reader(await self._lent.__aenter__(), self._database.sealer, self._database.limits)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._lent.__aexit__(kind, error, trace)


async def _roll_back(transaction: "asyncpg.transaction.Transaction", error: BaseException) -> None:
    if isinstance(error, STALE):
        return  # the connection will be dropped, and the server rolls back by itself
    try:
        await transaction.rollback()
    except LOST:
        log.debug("connection lost before the rollback: the server rolls back by itself")


def is_bad_value(error: BaseException) -> bool:
    """Whether asyncpg could not even send a value: it says so by an InterfaceError that is a ValueError too."""
    return isinstance(error, asyncpg.InterfaceError) and isinstance(error, ValueError)
