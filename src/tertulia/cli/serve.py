"""`tertulia serve`: web, relay, worker and, if mail comes in, mail on this machine, as processes or as one."""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tertulia.cli.errors import CommandFailed
from tertulia.cli.processes import ConfigFile
from tertulia.cli.target import configured_settings

if TYPE_CHECKING:
    import socket

    from tertulia.cli.supervise import OwnProcess
    from tertulia.kernel.settings import Settings

TICK_SECONDS = 0.1


def serve(
    config: ConfigFile = None,
    single: Annotated[
        bool, typer.Option("--single", help="One process for all three, which takes half the memory; for small sites.")
    ] = False,
    standalone: Annotated[
        bool,
        typer.Option("--standalone", help="PostgreSQL and NATS, too: those that `tertulia init --standalone` set up."),
    ] = False,
    engines_only: Annotated[
        bool, typer.Option("--engines-only", help="With --standalone: nothing but these, to restore a backup.")
    ] = False,
) -> None:
    """Run web, relay and worker on this machine and keep them up. SIGHUP restarts them; who calls then waits a moment."""
    if engines_only and not standalone:
        raise CommandFailed("--engines-only is for servers that run their engines themselves: --standalone.")
    if single and not standalone:
        from tertulia.cli.serve_single import serve_single

        serve_single(config)
        return
    settings = configured_settings(config)
    if standalone:
        from tertulia.cli.serve_standalone import serve_standalone

        serve_standalone(settings, single=single, engines_only=engines_only)
    else:
        _serve(settings)


def _serve(settings: "Settings") -> None:
    from tertulia.cli.supervise import Supervisor, note_hangup, stop_on_signals
    from tertulia.server.listening import open_sockets

    sockets = open_sockets(settings)
    supervisor = Supervisor(say)
    with stop_on_signals():
        has_hangup_come = note_hangup()
        try:
            for part in parts_of(settings, sockets, single=False):
                supervisor.add(part)
            while True:
                if has_hangup_come():
                    supervisor.replace()
                supervisor.tick()
                time.sleep(TICK_SECONDS)
        finally:
            supervisor.stop()


def parts_of(settings: "Settings", sockets: "Sequence[socket.socket]", *, single: bool) -> "Iterator[OwnProcess]":
    """Our processes, in the order in which they start."""
    import msgspec

    from tertulia.cli.supervise import OwnProcess

    if single:
        yield OwnProcess("server", settings, sockets=sockets, arguments=("serve", "--single"))
        return
    names = ("relay", "worker", "web", "mail") if settings.mail_in_address else ("relay", "worker", "web")
    for index, name in enumerate(names):
        own = settings
        if settings.metrics_port:  # each has one of its own, from the one that is set
            own = msgspec.structs.replace(settings, metrics_port=settings.metrics_port + index)
        yield OwnProcess(name, own, sockets=sockets if name == "web" else ())


def say(text: str) -> None:
    """To the log."""
    typer.echo(f"tertulia serve: {text}", err=True)
