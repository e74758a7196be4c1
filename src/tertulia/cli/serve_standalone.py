"""`tertulia serve --standalone`: PostgreSQL, NATS and our own processes under one parent, with a backup each night.

Started in the order of need, stopped in reverse: what serves, NATS, PostgreSQL. If the parent dies all others do; the next start
recovers. It keeps the database in the form of the program by itself: nobody else runs on it.
"""

import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import psycopg2

from tertulia.cli.errors import CommandFailed
from tertulia.cli.full_disk import FullDisk
from tertulia.cli.nightly import NightlyBackup
from tertulia.cli.serve import TICK_SECONDS, parts_of, say
from tertulia.cli.supervise import OwnProcess, Supervisor, note_hangup, stop_on_signals
from tertulia.engines import Postgres
from tertulia.engines.standalone import standalone_engines
from tertulia.kernel.form import ASK, own_form
from tertulia.kernel.settings import Settings
from tertulia.server.listening import open_sockets

MOST_LOG_BYTES: Final = 1024 * 1024


def serve_standalone(settings: Settings, *, single: bool, engines_only: bool) -> None:
    """Until somebody says stop."""
    postgres, nats = standalone_engines(settings)
    folder = Path(settings.standalone_folder)
    _check_folder(folder, postgres.cluster, may_be_empty=engines_only)
    sockets = [] if engines_only else open_sockets(settings)
    supervisor = Supervisor(say)
    backup = NightlyBackup(settings, folder, say)
    disk = FullDisk(nats, supervisor, say)
    logs = [EngineLog(engine.name, engine.log) for engine in (postgres, nats)]
    with stop_on_signals():
        has_hangup_come = note_hangup()
        try:
            supervisor.add(postgres)
            supervisor.add(nats)
            if engines_only:
                _make_database(postgres, settings)
            else:
                _migrate(settings)
                for part in parts_of(settings, sockets, single=single):
                    supervisor.add(part)
            while True:
                if has_hangup_come():
                    supervisor.replace(lambda service: isinstance(service, OwnProcess))
                supervisor.tick()
                disk.tick()
                for log in logs:
                    log.tick()
                if not engines_only:
                    backup.tick()
                time.sleep(TICK_SECONDS)
        finally:
            backup.stop()
            supervisor.stop()
            for log in logs:
                log.tick()


def _check_folder(folder: Path, cluster: Path, *, may_be_empty: bool) -> None:
    """It is ours, and a disk that is not mounted is not taken for a new server."""
    try:
        owner = folder.stat().st_uid
    except OSError as problem:
        raise CommandFailed(
            f"{folder} cannot be used: {problem.strerror}. Did `tertulia init --standalone` run?"
        ) from problem
    if owner != os.geteuid():
        raise CommandFailed(f"{folder} is not yours: start it as its unit does (`systemctl restart tertulia`).")
    if not may_be_empty and not cluster.exists():
        raise CommandFailed(
            f"There is no database in {cluster}. Is its disk mounted? A backup is restored with --engines-only."
        )


def _make_database(postgres: Postgres, settings: Settings) -> None:
    """If somebody put the old one aside, to restore a backup."""
    from tertulia.cli.init.database import make_role_and_database

    with closing(psycopg2.connect(postgres.url)) as admin:
        admin.autocommit = True
        make_role_and_database(admin, settings.postgres_url)
    say("PostgreSQL and NATS are ready")


def _migrate(settings: Settings) -> None:
    """In a process of its own, which gives back the memory that it takes."""
    if not _needs_migration(settings):
        return
    say("bringing the database to the form of this program")
    process = OwnProcess("migrate", settings).process
    process.start()
    while process.is_alive():
        time.sleep(TICK_SECONDS)
    if process.exit_code != 0:
        raise CommandFailed("The database could not be brought to the form of this program: see above.")


def _needs_migration(settings: Settings) -> bool:
    """Asked with what PostgreSQL was started with: asyncpg would stay in the memory of this process for nothing."""
    with closing(psycopg2.connect(settings.postgres_url)) as connection, connection.cursor() as cursor:
        cursor.execute("select to_regclass('oldest_program')")
        if cursor.fetchone() == (None,):
            return True
        cursor.execute(ASK)
        [form, _] = cursor.fetchone() or ("", "")
        return (form or "") < own_form()


class EngineLog:
    """Passes on what an engine writes to its file, so that there is one log; the file is emptied before it grows large."""

    def __init__(self, name: str, path: Path) -> None:
        self._name, self._path = name, path
        self._position = path.stat().st_size if path.exists() else 0

    def tick(self, write: Callable[[str], object] = sys.stderr.write) -> None:
        """Pass on the lines that came."""
        size = self._path.stat().st_size if self._path.exists() else 0
        if size == self._position:
            return
        with self._path.open("rb+") as file:
            file.seek(self._position)
            added = file.read()
            whole = added[: added.rfind(b"\n") + 1]
            self._position += len(whole)
            if self._position > MOST_LOG_BYTES:
                file.truncate(0)  # it is appended to; what came within this microsecond is lost
                self._position = 0
        for line in whole.decode(errors="replace").splitlines():
            write(f"{self._name}: {line}\n")
