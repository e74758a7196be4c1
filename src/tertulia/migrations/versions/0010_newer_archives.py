"""Organizations that came from an archive, and can be brought up to date by a newer one."""

from tertulia.migrations.steps import run

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None
works_with = "0001"

# A program of the version before writes none of these: what it imported is not brought up to date.
SQL = """
alter table realm_import
    -- Of which moment the archive is, and whose private data it has.
    add column moment timestamptz,
    add column scope text,
    -- Of each kind the last id that is kept free for newer archives: whatever is made here has a higher one.
    add column reserved jsonb,
    -- Whether a newer archive takes the place of one that was whole: then people are there already.
    add column renews boolean not null default false;
"""


def upgrade() -> None:
    """Add the columns."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
