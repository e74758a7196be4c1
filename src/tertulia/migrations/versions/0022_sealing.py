"""Sealed columns are longer than their secrets (`tertulia secrets reseal` seals what is there); secrets of webhooks."""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

SQL = """
alter table push_subscription drop constraint push_subscription_auth_secret_check;

-- What a service that posts for a bot has to show besides the bot's key. Sealed.
create table hook_secret (
    id bigint generated always as identity primary key,
    user_id bigint not null references account on delete cascade,
    integration text not null check (char_length(integration) <= 40),
    secret text not null,
    unique (user_id, integration)
);
"""


def upgrade() -> None:
    """Change the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
