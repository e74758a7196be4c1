"""The processes of the server, each a command; `serve` runs them all on one machine."""

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="A TOML file with settings; TERTULIA_* variables win over it.")
]


def serve(config: ConfigFile = None) -> None:
    """Run web, relay and worker on this machine and keep them up."""
    import msgspec

    from tertulia.cli.supervise import OwnProcess, Supervisor, stop_on_signals
    from tertulia.kernel.settings import load_settings

    settings = load_settings(config)
    supervisor = Supervisor(lambda text: typer.echo(f"tertulia serve: {text}", err=True))
    with stop_on_signals():
        try:
            for index, name in enumerate(("relay", "worker", "web")):
                own = settings
                if settings.metrics_port:  # each has one of its own, from the one that is set
                    own = msgspec.structs.replace(settings, metrics_port=settings.metrics_port + index)
                supervisor.add(OwnProcess(name, own))
            while True:
                supervisor.tick()
                time.sleep(0.1)
        finally:
            supervisor.stop()


def web(config: ConfigFile = None) -> None:
    """Run one web process: the HTTP API and event delivery."""
    from tertulia.kernel.log import configure_logging
    from tertulia.kernel.settings import load_settings
    from tertulia.server.web import run_web

    settings = load_settings(config)
    configure_logging(settings, "web")
    run_web(settings)


def relay(config: ConfigFile = None) -> None:
    """Run the relay from PostgreSQL to NATS; a second one waits as the stand-by."""
    from tertulia.events.relay.process import run_relay
    from tertulia.kernel.log import configure_logging
    from tertulia.kernel.settings import load_settings

    settings = load_settings(config)
    configure_logging(settings, "relay")
    _run_until_stopped(lambda stop: run_relay(settings, stop))


def worker(config: ConfigFile = None) -> None:
    """Run one worker: work that is due later."""
    from tertulia.kernel.log import configure_logging
    from tertulia.kernel.settings import load_settings
    from tertulia.server.worker import run_worker

    settings = load_settings(config)
    configure_logging(settings, "worker")
    _run_until_stopped(lambda stop: run_worker(settings, stop))


def _run_until_stopped(work: Callable[[asyncio.Event], Coroutine[None, None, None]]) -> None:
    """Run until the work is done; Ctrl-C and SIGTERM set the event, and the work ends itself in its own time."""
    import uvloop

    async def run() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await work(stop)

    uvloop.run(run())
