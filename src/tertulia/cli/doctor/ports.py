"""Whether our ports are free, or ours."""

import errno
import http.client
import socket
from contextlib import closing

from tertulia.cli.doctor import Several
from tertulia.cli.doctor.processes import PROCESSES
from tertulia.kernel.settings import Settings


def look_at_ports(settings: Settings, *, is_dev: bool) -> str:
    """Somebody who answers there as we would is us."""
    if is_dev:
        return "chosen by `tertulia dev`"
    wanted = [(settings.host, settings.port, "/api/v1/server_settings", b'"result"')]
    first = settings.metrics_port
    monitors = range(first, first + PROCESSES) if first else ()
    wanted += [(settings.metrics_host, port, "/health/live", b"alive") for port in monitors]
    problems, running = [], 0
    for host, port, path, sign in wanted:
        if (fault := _fault(host, port)) is None:
            continue
        if sign in _answer(host, port, path):
            running += 1
        else:
            problems.append(f"port {port} of {host} {fault}")
    if problems:
        raise Several(problems)
    return f"{running} in use by this server, {len(wanted) - running} free"


def _fault(host: str, port: int) -> str | None:
    """Why we could not listen there."""
    try:
        [(family, _, _, _, address), *_] = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as problem:
        return (
            "is used by another program" if problem.errno == errno.EADDRINUSE else f"cannot be used: {problem.strerror}"
        )
    return None


def _answer(host: str, port: int, path: str) -> bytes:
    here = "127.0.0.1" if host in ("", "0.0.0.0") else "::1" if host == "::" else host  # noqa: S104
    with closing(http.client.HTTPConnection(here, port, timeout=5)) as connection:
        try:
            connection.request("GET", path)
            return connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            return b""
