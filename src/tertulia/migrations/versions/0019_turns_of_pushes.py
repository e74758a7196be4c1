"""Whose turn it is with pushes: everybody's first comes before anybody's second."""

from tertulia.migrations.steps import run

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None
works_with = "0001"

# Which of its browser's waiting pushes it was when it was written. What a program of the version before writes is the first.
SQL = "alter table push_call add column turn bigint not null default 1;"


def upgrade() -> None:
    """Add the turn."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
