"""PostgreSQL and NATS that the server runs itself (`tertulia serve --standalone`): ports, passwords, and a first start.

PostgreSQL runs while the database is made, as the account that will run it, and is stopped again: root opens nothing in the
folder of that account.
"""

import os
import pwd
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tertulia.cli.errors import CommandFailed
from tertulia.cli.init.saying import say

if TYPE_CHECKING:
    from tertulia.cli.init.settings_file import SettingsFile, Wanted
    from tertulia.engines.account import Account

STATE: Final = Path("/var/lib/tertulia")
POSTGRES_PORT, NATS_PORT = 9995, 9996
"""If they are free. Those of the server itself are right below."""
_MORE = """
# PostgreSQL and NATS are run by `tertulia serve --standalone`, which keeps their data here.
standalone_folder = "{folder}"
postgres_bin = "wheel"
nats_server = "wheel"
pool_size = 5    # each connection takes up to 20 MB in PostgreSQL; 10 is usual for more than some hundred people

# Each night a backup is made into the same folder. Elsewhere is safer: a disk on another machine, or a bucket.
# backup_place = "s3://bucket/prefix"
# backup_recipients = "age1..."          # `tertulia backup new-key` makes one
# nightly_backup = ""                    # never
"""


@contextmanager
def own_postgres(file: "SettingsFile", wanted: "Wanted", folder: Path, owner: str | None) -> Iterator["Wanted"]:
    """What is wanted of a PostgreSQL of our own, which runs meanwhile."""
    from tertulia.cli.init.database import find_wal_level
    from tertulia.engines.as_account import PostgresAsAccount
    from tertulia.engines.standalone import standalone_postgres
    from tertulia.kernel.settings import Settings
    from tertulia.kernel.urls import split_url

    found = file.find()
    if found is not None and not found.standalone_folder:
        raise CommandFailed(f"{file.path} is there already, for engines that somebody else runs.")
    if found is not None and find_wal_level(found.postgres_url) is not None:
        yield wanted  # the server runs
        return
    folder = Path(found.standalone_folder) if found else folder
    port = (split_url(found.postgres_url).port if found else None) or _free(POSTGRES_PORT)
    account = _account(owner)
    _make_folder(folder, account)
    settings = found or Settings(postgres_bin="wheel")
    postgres = (
        PostgresAsAccount(settings, folder, port, account) if account else standalone_postgres(settings, folder, port)
    )
    say(f"starting PostgreSQL in {folder}")
    with postgres:
        more = _MORE.format(folder=folder)
        nats_url = f"nats://tertulia:{secrets.token_hex(16)}@127.0.0.1:{_free(NATS_PORT)}"
        yield wanted._replace(postgres_admin=postgres.url, nats_url=nats_url, more=more)


def _free(port: int) -> int:
    from tertulia.engines import free_port

    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return free_port()
    return port


def _account(name: str | None) -> "Account | None":
    from tertulia.engines.account import Account

    if name is None:
        return None
    found = pwd.getpwnam(name)
    return Account(name, found.pw_uid, found.pw_gid)


def _make_folder(folder: Path, account: "Account | None") -> None:
    if not folder.exists():
        folder.mkdir(parents=True)
        folder.chmod(0o700 if account or os.geteuid() else 0o711)  # as root, PostgreSQL runs as somebody else
    if account is not None:
        os.chown(folder, account.uid, account.gid, follow_symlinks=False)
