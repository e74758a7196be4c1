"""Read states of many ranges are stored as they are: to compress them anew took most of the time of a send."""

from tertulia.migrations.steps import run

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None
works_with = "0001"

# Only what is written from now on is stored so. Nobody sees the difference, whatever version they run.
SQL = "alter table read_state alter column read set storage external;"


def upgrade() -> None:
    """Say it of the column."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
