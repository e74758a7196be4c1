"""People take turns with their thumbnails."""

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

SQL = """
create index attachment_waiting on attachment (coalesce(share_of, owner_id), id) where thumbnail = 1;
drop index attachment_id_idx;
"""


def upgrade() -> None:
    """Another index."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
