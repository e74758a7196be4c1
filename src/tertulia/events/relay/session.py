"""One session of the relay: from fresh connections to the first anomaly.

Order of a session: connect to both engines; wait as stand-by while another relay has the slot; take the slot; inspect the
streams (continuity.py), which may end in a new epoch and a new session; then work (pipeline.py).

Invariants
- Connections never reconnect by themselves: whoever loses one knows nothing about what was in flight.
- Epochs are opened only while this session holds the slot.
- The slot is replaced only after the epoch was spoilt: a crash in between cannot hide the gap.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Final, Literal, NamedTuple

import asyncpg
import structlog

from tertulia.events.log.beat import beating
from tertulia.events.log.buckets import check_answers, check_stores
from tertulia.events.log.jetstream import StreamUnavailable
from tertulia.events.log.nats_client import nats_options
from tertulia.events.relay import checkpoint
from tertulia.events.relay.checkpoint import Memory
from tertulia.events.relay.connection import WANTED_PAYLOAD, RelayConnection
from tertulia.events.relay.continuity import Continuity
from tertulia.events.relay.lag import Lag
from tertulia.events.relay.lineage import Identity
from tertulia.events.relay.metrics import ACTIVE, EPOCH, Role
from tertulia.events.relay.pipeline import Pipeline
from tertulia.events.relay.publisher import ContinuityBroken
from tertulia.events.relay.replication import APPLICATION_NAME, Replication, SlotTaken
from tertulia.events.relay.source import Overtaken, check_not_overtaken, find_source, note_source
from tertulia.events.relay.visibility import Visibility
from tertulia.kernel.engine_addresses import single_host_urls
from tertulia.kernel.form import check_form
from tertulia.kernel.monitor import QUESTION_SECONDS
from tertulia.kernel.postgres import Connector, work_limits
from tertulia.kernel.settings import Settings

Engine = Literal["NATS", "PostgreSQL"]
CONNECT_SECONDS: Final = 5
CLOSE_SECONDS: Final = 1.0
STAND_BY_SECONDS: Final = 0.5
SIGN_SECONDS: Final = 1.0
UNSENT_BYTES: Final = 64 * 1024 * 1024
# What the next host may do better: this one starts or stops, or is a standby.
UNFIT: Final = (
    asyncpg.CannotConnectNowError,
    asyncpg.TargetServerAttributeNotMatched,
    asyncpg.ObjectNotInPrerequisiteStateError,
)

log = structlog.get_logger("tertulia.events.relay.process")


class EpochOpened(Exception):
    """Not a failure: the next session works in a new epoch."""


class ConnectionLost(Exception):
    """One of the engines went away."""


class Server(NamedTuple):
    """A PostgreSQL that is a primary."""

    url: str
    pg: Any
    identity: Identity


class Session:
    """`memory` outlives sessions: what this process knows to be stored, and what it sent without an answer.

    `failed`: how many sessions did before. Each begins with another server of NATS: one that is cut off from the others takes
    connections, and stores nothing.
    """

    def __init__(self, settings: Settings, memory: Memory, lag: Lag, failed: int = 0) -> None:
        self.role: Role = "starting"
        self.connecting: Engine | None = None
        """Which of the engines it tries to reach."""
        self._settings = settings
        self._memory = memory
        self._lag = lag
        self._failed = failed
        self._nc: RelayConnection | None = None
        self._pipeline: Pipeline | None = None
        self._lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def gets_through(self) -> bool:
        """Whether the streams take events; nobody knows while another relay writes them."""
        return self.role == "stand-by" or (self._pipeline is not None and self._pipeline.gets_through)

    async def missing(self) -> str | None:
        """What the session waits for: in either role it has living connections, but JetStream may be off."""
        if self._nc is None or self.role not in ("active", "stand-by"):
            return self.connecting or "PostgreSQL and NATS"
        try:
            await check_answers(self._nc, QUESTION_SECONDS)
        except StreamUnavailable:
            return "JetStream, which does not answer: `tertulia doctor` says what to do"
        return None

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop`, or raise what ended the session."""
        try:
            async with AsyncExitStack() as stack:
                self.connecting = "NATS"
                nc = self._nc = await self._connect_nats(stack)
                self.connecting = "PostgreSQL"
                server = await self._connect_postgres(stack, nc)
                self.connecting = None
                await checkpoint.ensure_publication(server.pg, self._settings.publication)
                replication = await self._take_slot(stack, nc, server, stop)
                if replication is not None:
                    await stack.enter_async_context(_kept_alive(replication))
                    reader = await self._connect_to(server.url, stack)
                    _check_same(server.identity, reader.identity)
                    await self._work(nc, server.pg, replication, Visibility(reader.pg), stop)
        finally:
            self.role = "down"
            ACTIVE.set(0)
            self._lost.cancel()

    async def _connect_nats(self, stack: AsyncExitStack) -> RelayConnection:
        async def closed() -> None:
            self._lose("NATS closed the connection")

        async def failed(error: Exception) -> None:
            log.debug("nats", error=repr(error))

        nc = RelayConnection()
        await nc.connect(
            **nats_options(self._settings, self._failed),
            name="tertulia relay",
            allow_reconnect=False,
            connect_timeout=CONNECT_SECONDS,
            disconnected_cb=closed,
            closed_cb=closed,
            error_cb=failed,
            pending_size=UNSENT_BYTES,
            skip_subject_validation=True,
        )
        stack.push_async_callback(_close, nc.close())
        if nc.max_payload < WANTED_PAYLOAD:
            log.error("NATS takes too small messages: set max_payload", bytes=nc.max_payload, wanted=WANTED_PAYLOAD)
        return nc

    async def _connect_postgres(self, stack: AsyncExitStack, nc: RelayConnection) -> "Server":
        """The first host that is a primary, and not one that was replaced: of two primaries, events follow the newer."""
        failed: Exception | None = None
        for url in single_host_urls(self._settings.postgres_url):
            try:
                server = await self._connect_to(url, stack)
                await self._check_meant(nc, server)
                await check_form(server.pg)
            except (OSError, Overtaken, *UNFIT) as error:
                failed = failed or error
                continue
            server.pg.add_termination_listener(lambda _: self._lose("PostgreSQL closed the connection"))
            return server
        raise failed or OSError("the address of PostgreSQL names no host")

    async def _connect_to(self, url: str, stack: AsyncExitStack) -> "Server":
        name = {"application_name": APPLICATION_NAME}
        # A new slot waits for all transactions under way, so statements have no limit; a silent connection has.
        pg = await Connector(url, work_limits(self._settings)).connect(server_settings=name)
        stack.push_async_callback(_close, pg.close(timeout=CLOSE_SECONDS))
        return Server(url, pg, await checkpoint.get_identity(pg))

    async def _check_meant(self, nc: RelayConnection, server: "Server") -> None:
        """Leave a database alone that was replaced by another. One without our slot was restored: that one is meant."""
        if await checkpoint.find_slot(server.pg, self._settings.slot) is not None:
            check_not_overtaken(await find_source(nc), server.identity)

    def _lose(self, reason: str) -> None:
        if not self._lost.done():
            self._lost.set_exception(ConnectionLost(reason))
            self._lost.exception()  # it may be that nobody waits for it any more

    async def _take_slot(
        self, stack: AsyncExitStack, nc: RelayConnection, server: "Server", stop: asyncio.Event
    ) -> Replication | None:
        """Wait until the slot is free and take it; None if `stop` came first."""
        while not stop.is_set():
            if self._lost.done():
                await self._lost
            if await self._is_slot_free(nc, server):
                # Who cannot store anything leaves the slot to one who can.
                await check_stores(nc)
                replication = await Replication.open(server.url)
                stack.callback(replication.close)
                try:
                    await replication.start(self._settings.slot, self._settings.publication)
                    _check_same(server.identity, replication.lineage.identity)
                    return replication
                except SlotTaken:
                    replication.close()
            if self.role != "stand-by":
                log.info("stand-by", slot=self._settings.slot)
                self.role = "stand-by"
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), STAND_BY_SECONDS)
        return None

    async def _is_slot_free(self, nc: RelayConnection, server: "Server") -> bool:
        """Whether nobody reads it. Makes a slot where none is, or where it has lost what it kept."""
        pg = server.pg
        slot = await checkpoint.find_slot(pg, self._settings.slot)
        if slot is not None and not slot.lost:
            return not slot.active
        if (state := await checkpoint.find_state(pg)) is not None:
            log.warning("slot lost", slot=self._settings.slot, epoch=state.epoch)
            await checkpoint.spoil_epoch(pg, state)
        if slot is not None:
            await checkpoint.drop_slot(pg, self._settings.slot)
        if (noted := await find_source(nc)) is not None and noted.source.timeline > server.identity.timeline:
            await note_source(nc, server.identity, noted)
        await checkpoint.create_slot(pg, self._settings.slot)
        return True

    async def _work(
        self, nc: RelayConnection, pg: Any, replication: Replication, visibility: Visibility, stop: asyncio.Event
    ) -> None:
        continuity = Continuity(self._settings, nc, pg, self._memory, replication.lineage)
        try:
            found = await continuity.inspect()
            self.role = "active"
            ACTIVE.set(1)
            EPOCH.set(found.epoch)
            log.info("active", epoch=found.epoch, last={number: shard.seq for number, shard in found.shards.items()})
            pipeline = self._pipeline = Pipeline(
                self._settings, nc, pg, replication, visibility, continuity, found, self._lag
            )
            try:
                async with beating(nc):
                    await pipeline.run(stop, self._lost)
            finally:
                for number, shard in found.shards.items():
                    key = found.epoch, number
                    known = self._memory.stored.get(key, shard.acked)
                    self._memory.stored[key] = max(known, shard.acked, key=lambda watermark: watermark.seq)
                    self._memory.unsure[key] = [(sent.seq, sent.pos) for sent in shard.sent]
        except ContinuityBroken as broken:
            raise EpochOpened(await continuity.open_epoch(str(broken))) from broken


def _check_same(one: Identity, other: Identity) -> None:
    """What is behind an address may change between two connections."""
    if one != other:
        raise ConnectionLost(f"the two connections lead to {one} and {other}")


@asynccontextmanager
async def _kept_alive(replication: Replication) -> AsyncIterator[None]:
    """Tell the sender that we live, also while streams are inspected or made: or it would give the slot to another."""

    async def tell() -> None:
        while True:
            await asyncio.sleep(SIGN_SECONDS)
            replication.confirm(0)

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def _close(closing: Awaitable[None]) -> None:
    """Close a connection that may be broken already."""
    with suppress(Exception):
        await asyncio.wait_for(closing, CLOSE_SECONDS * 2)
