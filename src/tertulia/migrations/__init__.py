"""Database migrations: numbered, plain SQL, run by Alembic. Part of the package, so that an installed wheel can migrate.

`kernel/form.py` says which programs work with which database, `steps.py` what a migration is made of, `plan.py`
what is about to be done.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg2
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from tertulia.kernel.postgres import connect_libpq
from tertulia.migrations.plan import OlderPrograms as OlderPrograms
from tertulia.migrations.plan import Pending, check_nobody_is_older, describe

FOLDER = Path(__file__).parent
VERSION_TABLE = "schema_version"
MIGRATION_LOCK = 7_370_117
"""Any number that no other program in this database uses: migrating processes wait for each other on it, and for backups."""
CONNECT_SECONDS = 5
"""For each host of the address."""
TRIES = 30
"""How often a migration asks for a lock that others hold. It waits 5 s each time, so that nobody waits behind it for long."""
PAUSE_SECONDS = 1.0


def migrate(
    postgres_url: str,
    revision: str = "head",
    *,
    folder: Path = FOLDER,
    beside_older: bool = False,
    tell: Callable[[str], None] = lambda _text: None,
) -> None:
    """Bring the database to a form. Safe to run twice, from several machines at once, and while the server runs.

    A step that takes away what connected programs need is refused, before anything is done; not with `beside_older`.
    """
    config = _config(postgres_url, folder)
    ending = max((step.ends for step in pending(postgres_url, folder=folder)), default="")
    if ending and not beside_older:
        with engine_of(postgres_url).connect() as connection:
            check_nobody_is_older(connection, ending)
    for left in reversed(range(TRIES)):
        try:
            command.upgrade(config, revision)
            return
        except OperationalError as error:
            if not left or not isinstance(error.orig, psycopg2.errors.LockNotAvailable):
                raise
            tell("somebody holds a lock that the next step needs; trying again")
            time.sleep(PAUSE_SECONDS)


def pending(postgres_url: str, *, folder: Path = FOLDER) -> list[Pending]:
    """What `migrate` would do, in order."""
    script = ScriptDirectory.from_config(_config(postgres_url, folder))
    newest = script.get_current_head() or ""
    with engine_of(postgres_url).connect() as connection:
        found = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()
        if found is not None and found > newest:
            return []  # a newer program has migrated it
        oldest = connection.execute(text("select form from oldest_program")).scalar() if found else None
        steps = []
        for one in reversed([one for one in script.walk_revisions() if found is None or one.revision > found]):
            steps.append(describe(connection, one, oldest or one.module.works_with))
            oldest = max(oldest or "", one.module.works_with)
        return steps


def engine_of(postgres_url: str) -> Engine:
    """How SQLAlchemy reaches the database. PostgreSQL's own library reads the address: SQLAlchemy knows no lists of hosts.

    No pool: a lock of a session ends with its connection, also when a migration fails.
    """

    def connect() -> Any:
        return connect_libpq(postgres_url, connect_timeout=CONNECT_SECONDS)

    return create_engine("postgresql+psycopg2://", creator=connect, poolclass=NullPool)


def _config(postgres_url: str, folder: Path = FOLDER) -> Config:
    config = Config()
    config.set_main_option("script_location", str(folder))
    config.attributes["postgres_url"] = postgres_url
    return config
