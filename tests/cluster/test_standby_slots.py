"""deploy/cluster/standby-slots beside a PostgreSQL that was the primary and is a standby now."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tertulia.engines import ChildProcess, find_postgres, free_port
from tertulia.engines.cluster import ADMIN
from tertulia.kernel.settings import load_settings
from tests.cluster.templates import FOLDER
from tests.system.postgres_node import SLOTS_ARE_SYNCHRONISED_SINCE, Node, wait_until

pytestmark = pytest.mark.cluster
SLOT = "tertulia_events"


class Two:
    """The one was the primary, and the other is."""

    def __init__(self, folder: Path) -> None:
        programs = find_postgres(load_settings())
        self.programs = programs
        self.old, self.new = (Node(programs, folder / name, free_port()) for name in ("old", "new"))
        if self.old.version < SLOTS_ARE_SYNCHRONISED_SINCE:
            pytest.skip("only PostgreSQL 17 and newer copy slots")

    def fail_over(self) -> None:
        """With nothing lost: the old primary ends properly."""
        self.old.start()
        self.old.ask("select pg_create_logical_replication_slot(%s, 'pgoutput', false, false, true)", SLOT)
        self._follow(self.new, self.new.copy_from(self.old, "127.0.0.1", "new"), "new")
        self.new.start_standby()
        wait_until(lambda: is_synced(self.new, self.old))
        self.old.stop()
        self.new.promote()

    def come_back(self) -> None:
        """The old primary follows the new one, as Patroni lets it."""
        self.new.ask("select pg_create_physical_replication_slot('old', true)")
        self._follow(self.old, self.new.source("127.0.0.1"), "old")
        (self.old.cluster / "standby.signal").touch()
        self.old.start_standby()

    def kill(self) -> None:
        for node in (self.old, self.new):
            if node._process is not None:
                node.kill()

    def _follow(self, node: Node, source: str, name: str) -> None:
        node.set(
            primary_conninfo=source, primary_slot_name=name, hot_standby_feedback="on", sync_replication_slots="on"
        )


def is_synced(standby: Node, primary: Node) -> bool:
    """The primary's slot has to move on before its copy can be used: here nobody else moves it."""
    primary.ask("select pg_log_standby_snapshot()")
    primary.ask("select pg_replication_slot_advance(%s, pg_current_wal_lsn())", SLOT)
    standby.ask("select pg_reload_conf()")  # wakes the one who copies
    time.sleep(0.3)
    rows = standby.ask("select synced and not temporary from pg_replication_slots where slot_name = %s", SLOT)
    return rows == [(True,)]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    made = Two(tmp_path)
    try:
        made.fail_over()
        yield made
    finally:
        made.kill()


@contextmanager
def standby_slots(two: Two, node: Node, log: Path) -> Iterator[None]:
    where = {"PGHOST": "127.0.0.1", "PGPORT": str(node.port), "PGUSER": ADMIN, "PGPASSWORD": node.password}
    programs = {"PSQL": str(two.programs / "psql"), "PATH": os.environ["PATH"]}
    loop = ChildProcess(["/bin/bash", str(FOLDER / "standby-slots")], log, env=where | programs)
    loop.start()
    try:
        yield
    finally:
        loop.kill()


def test_a_primary_that_came_back_as_a_standby_copies_the_slot_of_the_new_one(two: Two, tmp_path: Path) -> None:
    two.come_back()
    wait_until(lambda: two.old.ask("select 1 from pg_stat_wal_receiver where status = 'streaming'"))
    assert two.old.ask("select synced from pg_replication_slots where slot_name = %s", SLOT) == [(False,)]
    with standby_slots(two, two.old, tmp_path / "slots.log"):
        wait_until(lambda: is_synced(two.old, two.new))


def test_whoever_follows_nobody_keeps_its_slot(two: Two, tmp_path: Path) -> None:
    """Patroni starts the last primary as a standby before it makes it the primary again: that slot is the relay's."""
    two.new.stop()
    (two.new.cluster / "standby.signal").touch()
    two.new.set(primary_conninfo="", hot_standby_feedback="on")
    two.new.start_standby()
    with standby_slots(two, two.new, tmp_path / "slots.log"):
        time.sleep(4)
    assert two.new.ask("select failover from pg_replication_slots where slot_name = %s", SLOT) == [(True,)]
