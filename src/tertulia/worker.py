"""The worker: due work that no request waits for. It sends mails and notices, and forgets what is too old to matter.

Any number of workers run side by side: each piece of work is claimed in the transaction that does it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress

import structlog

from tertulia.channels.traffic import count_traffic
from tertulia.groups.actions import promote_members
from tertulia.kernel.db import LOST, Database
from tertulia.kernel.mail import Postman
from tertulia.kernel.monitor import serve_monitor
from tertulia.kernel.settings import Settings
from tertulia.logins.attempts import forget_old_failures
from tertulia.logins.reset import forget_old_tokens
from tertulia.messages.keys import forget_old_keys
from tertulia.messages.notices import Notices
from tertulia.sessions.actions import forget_old_sessions

log = structlog.get_logger()

TICK_SECONDS = 60.0
MAIL_SECONDS = 1.0
WORK: tuple[Callable[[Database], Awaitable[int]], ...] = (
    promote_members,
    count_traffic,
    forget_old_keys,
    forget_old_failures,
    forget_old_tokens,
    forget_old_sessions,
)


async def run_worker(settings: Settings, stop: asyncio.Event) -> None:
    """Do what is due until asked to stop."""
    database: Database | None = None
    postman = Postman(settings)
    notices: Notices | None = None
    next_round = 0.0
    async with AsyncExitStack() as stack:
        if settings.metrics_port:
            await stack.enter_async_context(
                serve_monitor(settings.host, settings.metrics_port, lambda: database is not None)
            )
        while not stop.is_set():
            try:
                if database is None:
                    database = await Database.connect(settings.postgres_url, shards=settings.shards, size=2)
                    stack.push_async_callback(database.close)
                    notices = Notices(database, settings)
                    log.info("worker", work=[task.__name__ for task in WORK])
                if time.monotonic() >= next_round:
                    next_round = time.monotonic() + TICK_SECONDS
                    await _do_all(database)
                if sent := await postman.deliver(database):
                    log.info("mails sent", count=sent)
                if notices is not None and (sent := await notices.deliver_left()):
                    log.info("notices sent", count=sent)
            except LOST as error:
                log.warning("PostgreSQL is away", error=repr(error))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), MAIL_SECONDS)


async def _do_all(database: Database) -> None:
    for task in WORK:
        if done := await task(database):
            log.info("done", work=task.__name__, rows=done)
