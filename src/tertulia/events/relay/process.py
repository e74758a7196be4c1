"""The relay process: sessions, one after the other, for as long as it runs.

It carries events from PostgreSQL's write-ahead log into the JetStream streams and is their only writer. Run two: the
replication slot admits one reader, the other waits as stand-by and takes over. See session.py for one session, continuity.py
for epochs, pipeline.py for the work.

Invariant: any failure at all ends the session and nothing else, but a database that is for another version of this program,
which ends the process. What the streams hold is then read, never assumed.
"""

import asyncio
import time
from contextlib import AsyncExitStack, suppress
from typing import Final

import structlog

from tertulia.events.relay.checkpoint import Memory
from tertulia.events.relay.lag import MEASURE_SECONDS, Lag, LagWatch
from tertulia.events.relay.metrics import SESSIONS
from tertulia.events.relay.publisher import PublishFailed
from tertulia.events.relay.session import EpochOpened, Session
from tertulia.kernel.form import WrongForm
from tertulia.kernel.monitor import serve_monitor
from tertulia.kernel.outages import nats_outage, postgres_outage
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import end_tasks
from tertulia.kernel.tracing import traced

FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 2.0
GOOD_SESSION_SECONDS: Final = 10.0
FULL_DISK: Final = "if its disk was full, make room and restart nats-server"

log = structlog.get_logger("tertulia.events.relay.process")


async def run_relay(settings: Settings, stop: asyncio.Event) -> None:
    """Carry events until `stop` is set."""
    relay = Relay(settings)
    async with AsyncExitStack() as stack:
        stack.enter_context(traced(settings, "relay"))
        await stack.enter_async_context(serve_monitor(settings, relay.missing))
        measuring = asyncio.create_task(relay.measure())
        stack.push_async_callback(end_tasks, [measuring])
        await relay.run(stop)


class Relay:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._memory = Memory()
        self._lag = Lag()
        self._away = {"NATS": nats_outage(settings.nats_url), "PostgreSQL": postgres_outage(settings.postgres_url)}
        self._session: Session | None = None
        self._refusal = ""
        """Why a stream did not take an event, until one does."""

    async def missing(self) -> str | None:
        """What it waits for; nothing, at work or waiting properly.

        A stream whose disk was full answers every question and stores nothing until nats-server is restarted. That shows
        only when something is to be stored, so a refusal is remembered from one session to the next.
        """
        if self._session is None:
            return "PostgreSQL and NATS"
        if (lacking := await self._session.missing()) is not None:
            return lacking
        if self._session.gets_through:
            self._refusal = ""
        return f"JetStream, which stores no events: {FULL_DISK} ({self._refusal})" if self._refusal else None

    async def measure(self) -> None:
        """Tell how far behind the streams are while no session does."""
        watch = LagWatch(self._settings, self._lag)
        while True:
            role = "starting" if self._session is None else self._session.role
            if role == "active":
                await watch.close()
            else:
                await watch.measure()
            if role in ("active", "stand-by"):
                for outage in self._away.values():
                    outage.is_over()
            await asyncio.sleep(MEASURE_SECONDS)

    async def run(self, stop: asyncio.Event) -> None:
        pause, failed = FIRST_PAUSE, 0
        while not stop.is_set():
            SESSIONS.inc()
            begun = time.monotonic()
            self._session = Session(self._settings, self._memory, self._lag, failed)
            try:
                await self._session.run(stop)
            except EpochOpened:
                continue
            except WrongForm:
                raise  # no later session would find it better: somebody has to start another program, or to migrate
            except Exception as error:
                failed += 1
                if isinstance(error, PublishFailed):
                    self._refusal = str(error)
                if self._session.connecting is not None:
                    self._away[self._session.connecting].goes_on(error)
                else:
                    log.warning("session ended", error=type(error).__name__, reason=str(error))
                log.debug("session ended", exc_info=error)
            if time.monotonic() - begun > GOOD_SESSION_SECONDS:
                pause = FIRST_PAUSE
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause)
            pause = min(pause * 2, LONGEST_PAUSE)
