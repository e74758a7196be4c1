"""Find and run the two engines, PostgreSQL and nats-server, on this machine.

For `tertulia dev`, the tests, the bench, backups that are tried, and small sites (`tertulia serve --standalone`); other
production sites run their engines themselves.

Lifecycle: an engine is a context manager around one child process and one folder. It keeps its port and its secrets
over `kill`, `start` and `restart`; a new object on the same folder keeps the secrets and the data.

Invariants:
- What was acknowledged stays: fsync is never turned off, a crashed engine recovers on its next start.
- No engine outlives its parent, not even one that died by SIGKILL (on Linux).
- Only loopback is listened on, behind a password: on a shared machine other people's accounts stay out.

May import: kernel.settings. Engines are started from the main thread (see process.py).
"""

from tertulia.engines.errors import EngineFailed, EngineMissing
from tertulia.engines.find import find_nats_server, find_postgres, find_postgres_clients, find_wheel_postgres
from tertulia.engines.nats import Nats
from tertulia.engines.ports import free_port
from tertulia.engines.postgres import Postgres
from tertulia.engines.process import ChildProcess, dying_with_us

__all__ = [
    "ChildProcess",
    "EngineFailed",
    "EngineMissing",
    "Nats",
    "Postgres",
    "dying_with_us",
    "find_nats_server",
    "find_postgres",
    "find_postgres_clients",
    "find_wheel_postgres",
    "free_port",
]
