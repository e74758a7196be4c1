"""Alembic's entry: one migrating process at a time, and a transaction for each migration that wants one."""

from typing import Any

from alembic import context
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from tertulia.kernel.postgres import connect_libpq

# Any number that no other program in this database uses: migrating processes wait for each other on it.
MIGRATION_LOCK = 7_370_117
CONNECT_SECONDS = 5
"""For each host of the address."""
NOTE = text(
    "insert into oldest_program (form) values (:form)"
    " on conflict (only_one) do update set form = greatest(oldest_program.form, excluded.form)"
)


def run() -> None:
    """Run the migrations under a lock; a migration never waits long for a table lock while others queue behind it."""
    # PostgreSQL's own library reads the address: SQLAlchemy knows no lists of hosts.
    url = context.config.attributes["postgres_url"]
    # No pool: the lock below ends with the connection, also when a migration fails.
    engine = create_engine(
        "postgresql+psycopg2://",
        creator=lambda: connect_libpq(url, connect_timeout=CONNECT_SECONDS),
        poolclass=NullPool,
    )
    with engine.connect() as connection:
        # Of the session: migrations that make indexes concurrently are in no transaction.
        connection.execute(text("select pg_advisory_lock(:lock)"), {"lock": MIGRATION_LOCK})
        connection.execute(text("set lock_timeout = '5s'"))
        connection.commit()
        context.configure(
            connection=connection,
            version_table="schema_version",
            transaction_per_migration=True,
            on_version_apply=_note,  # type: ignore[arg-type]
        )
        with context.begin_transaction():
            context.run_migrations()
        connection.commit()


def _note(*, ctx: Any, step: Any, heads: Any, run_args: Any) -> None:  # noqa: ARG001 -- Alembic gives them by name
    """In the transaction of the migration itself: no program starts on a database that it does not understand."""
    ctx.connection.execute(NOTE, {"form": step.up_revision.module.works_with})


run()
