"""The database of the first release.

The files of `first_release`, in this order.
"""

from pathlib import Path

from tertulia.migrations.steps import run

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None
works_with = "0001"

PARTS = ("organization", "people", "logins", "audit", "conversations", "messages", "files", "outside")


def upgrade() -> None:
    """Make the tables."""
    folder = Path(__file__).parents[1] / "first_release"
    for part in PARTS:
        run((folder / f"{part}.sql").read_text())


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
