"""What people decide about topics: muted, unmuted, followed."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SQL = """
-- 1 muted, 2 unmuted, 3 followed; no row: as the channel.
create table topic_policy (
    user_id bigint not null references account on delete cascade,
    topic_id bigint not null references topic on delete cascade,
    policy smallint not null check (policy between 1 and 3),
    updated_at timestamptz not null default now(),
    primary key (user_id, topic_id)
);
create index on topic_policy (topic_id);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
