"""A PostgreSQL primary and standbys that follow it, as they would run on machines of their own, and their promotion.

From 17 on the standbys keep a copy of the relay's slot, and the primary shows the relay only what they have
(`synchronized_standby_slots`). What the primary waits for before it answers a commit, each test says.
"""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import psycopg2

from tertulia.engines import ChildProcess, Postgres
from tertulia.engines.account import engine_account
from tertulia.engines.cluster import ADMIN, clean_environment
from tertulia.engines.find import postgres_version
from tertulia.engines.reach import reachable_cluster, reachable_programs
from tests.system.relay_site import administer

SLOTS_ARE_SYNCHRONISED_SINCE = 17


class Node(Postgres):
    """One server, with settings of its own."""

    def __init__(self, bin_dir: Path, folder: Path, port: int) -> None:
        super().__init__(bin_dir, folder, port=port)
        self.version = postgres_version(bin_dir) or 0

    @property
    def password(self) -> str:
        return (self.folder / "password").read_text().strip()

    def set(self, **settings: str) -> None:
        """Replace the settings of this node; they hold from the next start or `reload`."""
        path = self.cluster / "local.conf"
        path.write_text("".join(f"{name} = '{value}'\n" for name, value in settings.items()))
        path.chmod(0o644)

    def reload(self, **settings: str) -> None:
        self.set(**settings)
        administer(self, "select pg_reload_conf()")

    def ask(self, query: str, database: str = "postgres") -> str | None:
        """The first column of the first row, as text."""
        connection = psycopg2.connect(self.url_of(database))
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(query)
                row = cursor.fetchone()
                return None if row is None or row[0] is None else str(row[0])
        finally:
            connection.close()

    def promote(self) -> None:
        """As `pg_ctl promote` does it; returns when it takes writes."""
        assert self.ask("select pg_promote()") == "True"


def follow(primary: Node, folder: Path, name: str, port: int) -> Node:
    """Make a standby of a running primary: a copy, started."""
    standby = Node(primary._bin_dir, folder, port)
    folder.mkdir(mode=0o711, parents=True)
    shutil.copy(primary.folder / "password", folder / "password")
    standby.cluster.mkdir(mode=0o700)
    account = engine_account()
    if account is not None:
        os.chown(standby.cluster, account.uid, account.gid)
    administer(primary, f"select pg_create_physical_replication_slot('{name}', true)")
    program = str(reachable_programs(primary._bin_dir, account) / "pg_basebackup")
    target = str(reachable_cluster(standby.cluster, account))
    source = f"host=127.0.0.1 port={primary.port} user={ADMIN} password={primary.password} dbname=postgres"
    copying = ChildProcess(
        [program, "-D", target, "-d", source, "-S", name, "-X", "stream", "-c", "fast"],
        folder / "copy.log",
        env=clean_environment(),
        account=account,
        folder=standby.cluster,
    )
    copying.start()
    assert copying.wait(60), "the copy does not end"
    assert copying.exit_code == 0, (folder / "copy.log").read_text()
    (standby.cluster / "standby.signal").touch()
    settings = {
        "primary_conninfo": f"{source} application_name={name}".replace("'", ""),
        "primary_slot_name": name,
        "hot_standby_feedback": "on",
    }
    if standby.version >= SLOTS_ARE_SYNCHRONISED_SINCE:
        settings["sync_replication_slots"] = "on"
    standby.set(**settings)
    standby.start()
    return standby


def wait_until(ask: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not ask():
        assert time.monotonic() < deadline, "in vain"
        time.sleep(0.05)
