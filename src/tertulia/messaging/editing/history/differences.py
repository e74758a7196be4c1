"""Differences between the texts of a message: made once, when somebody first asks for them, and stored.

Finding one takes up to 20 ms of Python. They are made in one thread of their own, and the thread goes from reader to reader: who
asks for many waits for them, and nobody else does. The difference to the text that a message has now is not stored, because
that text may change yet without an edit: pictures come into it when their thumbnails are ready.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

from tertulia.kernel.audit import done_for_many, request_now
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.threads import SHARE, Lanes, Threads, too_busy
from tertulia.messaging.editing.history.html_diff import html_diff

MAX_WAITING = 100
"""Of histories whose differences are being made, with one difference at a time each; a network has a share of that."""


class Step(NamedTuple):
    """From one text to the next: the revision that has the first one, both, and their difference if it was made."""

    revision_id: int
    before: str
    after: str
    made: str | None


class Differences:
    """Makes what is missing, and stores it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._threads = Threads("differences", running=1, waiting=MAX_WAITING)
        self._lanes = Lanes(inside=MAX_WAITING // SHARE, waiting=MAX_WAITING // 2)
        self._of_persons = Lanes(inside=1, waiting=MAX_WAITING // 2)
        self._making: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._waiting = 0

    async def of(self, steps: Sequence[Step]) -> dict[int, str]:
        """The difference of each step, by the id of its revision. The last step leads to what the message is now."""
        found = {step.revision_id: step.made for step in steps if step.made is not None}
        if missing := [step for step in steps[:-1] if step.made is None]:
            found |= await self._in_turn(missing)
        for last in steps[-1:]:
            found[last.revision_id] = await self._threads.run(html_diff, last.before, last.after)
        return found

    async def _in_turn(self, steps: Sequence[Step]) -> dict[int, str]:
        """Several who ask for the same at once get what the first of them made. Nobody waits for what others ask for besides."""
        request = request_now()
        person = await self._of_persons.enter_as(request[0].payer) if request and request[0].payer else ""
        try:
            lane = await self._lanes.enter()
            try:
                return await self._of_one(steps)
            finally:
                self._lanes.leave(lane)
        finally:
            self._of_persons.leave(person)

    async def _of_one(self, steps: Sequence[Step]) -> dict[int, str]:
        if self._waiting > MAX_WAITING:
            raise too_busy()
        self._waiting += 1
        # There for as long as somebody has it, or waits for it.
        making = self._making.setdefault(steps[0].revision_id, asyncio.Lock())
        try:
            async with making:
                return await self._make(steps)
        finally:
            self._waiting -= 1

    async def _make(self, steps: Sequence[Step]) -> dict[int, str]:
        # Those whose turn comes next do not wait for the connections that this reader may have.
        with done_for_many():
            async with self._database.reader() as reader:
                found = await _find(reader, [step.revision_id for step in steps])
        # One by one: who asks for a single difference does not wait for all of these.
        made = {
            step.revision_id: await self._threads.run(html_diff, step.before, step.after)
            for step in steps
            if step.revision_id not in found
        }
        with done_for_many():
            async with self._database.transaction() as tx:
                await _store(tx, made)
        return found | made


async def _find(reader: Reader, revision_ids: Sequence[int]) -> dict[int, str]:
    sql = "select id, html_diff from message_revision where id = any($1::bigint[]) and html_diff is not null"
    return {row["id"]: row["html_diff"] for row in await reader.fetch(sql, revision_ids)}


async def _store(tx: Transaction, made: dict[int, str]) -> None:
    sql = """
    update message_revision set html_diff = made.html_diff
    from unnest($1::bigint[], $2::text[]) as made(id, html_diff) where message_revision.id = made.id
    """
    await tx.execute(sql, list(made), list(made.values()))
