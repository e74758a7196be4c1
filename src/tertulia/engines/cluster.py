"""A PostgreSQL data folder: made whole or not at all, configured anew at each start.

The configuration is ours from the first line to the last, so that a newer Tertulia may change it; what an operator
wants to try goes into `local.conf` beside it.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from tertulia.engines.account import Account
from tertulia.engines.errors import EngineFailed
from tertulia.engines.process import ChildProcess
from tertulia.engines.reach import reachable_cluster

ADMIN = "tertulia"
DATABASE = "tertulia"
_INITDB_SECONDS = 120.0

# fsync, full_page_writes and synchronous_commit stay at their defaults (on): an acknowledged message is never lost.
_CONFIGURATION = """\
# Written by tertulia at each start. Put your own settings into local.conf in this folder.
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
max_connections = 200
password_encryption = 'scram-sha-256'

wal_level = logical
max_replication_slots = 16
max_wal_senders = 16
max_slot_wal_keep_size = -1
max_wal_size = '2GB'

shared_buffers = '256MB'
effective_cache_size = '1GB'
work_mem = '8MB'
maintenance_work_mem = '128MB'
random_page_cost = 1.1
jit = off
{more}
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
default_text_search_config = 'pg_catalog.english'
log_line_prefix = '%m [%p] '
# The details of an error show the row: addresses, and what people said.
log_error_verbosity = 'terse'
include_if_exists = 'local.conf'
"""

# What is said twice in one file holds as it is said last.
_PRODUCTION = """
fsync = on
full_page_writes = on
synchronous_commit = on
max_connections = 100
max_slot_wal_keep_size = '10GB'
max_wal_size = '1GB'
shared_buffers = '{shared}MB'
effective_cache_size = '{cache}MB'
work_mem = '4MB'
maintenance_work_mem = '64MB'
"""
_SMALLEST, _LARGEST = 160, 1024
"""MiB of `shared_buffers`."""


class Purpose(NamedTuple):
    """What a PostgreSQL of ours is for."""

    admin: str
    """Its superuser."""
    database: str | None
    """Made at the first start, with the superuser as its owner."""
    more: str
    """Of its configuration."""
    ready_seconds: float
    """How long a start may take: recovery after a crash may have much to replay."""


TRIAL = Purpose(ADMIN, DATABASE, "", 120.0)
"""`tertulia dev`, and tests: whoever tries things out may do everything."""


def production() -> Purpose:
    """`tertulia serve --standalone`: the server's own role owns its database and can do nothing else (`tertulia init`)."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1024**2
    shared = min(max(memory // 8, _SMALLEST), _LARGEST)
    return Purpose("postgres", None, _PRODUCTION.format(shared=shared, cache=memory // 2), 3600.0)


def make_cluster(bin_dir: Path, cluster: Path, admin: str, password: str, account: Account | None) -> None:
    """Run initdb in a folder beside and rename it: an interrupted attempt leaves nothing that looks finished."""
    attempt = cluster.with_name(cluster.name + ".new")
    shutil.rmtree(attempt, ignore_errors=True)
    attempt.mkdir(mode=0o700)
    if account is not None:
        os.chown(attempt, account.uid, account.gid)
    log = cluster.with_name("initdb.log")
    name = reachable_cluster(attempt, account)
    command = [str(bin_dir / "initdb"), "--pgdata", str(name), "--encoding=UTF8", "--locale=C.UTF-8"]
    command += ["--username", admin, "--auth=scram-sha-256"]
    common = "/tmp" if account else None  # noqa: S108 -- TMPDIR may be closed to the account
    with tempfile.NamedTemporaryFile("w", prefix="tertulia-", dir=common) as password_file:
        if account is not None:
            os.fchown(password_file.fileno(), account.uid, account.gid)
        password_file.write(password)
        password_file.flush()
        process = ChildProcess(
            [*command, "--pwfile", password_file.name], log, env=clean_environment(), account=account, folder=attempt
        )
        process.start()
        process.wait(_INITDB_SECONDS)
    if process.exit_code != 0:
        process.kill()
        raise EngineFailed(f"initdb could not make a database in {cluster}; see {log}:\n{log.read_text()[-2000:]}")
    attempt.rename(cluster)


def configure(cluster: Path, port: int, more: str) -> None:
    # Truncated and written in place: the file keeps the owner that initdb gave it.
    (cluster / "postgresql.conf").write_text(_CONFIGURATION.format(port=port, more=more))


def clean_environment() -> dict[str, str]:
    """Ours without libpq's and PostgreSQL's variables, which would redirect the programs to somebody else's server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}
