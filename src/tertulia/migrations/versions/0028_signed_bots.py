"""Bots for which a service signs: their key alone is not enough to send."""

from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

SQL = """
-- On the account, because it comes with the owner of a key: no other statement asks for it.
alter table account add column signed_only boolean not null default false;
update account set signed_only = true where id in (select user_id from hook_secret);
"""


def upgrade() -> None:
    """Add the column."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
