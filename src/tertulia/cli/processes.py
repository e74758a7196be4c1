"""The processes of the server, each a command; `serve` runs them all on one machine."""

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertulia.cli.target import configured_settings

if TYPE_CHECKING:
    from tertulia.kernel.settings import Settings

ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="A TOML file with settings; TERTULIA_* variables win over it.")
]


def serve(config: ConfigFile = None) -> None:
    """Run web, relay and worker on this machine and keep them up. SIGHUP restarts them; who calls then waits a moment."""
    import msgspec

    from tertulia.cli.supervise import OwnProcess, Supervisor, note_hangup, stop_on_signals
    from tertulia.server.listening import open_sockets

    settings = configured_settings(config)
    sockets = open_sockets(settings)
    supervisor = Supervisor(lambda text: typer.echo(f"tertulia serve: {text}", err=True))
    with stop_on_signals():
        has_hangup_come = note_hangup()
        try:
            for index, name in enumerate(("relay", "worker", "web")):
                own = settings
                if settings.metrics_port:  # each has one of its own, from the one that is set
                    own = msgspec.structs.replace(settings, metrics_port=settings.metrics_port + index)
                supervisor.add(OwnProcess(name, own, sockets=sockets if name == "web" else ()))
            while True:
                if has_hangup_come():
                    supervisor.replace()
                supervisor.tick()
                time.sleep(0.1)
        finally:
            supervisor.stop()


def web(config: ConfigFile = None) -> None:
    """Run one web process: the HTTP API and event delivery."""
    from tertulia.server.web import run_web

    run_web(_begin(config, "web"))


def relay(config: ConfigFile = None) -> None:
    """Run the relay from PostgreSQL to NATS; a second one waits as the stand-by."""
    from tertulia.events.relay.process import run_relay

    settings = _begin(config, "relay")
    _run_until_stopped(lambda stop: run_relay(settings, stop))


def relay_or_more(context: typer.Context, config: ConfigFile = None) -> None:
    """Run the relay from PostgreSQL to NATS; a second one waits as the stand-by. Or ask about it."""
    if context.invoked_subcommand is None:
        relay(config)


def worker(config: ConfigFile = None) -> None:
    """Run one worker: work that is due later."""
    from tertulia.server.worker import run_worker

    settings = _begin(config, "worker")
    _run_until_stopped(lambda stop: run_worker(settings, stop))


def _begin(config: Path | None, process: str) -> "Settings":
    """The settings of a process that has a log from now on."""
    import structlog

    from tertulia.kernel.log import configure_logging
    from tertulia.kernel.settings import load_settings
    from tertulia.kernel.variables import unknown_variables

    settings = load_settings(config)
    configure_logging(settings, process)
    for told in unknown_variables():
        structlog.get_logger().warning("a variable is no setting", problem=told)
    return settings


def _run_until_stopped(work: Callable[[asyncio.Event], Coroutine[None, None, None]]) -> None:
    """Run until the work is done; Ctrl-C and SIGTERM set the event, and the work ends itself in its own time."""
    import uvloop

    async def run() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await work(stop)

    uvloop.run(run())
