"""The worker: due work that no request waits for. It sends scheduled messages, reminders, notices and mails, and forgets what
is too old to matter.

Any number of workers run side by side: each piece of work is claimed in the transaction that does it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import NamedTuple

import structlog

from tertulia.channels.access import ChannelFinder
from tertulia.channels.traffic import count_traffic
from tertulia.edits.previews import show_pictures
from tertulia.edits.retention import delete_expired_messages
from tertulia.groups.actions import promote_members
from tertulia.hooks.calls import Calls
from tertulia.invitations.actions import forget_old_invitations
from tertulia.kernel.db import LOST, Database
from tertulia.kernel.mail import Postman
from tertulia.kernel.monitor import serve_monitor
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import end_tasks
from tertulia.logins.attempts import forget_old_failures
from tertulia.logins.reset import forget_old_tokens
from tertulia.messages.actions import Sending
from tertulia.messages.composing import Composer
from tertulia.messages.keys import forget_old_keys
from tertulia.messages.lane import SendLane
from tertulia.messages.notices import Notices
from tertulia.messages.places import Places
from tertulia.pushes.sending import Pushes
from tertulia.reminders.actions import remind_all
from tertulia.resumable.actions import forget_expired_uploads
from tertulia.scheduled.delivery import Delivery
from tertulia.sessions.actions import forget_old_sessions
from tertulia.storage import Store
from tertulia.uploads.sweeping import forget_unused, sweep_objects
from tertulia.uploads.thumbnails import make_thumbnails

log = structlog.get_logger()

POOL_SIZE = 6
RETRY_SECONDS = 1.0
STOP_SECONDS = 5.0
RETENTION_SECONDS = 600.0
HOUSEKEEPING: tuple[Callable[[Database], Awaitable[int]], ...] = (
    promote_members,
    count_traffic,
    forget_old_keys,
    forget_old_failures,
    forget_old_tokens,
    forget_old_sessions,
    forget_expired_uploads,
    forget_old_invitations,
)


class Chore(NamedTuple):
    """A kind of work, and how often it is looked for."""

    name: str
    seconds: float
    do: Callable[[], Awaitable[int]]


async def run_worker(settings: Settings, stop: asyncio.Event) -> None:
    """Do what is due until asked to stop."""
    database: Database | None = None
    async with AsyncExitStack() as stack:
        if settings.metrics_port:
            await stack.enter_async_context(
                serve_monitor(settings.host, settings.metrics_port, lambda: database is not None)
            )
        while database is None and not stop.is_set():
            try:
                database = await Database.connect(settings.postgres_url, shards=settings.shards, size=POOL_SIZE)
            except LOST as error:
                log.warning("PostgreSQL is away", error=repr(error))
                await _wait(stop, RETRY_SECONDS)
        if database is None:
            return
        stack.push_async_callback(database.close)
        chores = chores_of(database, settings)
        log.info("worker", work=[chore.name for chore in chores])
        # Each goes on by itself: a mail server that does not answer holds up nothing but mails.
        tasks = [asyncio.create_task(_keep_at(chore, stop)) for chore in chores]
        await stop.wait()
        # What is under way may finish; what hangs is rolled back, and another worker finds it.
        await asyncio.wait(tasks, timeout=STOP_SECONDS)
        await end_tasks(tasks)


def chores_of(database: Database, settings: Settings) -> list[Chore]:
    """All there is to do."""
    notices = Notices(database, settings)
    finder = ChannelFinder(database)
    sending = Sending(
        Places(database, finder), Composer(database, finder, settings), SendLane(database, settings.postgres_url)
    )
    delivery = Delivery(database, sending, settings)
    postman = Postman(settings)
    store = Store(settings)
    return [
        Chore("scheduled messages", 0.5, delivery.deliver),
        Chore("reminders", 1.0, lambda: remind_all(database)),
        Chore("calls to bots", 0.3, Calls(database, sending, settings).start_due),
        Chore("pushes", 0.5, Pushes(database, settings).start_due),
        Chore("notices", 1.0, notices.deliver_left),
        Chore("expired messages", RETENTION_SECONDS, lambda: delete_expired_messages(database)),
        Chore("mails", 1.0, lambda: postman.deliver(database)),
        Chore("thumbnails", 0.5, lambda: make_thumbnails(database, store)),
        Chore("pictures in messages", 0.5, lambda: show_pictures(database)),
        Chore("objects of nobody", 1.0, lambda: sweep_objects(database, store)),
        Chore("unused files", 600.0, lambda: forget_unused(database, settings)),
        *(Chore(task.__name__, 60.0, partial(task, database)) for task in HOUSEKEEPING),
    ]


async def _keep_at(chore: Chore, stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            if done := await chore.do():
                log.info("done", work=chore.name, count=done)
        except LOST as error:
            log.warning("PostgreSQL is away", work=chore.name, error=repr(error))
        except Exception:
            # Whatever it is, the other chores go on, and this one is tried again.
            log.exception("work failed", work=chore.name)
        await _wait(stop, chore.seconds)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
