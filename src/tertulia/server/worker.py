"""The worker: due work that no request waits for. It sends scheduled messages, reminders, notices and mails, and forgets what
is too old to matter.

Any number of workers run side by side: each piece of work is claimed in the transaction that does it.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from functools import partial

import structlog
from prometheus_client import Counter, Gauge, Summary

from tertulia.events.feature import Feature
from tertulia.kernel.chores import Chore, Work, paced
from tertulia.kernel.db import LOST, Database
from tertulia.kernel.monitor import QUESTION_SECONDS, serve_monitor
from tertulia.kernel.outages import Outage, postgres_outage
from tertulia.kernel.postgres import work_limits
from tertulia.kernel.sealing import sealer_of
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import end_tasks
from tertulia.kernel.tracing import traced, working
from tertulia.server.app import bounds_of, services_of
from tertulia.server.features import FEATURES
from tertulia.server.lookout import Lookout
from tertulia.server.measuring import keep_measuring
from tertulia.server.status.watch import watched

log = structlog.get_logger()

DONE = Counter("tertulia_worker_done", "Pieces of work done, by chore", ["chore"])
FAILED = Counter("tertulia_worker_failed", "Tries of a chore that failed and are repeated", ["chore"])
LAST = Gauge("tertulia_worker_last_run_timestamp_seconds", "When a chore last ran to its end", ["chore"])
SECONDS = Summary("tertulia_worker_run_seconds", "How long the runs of a chore took", ["chore"])

POOL_SIZE = 6
RETRY_SECONDS = 1.0
STOP_SECONDS = 5.0


async def run_worker(settings: Settings, stop: asyncio.Event, features: Sequence[Feature] = FEATURES) -> None:
    """Do what is due until asked to stop."""
    database: Database | None = None
    async with AsyncExitStack() as stack:

        async def missing() -> str | None:
            return "PostgreSQL" if database is None else await database.missing(QUESTION_SECONDS)

        stack.enter_context(traced(settings, "worker"))
        chores = paced((chore for feature in features for chore in feature.chores), settings.worker_pause_seconds)
        await stack.enter_async_context(watched(settings, chores, partial(serve_monitor, settings, missing)))
        away = postgres_outage(settings.postgres_url)
        while database is None and not stop.is_set():
            try:
                database = await Database.connect(
                    settings.postgres_url,
                    shards=settings.shards,
                    size=POOL_SIZE,
                    bounds=bounds_of(settings, features),
                    sealer=sealer_of(settings),
                    limits=work_limits(settings, "worker"),
                    checked=True,
                )
            except LOST as error:
                away.goes_on(error)
                await _wait(stop, RETRY_SECONDS)
        if database is None:
            return
        stack.push_async_callback(database.close)
        services = services_of(features, {Settings: settings, Database: database})
        log.info("worker", work=[chore.name for chore in chores])
        lookout = Lookout(chores)
        # Each goes on by itself: a mail server that does not answer holds up nothing but mails.
        tasks = [asyncio.create_task(_keep_at(chore, chore.work(services), lookout, stop, away)) for chore in chores]
        watching = [
            asyncio.create_task(lookout.keep_looking(database)),
            asyncio.create_task(keep_measuring(database, settings, chores)),
        ]
        await stop.wait()
        for each in watching:
            each.cancel()
        lookout.wake_all()
        # What is under way may finish; what hangs is rolled back, and another worker finds it.
        await asyncio.wait(tasks, timeout=STOP_SECONDS)
        await end_tasks([*tasks, *watching])
        with suppress(TimeoutError):
            await asyncio.wait_for(services.close(), STOP_SECONDS)


async def _keep_at(chore: Chore, work: Work, lookout: Lookout, stop: asyncio.Event, away: Outage) -> None:
    DONE.labels(chore.name)
    FAILED.labels(chore.name)
    while not stop.is_set():
        try:
            with SECONDS.labels(chore.name).time(), working(f"chore {chore.name}") as span:
                done = span.pieces = await work()
            away.is_over()
            LAST.labels(chore.name).set_to_current_time()
            if done:
                DONE.labels(chore.name).inc(done)
                log.info("done", work=chore.name, count=done)
        except LOST as error:
            FAILED.labels(chore.name).inc()
            away.goes_on(error)
        except Exception:
            # Whatever it is, the other chores go on, and this one is tried again.
            FAILED.labels(chore.name).inc()
            log.exception("work failed", work=chore.name)
        await _wait(stop, chore.seconds)
        if not stop.is_set():
            await lookout.until_due(chore)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)
