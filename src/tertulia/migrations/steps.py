"""What a migration is made of. Each is one of two kinds (tests/rules/test_migrations.py reads them all):

- `SQL`: statements in one transaction. None rewrites a table or holds a lock for long.
- `REPEATABLE`: statements that stand alone, outside of any transaction: indexes made concurrently, rows changed in batches.
  If the process dies in between, all of them run again.

And each says in `works_with` the oldest form of the database whose programs work on its result (kernel/form.py).
"""

from collections.abc import Sequence

from alembic import op


def run(sql: str) -> None:
    """Statements in the migration's transaction."""
    op.execute(sql)


def run_alone(statements: Sequence[str]) -> None:
    """Statements that PostgreSQL runs in no transaction, or that must not be one together."""
    with op.get_context().autocommit_block():
        for statement in statements:
            op.execute(statement)
