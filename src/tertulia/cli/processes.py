"""The processes of the server, each a command; `tertulia serve` (serve.py) runs them all on one machine."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tertulia.kernel.settings import Settings

ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="A TOML file with settings; TERTULIA_* variables win over it.")
]


def web(config: ConfigFile = None) -> None:
    """Run one web process: the HTTP API and event delivery."""
    settings = begin(config, "web")
    from tertulia.server.web import run_web

    run_web(settings)


def relay(config: ConfigFile = None) -> None:
    """Run the relay from PostgreSQL to NATS; a second one waits as the stand-by."""
    settings = begin(config, "relay")
    from tertulia.events.relay.process import run_relay

    run_until_stopped(lambda stop: run_relay(settings, stop))


def relay_or_more(context: typer.Context, config: ConfigFile = None) -> None:
    """Run the relay from PostgreSQL to NATS; a second one waits as the stand-by. Or ask about it."""
    if context.invoked_subcommand is None:
        relay(config)


def worker(config: ConfigFile = None) -> None:
    """Run one worker: work that is due later."""
    settings = begin(config, "worker")
    from tertulia.server.worker import run_worker

    run_until_stopped(lambda stop: run_worker(settings, stop))


def begin(config: Path | None, process: str) -> "Settings":
    """The settings of a process that has a log from now on. Call it before anything of the server is loaded."""
    from tertulia.kernel.process import load_structlog

    load_structlog()
    import structlog

    from tertulia.cli.target import settings_file
    from tertulia.kernel.log import configure_logging
    from tertulia.kernel.settings import load_settings
    from tertulia.kernel.variables import unknown_variables

    settings = load_settings(settings_file(config))
    configure_logging(settings, process)
    for told in unknown_variables():
        structlog.get_logger().warning("a variable is no setting", problem=told)
    return settings


def run_until_stopped(work: Callable[[asyncio.Event], Coroutine[None, None, None]]) -> None:
    """Run until the work is done; Ctrl-C and SIGTERM set the event, and the work ends itself in its own time."""
    import uvloop

    async def run() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await work(stop)

    uvloop.run(run())
