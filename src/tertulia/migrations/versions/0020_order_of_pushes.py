"""The index that finds whose turn it is with pushes."""

from tertulia.migrations.steps import run_alone

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None
works_with = "0001"

REPEATABLE = ("create index concurrently if not exists push_call_turn on push_call (turn, due)",)


def upgrade() -> None:
    """Make the index."""
    run_alone(REPEATABLE)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
