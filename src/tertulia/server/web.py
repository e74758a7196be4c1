"""A web process: its engines, waited for and closed in the reverse order, and the HTTP server that answers until told to stop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import asyncpg
import nats.errors
import structlog
import uvicorn
from nats.aio.client import Client

from tertulia import __version__
from tertulia.conversations.channels.state import memberships
from tertulia.events.feature import Feature
from tertulia.events.log.jetstream import StreamUnavailable
from tertulia.events.log.nats_client import NatsClient, lasting_options
from tertulia.events.queues.gateway import Gateway
from tertulia.kernel.db import LOST, Database
from tertulia.kernel.door import Door
from tertulia.kernel.http import Api
from tertulia.kernel.limits import LocalBudgets, RateLimits, RedisBudgets
from tertulia.kernel.monitor import Missing, serve_monitor
from tertulia.kernel.outages import Outage, nats_outage, postgres_outage
from tertulia.kernel.postgres import request_limits
from tertulia.kernel.process import collect_garbage_seldom, raise_open_files
from tertulia.kernel.sealing import sealer_of
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import end_tasks
from tertulia.kernel.tracing import traced
from tertulia.people.users.authentication.actions import refresh
from tertulia.server.app import bounds_of, build_api, filters_of, services_of
from tertulia.server.catalogue import kinds_of
from tertulia.server.connection import Connection
from tertulia.server.connection_limits import limits_of
from tertulia.server.features import FEATURES
from tertulia.server.health import Health
from tertulia.server.listening import BACKLOG, Sockets, open_sockets, several_of
from tertulia.server.opening import Opening
from tertulia.server.proxies import proxies_of
from tertulia.server.status.watch import watched

log = structlog.get_logger()


@asynccontextmanager
async def open_app(
    settings: Settings, features: Sequence[Feature] = FEATURES, health: Health | None = None
) -> AsyncIterator[tuple[Api, Gateway]]:
    """The application with its engines, waiting for them to come up; closed in the reverse order."""
    async with AsyncExitStack() as stack:
        postgres, away = postgres_outage(settings.postgres_url), nats_outage(settings.nats_url)
        database = await _patiently(postgres, lambda: _connect_database(settings))
        stack.push_async_callback(database.close)
        came_back: list[Callable[[], None]] = []
        nc = await _patiently(away, lambda: _connect_nats(settings, away, came_back))
        stack.push_async_callback(nc.close)
        gateway = Gateway(nc, database, settings, memberships, refresh, filters_of(features), kinds_of(features))
        came_back.append(gateway.reconnected)
        stack.push_async_callback(gateway.close)
        await _patiently(away, gateway.open)
        budgets = RedisBudgets(settings.redis_url) if settings.redis_url else LocalBudgets()
        stack.push_async_callback(budgets.close)
        limits = RateLimits(settings, budgets)
        given = {Settings: settings, Database: database, Gateway: gateway, RateLimits: limits}
        services = services_of(features, given)
        stack.push_async_callback(services.close)
        if health is not None:
            health.watch(database, gateway)
        yield build_api(features, services, health.observe if health else None), gateway


def run_web(settings: Settings) -> None:
    """Serve the API until SIGTERM or SIGINT."""
    open_files = raise_open_files()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve_web(settings, open_files, open_sockets(settings)))


class Beside(NamedTuple):
    """What else is in the process of a web server (single.py)."""

    missing: Missing
    """What that waits for."""
    end: asyncio.Event
    """Ends the web server as SIGTERM does."""


async def serve_web(settings: Settings, open_files: int, sockets: Sockets, beside: Beside | None = None) -> None:
    """The port is open from the first moment; until the engines are there, the answer is that they are not."""
    proxies = proxies_of(settings.trusted_proxies)
    health = Health(proxies)
    opening = Opening()
    door = Door(settings.busy_seconds) if settings.busy_seconds else None
    connections = Connection.limited(limits_of(settings, open_files), proxies, door)
    health.watch_connections(connections.tally)
    config = uvicorn.Config(
        opening,
        http=connections,
        proxy_headers=False,
        headers=hsts_headers(settings),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=max(1, int(settings.keep_alive_seconds)),
        timeout_graceful_shutdown=max(1, int(settings.drain_seconds)),
    )
    server = DrainingServer(config, health=health)
    async with AsyncExitStack() as stack:
        stack.enter_context(traced(settings, "web"))
        if door is not None:
            door.open()
            stack.callback(door.close)
        missing = _first_of(health.missing, beside.missing) if beside else health.missing
        chores = [chore for feature in FEATURES for chore in feature.chores]
        monitor = partial(serve_monitor, settings, missing, health.registry, health.is_serving)
        await stack.enter_async_context(watched(settings, chores, monitor))
        if beside is not None:
            told = asyncio.create_task(_end_with(server, beside.end))
            stack.push_async_callback(end_tasks, [told])
        serving = asyncio.create_task(server.serve(several_of(sockets)))
        opened = asyncio.create_task(stack.enter_async_context(open_app(settings, health=health)))
        try:
            await asyncio.wait((serving, opened), return_when=asyncio.FIRST_COMPLETED)
            if opened.done():
                api, server.gateway = opened.result()
                collect_garbage_seldom()
                opening.open(api)
                config.loaded_app = api  # of connections that are made from now on
                log.info("web", host=settings.host, port=settings.port, version=__version__)
        finally:
            server.should_exit = server.should_exit or opening.app is None
            await end_tasks([] if opened.done() else [opened])
            await serving


def _first_of(one: Missing, other: Missing) -> Missing:
    async def missing() -> str | None:
        return await one() or await other()

    return missing


async def _end_with(server: "DrainingServer", end: asyncio.Event) -> None:
    await end.wait()
    server.should_exit = True


def hsts_headers(settings: Settings) -> list[tuple[str, str]]:
    """What tells browsers never to come without TLS. Only where people come with it."""
    is_secure = settings.external_scheme == "https" and settings.hsts
    return [("strict-transport-security", settings.hsts)] if is_secure else []


class DrainingServer(uvicorn.Server):
    """Ends waiting polls first: uvicorn waits for them otherwise, and they for their heartbeat."""

    def __init__(self, config: uvicorn.Config, gateway: Gateway | None = None, health: Health | None = None) -> None:
        super().__init__(config)
        self.gateway = gateway
        self._health = health

    async def startup(self, sockets: Any = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets)
        if self._health is not None:
            self._health.is_listening = self.started

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Remember it only: uvicorn would raise the signal again at the end, before our engines are closed."""
        self.should_exit = True

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop listening, let polls and requests under way end, close."""
        if self._health is not None:
            self._health.is_listening = False
        if self.gateway is not None:
            self.gateway.drain()
        await super().shutdown(sockets)


async def _connect_nats(settings: Settings, away: Outage, came_back: list[Callable[[], None]]) -> Client:
    async def on_error(error: Exception) -> None:
        away.goes_on(error)  # also at each try to connect again
        for tell in came_back:
            tell()  # a slow consumer lost events: look for what is missing

    async def on_reconnect() -> None:
        away.is_over()
        for tell in came_back:
            tell()

    client = NatsClient()
    await client.connect(
        **lasting_options(settings),
        name="tertulia web",
        max_reconnect_attempts=-1,
        reconnect_time_wait=0.25,
        ping_interval=5,
        max_outstanding_pings=2,
        error_cb=on_error,
        reconnected_cb=on_reconnect,
    )
    return client


async def _connect_database(settings: Settings) -> Database:
    return await Database.connect(
        settings.postgres_url,
        shards=settings.shards,
        size=settings.pool_size,
        bounds=bounds_of(settings, FEATURES),
        sealer=sealer_of(settings),
        limits=request_limits(settings),
        shared=settings.rate_limits,
        checked=True,
    )


async def _patiently(engine: Outage, connect: Callable[[], Awaitable[Any]]) -> Any:
    """Engines may come up after us: try until they answer."""
    while True:
        try:
            answer = await asyncio.wait_for(connect(), 15)
        except (*LOST, nats.errors.Error, StreamUnavailable, TimeoutError, asyncpg.InvalidCatalogNameError) as error:
            engine.goes_on(error)
            await asyncio.sleep(0.5)
        else:
            engine.is_over()
            return answer


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    import uvloop

    return uvloop.new_event_loop
