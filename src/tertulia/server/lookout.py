"""One look at the database tells a worker which of its chores have something to do.

Most of the time none has. If each asked for itself, an idle server would have some twenty transactions a second for nothing.
Looking decides nothing: a chore still claims what it does, and finds nothing if another worker was quicker. Whatever a look
does not see is done within UNSEEN_SECONDS; and if nobody can look, each chore asks for itself, and says what is wrong.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import structlog

from tertulia.kernel.chores import PROMPT_SECONDS, Chore
from tertulia.kernel.db import LOST, Database
from tertulia.kernel.log import Seldom

log = structlog.get_logger()

UNSEEN_SECONDS = 60.0


class Lookout:
    """For the chores that somebody waits for and that say where their work waits. The others are always due."""

    def __init__(self, chores: Sequence[Chore]) -> None:
        watched = [chore for chore in chores if chore.waiting and chore.seconds <= PROMPT_SECONDS]
        self._due = {chore.name: asyncio.Event() for chore in watched}
        self._pause = min((chore.seconds for chore in watched), default=PROMPT_SECONDS)
        self._sql = due_of(watched)
        self._seldom = Seldom(UNSEEN_SECONDS)

    async def keep_looking(self, database: Database) -> None:
        """Until cancelled."""
        while self._due:
            try:
                async with database.reader() as reader:
                    found = [row["chore"] for row in await reader.fetch(self._sql)]
            except Exception as error:
                if not isinstance(error, LOST) and self._seldom.is_due("look"):
                    log.warning("nobody can look for what is due: each chore asks for itself", error=repr(error))
                self.wake_all()
            else:
                for name in found:
                    self._due[name].set()
            await asyncio.sleep(self._pause)

    def wake_all(self) -> None:
        """Let each look for itself, once."""
        for event in self._due.values():
            event.set()

    async def until_due(self, chore: Chore) -> None:
        """Until a look has found something for it since it last came from here."""
        if (event := self._due.get(chore.name)) is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), UNSEEN_SECONDS)
            event.clear()


def due_of(chores: Sequence[Chore]) -> str:
    """One statement: the names of those that have something to do (pure)."""
    return " union all ".join(
        f"select '{chore.name}' as chore where exists (select from {chore.waiting} where due <= now())"  # noqa: S608
        for chore in chores
    )
