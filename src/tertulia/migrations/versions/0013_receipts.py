"""Erasures keep what their receipt says of what stays: counting it reads tables from end to end, which is no request's work."""

from tertulia.migrations.steps import run

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None
works_with = "0001"

# A program of the version before writes none: the receipt of what it erased is counted by the command.
SQL = """
-- By table: rows that still held the numbers of the accounts when all was done.
alter table erasure add column kept jsonb;
"""


def upgrade() -> None:
    """Add the column."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
