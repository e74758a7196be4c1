"""Organizations that come from an archive: how far each has come."""

from tertulia.migrations.steps import run

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None
works_with = "0001"

# A program of the version before does not look here: to it such an organization is a deactivated one.
SQL = """
-- Until it is finished, nobody finds the organization by its address.
create table realm_import (
    realm_id bigint primary key references realm on delete cascade,
    -- Which organization it is of, as the archive says, and which archive it was: the sum of its manifest.
    source text not null,
    digest bytea not null check (octet_length(digest) = 32),
    -- What is added to the ids of each kind.
    shifts jsonb not null,
    -- What is being written, and how many lines of it are there: changed by the transaction that writes them.
    stage text not null,
    lines bigint not null default 0,
    started timestamptz not null default now(),
    finished timestamptz
);
"""


def upgrade() -> None:
    """Make the table."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
