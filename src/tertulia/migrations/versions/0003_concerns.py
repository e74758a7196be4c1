"""Whom a message concerns: decided in steps, so that a message to very many people is dealt with a part at a time."""

from tertulia.migrations.steps import run

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None
works_with = "0001"

# People with a number up to `after_user` are dealt with. A program of the version before ignores it and deals with all.
SQL = """
alter table push_due add column after_user bigint not null default 0;
"""


def upgrade() -> None:
    """Add the column."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
