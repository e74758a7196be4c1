"""What the worker fetches from other servers: once for all who name it, tried a few times, and then settled for good.

A kind of thing has a table of its own and says how it is claimed, fetched and kept. Here is when: as many side by side as may
be, a try again after what may pass, and an end after as many. Whoever dies with a claim leaves it to the next who looks.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import IntEnum
from typing import ClassVar

import msgspec
import structlog

from tertulia.kernel.db import LOST, Database, Transaction
from tertulia.kernel.outbound import Unreachable, Unwanted
from tertulia.kernel.tasks import BoundedTasks

log = structlog.get_logger()

MAX_RUNNING = 16
MAX_OF_ONE_REALM = 8
MAX_OF_ONE_PERSON = 4


class State(IntEnum):
    """How far it is."""

    WAITING = 0
    READY = 1
    GONE = 2
    """It cannot be had, is not what it should be, or was removed to make room."""


class Due(msgspec.Struct, frozen=True):
    """What is to be fetched."""

    id: int
    realm_id: int
    person: int
    """Who named it; below zero: nobody of the realm."""
    url: str
    tries: int


class Fetcher(ABC):
    """Fetches things of one kind. Running requests go on while new ones are started."""

    what: ClassVar[str]
    """In the log."""
    retry_seconds: ClassVar[tuple[float, ...]]
    """After each failure that may pass."""
    unwanted: ClassVar[tuple[type[Exception], ...]] = (Unwanted,)
    """What says that it will never be had."""
    passing: ClassVar[tuple[type[BaseException], ...]] = LOST
    """What is no failure of the other server: it is made again when the claim has run out."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tasks = BoundedTasks(MAX_RUNNING, MAX_OF_ONE_REALM, MAX_OF_ONE_PERSON)

    @abstractmethod
    async def claim(self, tx: Transaction, limit: int, busy: Sequence[Sequence[int]]) -> list[Due]:
        """Some that are due, except for busy realms and people, each with one more try."""

    @abstractmethod
    async def fetch(self, one: Due) -> None:
        """Ask for it and keep it. Raises Unreachable for what may pass."""

    @abstractmethod
    async def give_up(self, tx: Transaction, one: Due) -> None:
        """There is nothing to be had."""

    @abstractmethod
    async def put_off(self, tx: Transaction, one: Due, seconds: float) -> None:
        """Fetch it a little later."""

    async def start_due(self) -> int:
        """Start what is due, as far as there is room; returns how many."""
        started = 0
        while started < MAX_RUNNING and (room := self._tasks.room):
            async with self._database.transaction() as tx:
                claimed = await self.claim(tx, room, self._tasks.busy())
            if not claimed:
                break
            for one in claimed:
                self._tasks.start(self._settle(one), one.realm_id, one.person)
            started += len(claimed)
        return started

    async def _settle(self, one: Due) -> None:
        try:
            if one.tries > len(self.retry_seconds) + 1:
                raise Unwanted("whoever fetched it died each time")
            await self.fetch(one)
        except self.unwanted as error:
            log.info("fetching is given up", what=self.what, id=one.id, reason=str(error))
            async with self._database.transaction() as tx:
                await self.give_up(tx, one)
        except Unreachable as error:
            await self._try_later(one, str(error))
        except self.passing as error:
            log.warning("fetching is begun again later", what=self.what, id=one.id, error=repr(error))
        except Exception:
            log.exception("fetching is begun again later", what=self.what, id=one.id)

    async def _try_later(self, one: Due, reason: str) -> None:
        log.info("fetching has failed", what=self.what, id=one.id, tries=one.tries, reason=reason)
        async with self._database.transaction() as tx:
            if one.tries > len(self.retry_seconds):
                await self.give_up(tx, one)
            else:
                await self.put_off(tx, one, self.retry_seconds[one.tries - 1])
