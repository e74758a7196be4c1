"""Alembic's entry: one migrating process at a time, and a transaction for each migration that wants one."""

from typing import Any

from alembic import context
from sqlalchemy import text

from tertulia.migrations import MIGRATION_LOCK, VERSION_TABLE, engine_of

NOTE = text(
    "insert into oldest_program (form) values (:form)"
    " on conflict (only_one) do update set form = greatest(oldest_program.form, excluded.form)"
)


def run() -> None:
    """Run the migrations under a lock; a migration never waits long for a table lock while others queue behind it."""
    with engine_of(context.config.attributes["postgres_url"]).connect() as connection:
        # Of the session: migrations that make indexes concurrently are in no transaction.
        connection.execute(text("select pg_advisory_lock(:lock)"), {"lock": MIGRATION_LOCK})
        connection.execute(text("set lock_timeout = '5s'"))
        connection.commit()
        context.configure(
            connection=connection,
            version_table=VERSION_TABLE,
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
