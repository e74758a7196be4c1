"""Free ports on loopback.

Ports are taken from below the range that the kernel hands to outgoing connections. A port from inside that range can
be taken by a client's own connection while an engine is down, even by a client that tries to reconnect to that very
port (it then talks to itself): a restart on the same port would fail.

A port that was given out belongs to this process until it ends, although nobody may listen on it yet: the claim is an
abstract Unix socket named after it, which the kernel drops with the process. Without it two starts side by side, or
one start that asks five times, can be given the same number.
"""

import atexit
import random
import socket
from pathlib import Path

_LOWEST = 15_000
_RANGE_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")


_claims: list[socket.socket] = []
"""Open while this process lives."""


@atexit.register
def _drop_claims() -> None:
    for claim in _claims:
        claim.close()


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on, and that no other caller of this function was given."""
    end = _outgoing_start()
    for _ in range(200):
        port = random.randrange(_LOWEST, end)
        if _is_free(port) and _claim(port):
            return port
    with socket.socket() as probe:  # a crowded machine: any port is better than none
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _outgoing_start() -> int:
    try:
        start = int(_RANGE_FILE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        start = 32_768
    return max(start, _LOWEST + 1_000)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _claim(port: int) -> bool:
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0tertulia-port-{port}")
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True
