"""Since when people agree to be in exports."""

from tertulia.migrations.steps import run

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None
works_with = "0001"

# A program of the version before does not note it: whoever agrees by one counts as having agreed before.
SQL = """
-- Since when they agree to be in exports, if they do (settings: allow_private_data_export). Where that is the default, since
-- they joined; whoever is here already counts as having agreed always.
alter table account add column consented timestamptz not null default '-infinity';
alter table account alter column consented set default now();
"""


def upgrade() -> None:
    """Add the time."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
