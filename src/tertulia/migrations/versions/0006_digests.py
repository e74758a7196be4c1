"""How far the weekly digest of an organization has come."""

from tertulia.migrations.steps import run

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None
works_with = "0001"

SQL = """
-- The last day, in UTC, on which an organization's digests were made, and up to which person. Null: up to the last one.
create table digest_run (
    realm_id bigint primary key references realm on delete cascade,
    day date not null,
    after_user bigint
);
create index on digest_run (realm_id) where after_user is not null;
"""


def upgrade() -> None:
    """Make the table."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
