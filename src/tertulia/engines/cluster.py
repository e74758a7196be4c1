"""A PostgreSQL data folder: made whole or not at all, configured anew at each start.

The configuration is ours from the first line to the last, so that a newer Tertulia may change it; what an operator
wants to try goes into `local.conf` beside it.
"""

import os
import shutil
import subprocess
from pathlib import Path

from tertulia.engines.account import Account
from tertulia.engines.errors import EngineFailed

ADMIN = "tertulia"

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

timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
default_text_search_config = 'pg_catalog.english'
log_line_prefix = '%m [%p] '
include_if_exists = 'local.conf'
"""


def make_cluster(bin_dir: Path, cluster: Path, password_file: Path, account: Account | None) -> None:
    """Run initdb in a folder beside and rename it: an interrupted attempt leaves nothing that looks finished."""
    attempt = cluster.with_name(cluster.name + ".new")
    shutil.rmtree(attempt, ignore_errors=True)
    attempt.mkdir(mode=0o700)
    if account is not None:
        os.chown(attempt, account.uid, account.gid)
    command = [str(bin_dir / "initdb"), "--pgdata", str(attempt), "--encoding=UTF8", "--locale=C.UTF-8"]
    command += ["--username", ADMIN, "--auth=scram-sha-256", "--pwfile", str(password_file)]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd="/",
        env=clean_environment(),
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )
    if done.returncode != 0:
        shutil.rmtree(attempt, ignore_errors=True)
        raise EngineFailed(f"initdb could not make a database in {cluster}:\n{done.stdout.strip()}")
    attempt.rename(cluster)


def configure(cluster: Path, port: int) -> None:
    # Truncated and written in place: the file keeps the owner that initdb gave it.
    (cluster / "postgresql.conf").write_text(_CONFIGURATION.format(port=port))


def clean_environment() -> dict[str, str]:
    """Ours without libpq's and PostgreSQL's variables, which would redirect the programs to somebody else's server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}
