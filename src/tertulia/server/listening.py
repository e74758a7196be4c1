"""The sockets that a web process listens on: its own, or those that whoever started it holds.

`tertulia serve`, or systemd by a socket unit, keeps them open while one web process ends and the next one starts: who comes in
between waits for a moment, and is not refused. They are handed over as systemd does it: from number 3 on, `LISTEN_FDS` of them.
"""

import errno
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from tertulia.kernel.settings import Settings, SettingsError

Sockets: TypeAlias = list[socket.socket]
FIRST_HANDED_OVER: Final = 3
BACKLOG: Final = 4096
ACCEPTED_AT_ONCE: Final = 16
"""Connections of one turn of the event loop. libuv takes one of each socket: when turns are long, those who come would wait for
twenty seconds, and nobody could even tell them that there is too much to do."""


def open_sockets(settings: Settings, env: Mapping[str, str] = os.environ) -> Sockets:
    """Listening already, so that a port in use is known before anything else is done."""
    return _handed_over(env) or _bound(settings.host, settings.port)


def several_of(sockets: Sequence[socket.socket]) -> Sockets:
    """The same sockets, several times: of each the event loop takes one connection in each turn."""
    return [*sockets, *(one.dup() for one in sockets for _ in range(ACCEPTED_AT_ONCE - 1))]


def _handed_over(env: Mapping[str, str]) -> Sockets:
    """None, unless they are meant for this process."""
    if env.get("LISTEN_PID", str(os.getpid())) != str(os.getpid()):
        return []
    count = int(env.get("LISTEN_FDS", "0"))
    return [socket.socket(fileno=number) for number in range(FIRST_HANDED_OVER, FIRST_HANDED_OVER + count)]


def _bound(host: str, port: int) -> Sockets:
    opened: Sockets = []
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, address in dict.fromkeys(found):
            opened.append(listener := socket.socket(family, socket.SOCK_STREAM))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
    except OSError as problem:
        for listener in opened:
            listener.close()
        advice = ": another program uses it" if problem.errno == errno.EADDRINUSE else ""
        raise SettingsError(f"port {port} of {host} cannot be opened ({problem.strerror}){advice}") from problem
    return opened
