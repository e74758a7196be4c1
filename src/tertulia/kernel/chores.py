"""Chores: work that is due now and then and that no request waits for. Features declare them, the worker does them.

Any number of workers do the same chore side by side: each piece of work is claimed in the transaction that does it.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.services import Services

Work = Callable[[], Awaitable[int]]
"""Does what is due; returns how many items that was."""

HOUSEKEEPING_SECONDS = 60.0
PROMPT_SECONDS = 1.0
"""Somebody waits for a chore that is done so often, or more often."""


@dataclass(frozen=True, slots=True)
class Chore:
    """A periodic task of the worker: its name, its interval, and how to make its function from the worker's services.

    `waiting`: where its work waits, as SQL after `from`: a table, or a subquery with a name, with a column `due`.
    """

    name: str
    seconds: float
    work: Callable[[Services], Work]
    waiting: str = ""


def housekeeping(task: Callable[[Database], Awaitable[int]]) -> Chore:
    """A chore that needs nothing but the database and may wait for a minute; named after its function."""
    return Chore(task.__name__, HOUSEKEEPING_SECONDS, lambda services: partial(task, services[Database]))


def paced(chores: Iterable[Chore], seconds: float) -> list[Chore]:
    """The same, and for what somebody waits for no pause is longer than that."""
    return [
        replace(chore, seconds=min(chore.seconds, seconds)) if chore.seconds <= PROMPT_SECONDS else chore
        for chore in chores
    ]


async def in_batches(database: Database, size: int, do: Callable[[Transaction], Awaitable[int]]) -> int:
    """Do it until there is less than a batch of that size to do, each in a transaction of its own, so that no lock is held for
    long; returns how many that were."""
    total = 0
    while True:
        async with database.transaction() as tx:
            done = await do(tx)
        total += done
        if done < size:
            return total
