"""Outgoing webhooks: calls to bots' servers that are to be made."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

SQL = """
-- Written by the transaction that sends the message, deleted when the call was answered or given up.
create table hook_call (
    bot_id bigint not null references account on delete cascade,
    message_id bigint not null references message on delete cascade,
    attempts integer not null default 0,
    -- While a worker makes the call, this lies ahead: if the worker dies, another one makes it again then.
    due timestamptz not null default now(),
    primary key (message_id, bot_id)
);
create index on hook_call (due);
"""


def upgrade() -> None:
    """Make the table."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
