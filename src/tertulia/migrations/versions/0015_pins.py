"""Pinned messages of topics and direct conversations."""

from tertulia.migrations.steps import run

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None
works_with = "0001"

# A program of the version before pins nothing, and moves messages without their pins: those are listed where the message was.
SQL = """
create table pin (
    message_id bigint primary key references message on delete cascade,
    -- Where the message is: whoever moves it moves its pin.
    conversation_id bigint not null,
    -- Null in a direct conversation.
    topic_id bigint,
    pinned_at timestamptz not null default now()
);
create index on pin (topic_id);
create index on pin (conversation_id) where topic_id is null;
"""


def upgrade() -> None:
    """Make the table."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
