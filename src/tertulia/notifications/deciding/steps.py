"""The worker's part: from messages that wait to what each way of telling people has to do."""

from tertulia.kernel.db import Database
from tertulia.notifications.concerns.rules import decide
from tertulia.notifications.deciding import queries
from tertulia.notifications.push.queries import insert_calls

MESSAGES = 100
PEOPLE = 200
"""So many people of each of so many messages in one transaction: what a worker holds in memory is bounded."""
ROUNDS = 200
"""Then the worker breathes, and tells that it is alive."""


class Deciding:
    """Decides whom messages concern, and hands that to the ways of telling them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def decide_due(self) -> int:
        """Deal with what waits; returns how many steps that took, over all messages."""
        done = 0
        for _ in range(ROUNDS):
            some = await self._step()
            done += some
            if not some:
                break
        return done

    async def _step(self) -> int:
        async with self._database.transaction() as tx:
            dealt_with, facts = await queries.take_step(tx, MESSAGES, PEOPLE)
            decided = [(one, decide(one)) for one in facts]
            pushes = [(one.user_id, one.message_id, told.push) for one, told in decided if told.push is not None]
            if pushes:
                await insert_calls(tx, pushes)
        return dealt_with
