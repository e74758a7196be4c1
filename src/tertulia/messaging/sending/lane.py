"""The group commit: sends of one process share transactions.

While one batch is being written the next one fills; there is no timer. A lane has a connection of its own.

- The fast lane skips conversations that are locked by somebody else, so that one stuck conversation does not block all.
- Nor does it wait long for any other lock, such as that of an account that will follow the topic: after a timeout it leaves
  its whole batch.
- What the fast lane skips or leaves goes to waiting lanes, one for each conversation. Later messages to that conversation go
  there too until the lane is empty: inside a conversation the order of arrival is kept.
- After a definite error the rows of a batch are tried one by one, so that a bad row answers only its own sender. After
  a lost connection the outcome is asked for: committed rows are answered, the others are tried again.
- Nobody waits for ever: a message that is not stored in time leaves the lane, and its sender is told whether it may have been
  stored all the same.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
import structlog
from prometheus_client import Counter

from tertulia.kernel.audit import forget_request
from tertulia.kernel.db import LOST, STALE, UNABLE, Connection, Database, OutcomeUnknown, Transaction, is_bad_value
from tertulia.kernel.freezing import frozen
from tertulia.kernel.postgres import GRACE_SECONDS, commit
from tertulia.kernel.statements import count_anew, statements_now
from tertulia.messaging.sending.model import Outgoing, Sent
from tertulia.messaging.sending.storing import Stored, Storing, Unsent

log = structlog.get_logger()
SENT = Counter("tertulia_messages_sent", "Messages stored, by whomever they were sent")

MAX_BATCH = 200
MAX_WAITING_LANES = 4
RETRY_SECONDS = 0.2
FAST_LOCK_TIMEOUT = "200ms"

_OVERTAKEN = (asyncpg.UniqueViolationError, asyncpg.ForeignKeyViolationError)


class _SenderLeft(Exception):
    """A sender of the batch was told that nothing was stored: it must stay true."""


class Ticket:
    """A message in a lane, and the future of its answer: None if the rules refuse it."""

    __slots__ = ("answer", "is_being_committed", "outgoing", "statements")

    def __init__(self, outgoing: Outgoing) -> None:
        self.outgoing = outgoing
        self.answer: asyncio.Future[Sent | None] = asyncio.get_running_loop().create_future()
        self.is_being_committed = False
        self.statements = statements_now()

    async def wait(self, seconds: float) -> Sent | None:
        """The answer. If none comes in time the message will not be stored, unless it is being committed by then."""
        try:
            async with asyncio.timeout(seconds):
                return await self.answer
        except TimeoutError as error:
            if self.is_being_committed:
                raise OutcomeUnknown("a message is still being stored") from error
            raise

    def settle(self, sent: Sent | None) -> None:
        if not self.answer.done():
            self.answer.set_result(sent)

    def fail(self, error: BaseException) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)
            self.answer.exception()  # its sender may have gone away: never warn about an unread exception


class SendLane:
    """Writes messages. `send` answers after the commit."""

    def __init__(self, database: Database, storing: Storing) -> None:
        self._database = database
        self._storing = storing
        self._patience = database.limits.statement
        # A connection that does not answer is given up so early that there is time for a second try.
        self._commit_seconds = self._patience / 2
        self._fast: list[Ticket] = []
        self._waiting: defaultdict[int, list[Ticket]] = defaultdict(list)
        self._waiting_slots = asyncio.Semaphore(MAX_WAITING_LANES)
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = False
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None

    async def send(self, outgoing: Outgoing) -> Sent | None:
        """Store a message; None if the sender may not send it there (any more)."""
        ticket = Ticket(outgoing)
        if outgoing.conversation_id in self._waiting:
            self._waiting[outgoing.conversation_id].append(ticket)
        else:
            self._fast.append(ticket)
            if not self._running:
                self._running = True
                self._start(self._run_fast())
        return await ticket.wait(self._patience)

    async def close(self) -> None:
        """Finish what is under way and close the lane's connection."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        if self._connection is not None:
            await self._connection.close(timeout=2)

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(_for_many(coroutine))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run_fast(self) -> None:
        try:
            while self._fast:
                batch, self._fast = self._fast[:MAX_BATCH], self._fast[MAX_BATCH:]
                left = await self._write_and_answer(batch, wait=False)
                self._hand_over(left)
        finally:
            self._running = False

    def _hand_over(self, left: Sequence[Ticket]) -> None:
        """Move what the fast lane left behind, and whatever follows it there, to waiting lanes."""
        if not left:
            return
        held = {ticket.outgoing.conversation_id for ticket in left}
        behind = [ticket for ticket in self._fast if ticket.outgoing.conversation_id in held]
        self._fast = [ticket for ticket in self._fast if ticket.outgoing.conversation_id not in held]
        for ticket in (*left, *behind):
            self._waiting[ticket.outgoing.conversation_id].append(ticket)
        for conversation_id in held:
            self._start(self._run_waiting(conversation_id))

    async def _run_waiting(self, conversation_id: int) -> None:
        async with self._waiting_slots:
            while batch := self._waiting[conversation_id][:MAX_BATCH]:
                del self._waiting[conversation_id][: len(batch)]
                await self._write_and_answer(batch, wait=True)
            del self._waiting[conversation_id]

    async def _write_and_answer(self, batch: list[Ticket], *, wait: bool, again: bool = True) -> list[Ticket]:
        """Write a batch and answer its tickets, whatever happens; returns those whose conversation is locked by others."""
        try:
            return await self._write_with_retries(batch, wait=wait)
        except Exception as error:
            is_definite = isinstance(error, asyncpg.PostgresError) and not isinstance(error, UNABLE)
            if not is_definite and not is_bad_value(error):
                for ticket in batch:
                    ticket.fail(error)
                return []
            if not wait and isinstance(error, asyncpg.LockNotAvailableError):
                log.info("a lock is not to be had soon: the batch goes to waiting lanes", rows=len(batch))
                return batch
            if len(batch) == 1 and again and isinstance(error, _OVERTAKEN):
                # The same key was used at the same moment for another conversation: that message is the answer now.
                # Or a file that it links was just deleted: then it is to be judged again.
                return await self._write_and_answer(batch, wait=wait, again=False)
            if len(batch) == 1:
                log.error("a message could not be stored", error=repr(error))
                batch[0].fail(error)
                return []
            log.warning("a batch failed, its rows are tried alone", rows=len(batch), error=repr(error))
            return await self._write_one_by_one(batch, wait=wait)

    async def _write_one_by_one(self, batch: list[Ticket], *, wait: bool) -> list[Ticket]:
        left: list[Ticket] = []
        for ticket in batch:
            if any(ticket.outgoing.conversation_id == other.outgoing.conversation_id for other in left):
                left.append(ticket)  # behind one of the same conversation that has to wait
            else:
                left += await self._write_and_answer([ticket], wait=wait)
        return left

    async def _write_with_retries(self, batch: list[Ticket], *, wait: bool) -> list[Ticket]:
        """Write a batch, with retries after lost connections, but only when it is known not to be stored.

        Senders who have waited too long are gone: the retries end when nobody is left.
        """
        while asked := [ticket for ticket in batch if not ticket.answer.done()]:
            try:
                async with self._database.writing_connection() if wait else self._fast_connection() as connection:
                    return await self._write(connection, asked, wait=wait)
            except _SenderLeft:
                continue
            except asyncpg.LockNotAvailableError:
                if not wait:
                    raise
                # Still held by others: those who can wait longer do, and the connection is free in between.
            except asyncpg.DeadlockDetectedError:
                if not wait or len(asked) > 1:
                    raise
                # Two waited for each other, and PostgreSQL ended this one: the other one goes first, however often.
                await asyncio.sleep(RETRY_SECONDS)
            except LOST as error:
                if is_bad_value(error):
                    raise
                log.warning("connection lost before a commit: the batch is tried again", error=repr(error))
                await asyncio.sleep(RETRY_SECONDS)
        return []

    @asynccontextmanager
    async def _fast_connection(self) -> AsyncIterator[Connection]:
        connection = await self._connect()
        try:
            yield connection
        except STALE:
            connection.terminate()
            raise

    async def _connect(self) -> "asyncpg.Connection[asyncpg.Record]":
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._database.own_connection(
                answer=self._commit_seconds + GRACE_SECONDS,
                lock_timeout=FAST_LOCK_TIMEOUT,
                # The statement is the same for every batch: planning it each time would cost more than running it.
                plan_cache_mode="force_generic_plan",
                # And one that was made while there were few messages is still there when they are many.
                enable_seqscan="off",
            )
        return self._connection

    async def _write(self, connection: Connection, batch: list[Ticket], *, wait: bool) -> list[Ticket]:
        """Write a batch in one transaction, then answer; returns those whose conversation is locked by others."""
        transaction = connection.transaction()
        database = self._database
        asked = count_anew()
        tx = Transaction(connection, database.shards, database.bounds, database.sealer)
        await tx.counted("begin", transaction.start())
        try:
            stored = await self._storing.store(tx, [ticket.outgoing for ticket in batch], wait=wait)
            await tx.flush()
            if any(ticket.answer.done() for ticket in batch):
                raise _SenderLeft
        except STALE:
            raise  # the connection is dropped, and the server rolls back by itself
        except BaseException:
            with suppress(asyncpg.PostgresError, *LOST):
                await transaction.rollback()
            raise
        _mark(batch, is_being_committed=True)
        if not await tx.counted("commit", self._is_committed(connection, transaction, stored)):
            _mark(batch, is_being_committed=False)
            raise ConnectionError("the commit did not happen")
        SENT.inc(sum(isinstance(outcome, Sent) for outcome in stored.outcomes))
        left = []
        for ticket, outcome in zip(batch, stored.outcomes, strict=True):
            ticket.statements.shared(asked)
            if outcome is Unsent.HELD:
                ticket.is_being_committed = False
                left.append(ticket)
            elif outcome is Unsent.FROZEN:
                ticket.fail(frozen())
            else:
                ticket.settle(outcome if isinstance(outcome, Sent) else None)
        return left

    async def _is_committed(
        self, connection: Connection, transaction: "asyncpg.transaction.Transaction", stored: Stored
    ) -> bool:
        try:
            await commit(connection, transaction, self._commit_seconds)
        except LOST:
            return stored.proof is not None and await self._database.committed(*stored.proof)
        return True


async def _for_many(work: Coroutine[Any, Any, None]) -> None:
    forget_request()
    await work


def _mark(batch: Sequence[Ticket], *, is_being_committed: bool) -> None:
    for ticket in batch:
        ticket.is_being_committed = is_being_committed
