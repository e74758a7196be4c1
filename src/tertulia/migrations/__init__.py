"""Database migrations: numbered, plain SQL, run by Alembic. Part of the package, so that an installed wheel can migrate.

`form.py` says which programs work with which database, `steps.py` what a migration is made of.

Every process asks `form.py` at its start, so Alembic, which takes half a second to load, is loaded by whoever migrates only.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tertulia.migrations.form import own_form

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Engine

FOLDER = Path(__file__).parent
VERSION_TABLE = "schema_version"
CONNECT_SECONDS = 5
"""For each host of the address."""
TRIES = 30
"""How often a migration asks for a lock that others hold. It waits 5 s each time, so that nobody waits behind it for long."""
PAUSE_SECONDS = 1.0


class Pending(NamedTuple):
    """A migration that a database has not had yet."""

    form: str
    what: str
    duration: str


def migrate(
    postgres_url: str,
    revision: str = "head",
    *,
    folder: Path = FOLDER,
    tell: Callable[[str], None] = lambda _text: None,
) -> None:
    """Bring the database to a form. Safe to run twice, from several machines at once, and while the server runs."""
    import psycopg2.errors
    from alembic import command
    from sqlalchemy.exc import OperationalError

    config = _config(postgres_url, folder)
    for left in reversed(range(TRIES)):
        try:
            command.upgrade(config, revision)
            return
        except OperationalError as error:
            if not left or not isinstance(error.orig, psycopg2.errors.LockNotAvailable):
                raise
            tell("somebody holds a lock that the next step needs; trying again")
            time.sleep(PAUSE_SECONDS)


def pending(postgres_url: str) -> list[Pending]:
    """What `migrate` would do, in order."""
    from alembic.script import ScriptDirectory

    script = ScriptDirectory.from_config(_config(postgres_url))
    found = _find_form(postgres_url)
    if found is not None and found > own_form():
        return []  # a newer program has migrated it
    steps = [one for one in script.walk_revisions() if found is None or one.revision > found]
    return [
        Pending(one.revision, (one.doc or "").splitlines()[0], getattr(one.module, "duration", "a moment"))
        for one in reversed(steps)
    ]


def engine_of(postgres_url: str) -> "Engine":
    """How SQLAlchemy reaches the database. PostgreSQL's own library reads the address: SQLAlchemy knows no lists of hosts.

    No pool: a lock of a session ends with its connection, also when a migration fails.
    """
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    from tertulia.kernel.postgres import connect_libpq

    def connect() -> Any:
        return connect_libpq(postgres_url, connect_timeout=CONNECT_SECONDS)

    return create_engine("postgresql+psycopg2://", creator=connect, poolclass=NullPool)


def _find_form(postgres_url: str) -> str | None:
    from alembic.runtime.migration import MigrationContext

    with engine_of(postgres_url).connect() as connection:
        return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()


def _config(postgres_url: str, folder: Path = FOLDER) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(folder))
    config.attributes["postgres_url"] = postgres_url
    return config
