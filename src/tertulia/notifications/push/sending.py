"""Pushing: claimed for a while, sent without holding anything, forgotten when taken."""

import structlog

from tertulia.kernel.db import LOST, Database, Transaction
from tertulia.kernel.outbound import SECONDS
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import BoundedTasks
from tertulia.notifications.push import queries
from tertulia.notifications.push.model import Push
from tertulia.notifications.push.posting import GONE, PushPost
from tertulia.notifications.push.rules import payload_of

log = structlog.get_logger()

MAX_RUNNING = 64
MAX_OF_ONE_USER = 10
MAX_OF_ONE_REALM = 48
"""Slow push services, which anybody may name, do not hold up everybody."""
CLAIMED_SECONDS = 2 * SECONDS + 10
ATTEMPTS = 3
RETRY_SECONDS = (2.0, 60.0)
URGENT = ("direct_message", "mentioned")
MAX_FAILED, FAILED_DAYS = 10, 3
"""A browser whose push service took none of so many pushes in a row, for so many days, is forgotten as if it were gone. Both:
a service that is away for an afternoon costs nobody their notifications, however much is said in that time."""


class Pushes:
    """Pushes to browsers. Running pushes go on while new ones are started; those lost with the process are sent again."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._poster = PushPost(database, settings)
        self._tasks = BoundedTasks(MAX_RUNNING, MAX_OF_ONE_USER, MAX_OF_ONE_REALM)

    async def start_due(self) -> int:
        """Start the pushes that are due; returns how many."""
        started = 0
        while started < MAX_RUNNING and (claimed := await self._claim()):
            for push in claimed:
                self._tasks.start(self._send(push), push.user_id, push.realm_id)
            started += len(claimed)
        return started

    async def _claim(self) -> list[Push]:
        """A few pushes that are due, of those who have not too many under way."""
        room = self._tasks.room
        if not room:
            return []
        async with self._database.transaction() as tx:
            return await queries.claim(tx, room, self._tasks.busy(), CLAIMED_SECONDS)

    async def _send(self, push: Push) -> None:
        try:
            if push.is_wanted and push.attempts <= ATTEMPTS:
                await self._post(push)
            else:
                await self._end(push)
        except LOST as error:
            log.warning("PostgreSQL is away: a push is sent again later", error=repr(error))
        except Exception:
            log.exception("a push failed: it is sent again later", subscription=push.subscription_id)

    async def _post(self, push: Push) -> None:
        payload = payload_of(push, self._settings.url_of(push.subdomain))
        status = await self._poster.post(push, payload, is_urgent=push.trigger in URGENT)
        if status in GONE:
            async with self._database.transaction() as tx:
                await queries.forget_subscription(tx, push.subscription_id, push.endpoint)
        elif (status == 429 or status >= 500) and push.attempts < ATTEMPTS:
            async with self._database.transaction() as tx:
                await queries.put_off(tx, push.subscription_id, push.message_id, RETRY_SECONDS[push.attempts - 1])
        else:
            await self._end(push, status)

    async def _end(self, push: Push, status: int | None = None) -> None:
        """It is done with; `status` is what the push service answered, if it was asked."""
        async with self._database.transaction() as tx:
            # First the browser, then the push: whoever forgets the browser takes its pushes in this order too.
            if status is not None:
                await self._note(tx, push, status)
            await queries.delete_call(tx, push.subscription_id, push.message_id)

    async def _note(self, tx: Transaction, push: Push, status: int) -> None:
        """Remember whether the push service takes anything."""
        if 200 <= status < 300:
            if push.is_failing:
                await queries.note_taken(tx, push.subscription_id)
            return
        log.warning("a push was not taken", status=status, endpoint_host=push.endpoint.split("/")[2])
        if await queries.note_failed(tx, push.subscription_id, push.endpoint, MAX_FAILED, FAILED_DAYS):
            log.info("a browser is forgotten", endpoint_host=push.endpoint.split("/")[2])
