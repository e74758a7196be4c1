"""When whoever logged in at a provider had last proved to it who they are."""

from tertulia.migrations.steps import run

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None
works_with = "0001"

# Of sessions that a program of the version before begins it is not known: they count from their own beginning.
SQL = """
alter table browser_session add column proved timestamptz;
"""


def upgrade() -> None:
    """Add it."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
