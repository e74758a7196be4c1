"""Alembic's entry: one connection, one transaction, one migrating process at a time."""

from alembic import context
from sqlalchemy import create_engine, text

from tertulia.kernel.postgres import connect_libpq

# Any number that no other program in this database uses: migrating processes wait for each other on it.
MIGRATION_LOCK = 7_370_117
CONNECT_SECONDS = 5
"""For each host of the address."""


def run() -> None:
    """Run the migrations under a lock; a migration never waits long for a table lock while others queue behind it."""
    # PostgreSQL's own library reads the address: SQLAlchemy knows no lists of hosts.
    url = context.config.attributes["postgres_url"]
    engine = create_engine(
        "postgresql+psycopg2://", creator=lambda: connect_libpq(url, connect_timeout=CONNECT_SECONDS)
    )
    with engine.begin() as connection:
        connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK})
        connection.execute(text("set local lock_timeout = '5s'"))
        context.configure(connection=connection, version_table="schema_version", transaction_per_migration=False)
        with context.begin_transaction():
            context.run_migrations()
    engine.dispose()


run()
