"""Coalesced reads: concurrent look-ups of one kind share one query.

While a query is under way, the keys that arrive wait; when it returns, they go out together as the next one. There
is no timer and no cache: a single caller waits for its own query only, and every answer was read after it was asked
for, so a revoked key or a changed right is seen at once. Writes that nobody is in a hurry for may be given a `pace`: so
many seconds pass from the start of one statement to the start of the next, and more go out together. `most` keys go out
together: what comes back is taken apart in one turn of the event loop, which others wait for.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import chain, islice
from typing import Generic, TypeAlias, TypeVar

from tertulia.kernel.audit import forget_request
from tertulia.kernel.statements import Statements, count_anew, statements_now

K = TypeVar("K")
V = TypeVar("V")
Waiting: TypeAlias = dict[K, list[tuple[asyncio.Future[V | None], Statements]]]


class Coalescer(Generic[K, V]):
    """`load(key)` answers what `read([keys])` says of the key, or None."""

    def __init__(
        self, read: Callable[[Sequence[K]], Awaitable[Mapping[K, V]]], *, pace: float = 0.0, most: int | None = None
    ) -> None:
        self._read = read
        self._pace = pace
        self._most = most
        self._next = 0.0
        self._waiting: Waiting[K, V] = {}
        self._task: asyncio.Task[None] | None = None

    def load(self, key: K) -> asyncio.Future[V | None]:
        """The value for the key as of a query that starts after this call, whether or not it is awaited yet."""
        # One future for each caller: one of them may go away, and the others go on waiting.
        future: asyncio.Future[V | None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append((future, statements_now()))
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return future

    async def _run(self) -> None:
        forget_request()
        try:
            while self._waiting:
                if self._pace:
                    await self._wait_turn()
                await self._read_once()
        finally:
            self._task = None

    async def _wait_turn(self) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(self._next - loop.time())
        self._next = loop.time() + self._pace

    def _take_batch(self) -> Waiting[K, V]:
        if self._most is None or len(self._waiting) <= self._most:
            batch, self._waiting = self._waiting, {}
            return batch
        return {key: self._waiting.pop(key) for key in list(islice(self._waiting, self._most))}

    async def _read_once(self) -> None:
        batch = self._take_batch()
        asked = count_anew()
        try:
            found = await self._read(list(batch))
        except Exception as error:
            for future, _ in chain.from_iterable(batch.values()):
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # a caller may have gone away: never warn about an unread exception
            return
        for key, waiting in batch.items():
            for future, statements in waiting:
                statements.shared(asked)
                if not future.done():
                    future.set_result(found.get(key))
