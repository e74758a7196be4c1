"""Which invitations were handed over as links, so that only who may still vouch for an address does."""

from tertulia.migrations.steps import run

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None
works_with = "0001"

# What a program of the version before makes counts as sent by mail, as all links did until now.
SQL = "alter table invitation add column is_handed_over boolean not null default false;"


def upgrade() -> None:
    """Add the mark."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
