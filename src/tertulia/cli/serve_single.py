"""`tertulia serve --single`: the three parts in this very process (server/single.py).

SIGHUP: requests under way are answered, and then this process becomes the program anew, whatever is installed now. The socket
stays open meanwhile, so who calls waits for a moment.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec
import uvloop

from tertulia.cli.processes import begin
from tertulia.kernel.settings import Settings
from tertulia.server.listening import FIRST_HANDED_OVER, Sockets, open_sockets
from tertulia.server.single import serve_all

WEB_PORT = 2
"""Metrics are where those of web are among three processes."""
_ASIDE = 200
"""Numbers of files that are not in use while sockets get theirs."""


def serve_single(config: Path | None) -> None:
    """Until somebody says stop."""
    settings = begin(config, "server")
    if settings.metrics_port:
        settings = msgspec.structs.replace(settings, metrics_port=settings.metrics_port + WEB_PORT)
    sockets = open_sockets(settings)
    kept = [listener.dup() for listener in sockets]  # the others are closed in the end
    if uvloop.run(_serve(settings, sockets)):
        _become_anew(kept)


async def _serve(settings: Settings, sockets: Sockets) -> bool:
    """Whether to begin anew."""
    end, hangups = asyncio.Event(), []

    def hang_up() -> None:
        hangups.append(True)
        end.set()

    if not sys.stdin.isatty():  # a terminal that closes ends what runs in it
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, hang_up)
    await serve_all(settings, sockets, end)
    return bool(hangups)


def _become_anew(sockets: Sockets) -> None:
    away = [os.dup2(listener.fileno(), _ASIDE + index) for index, listener in enumerate(sockets)]
    for index, number in enumerate(away):
        os.dup2(number, FIRST_HANDED_OVER + index, inheritable=True)
        os.close(number)
    os.environ |= {"LISTEN_FDS": str(len(sockets)), "LISTEN_PID": str(os.getpid())}
    os.execv(sys.executable, sys.orig_argv)
