"""Indexes for those who want to hear of every message in a channel, which would otherwise ask all subscribers each time, and
for all accounts with one address."""

from tertulia.migrations.steps import run_alone

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None
works_with = "0001"

REPEATABLE = (
    """
    create index concurrently if not exists subscription_eager on subscription (channel_id, user_id)
    where is_active and (push_notifications or email_notifications)
    """,
    """
    create index concurrently if not exists account_eager on account (realm_id, id)
    where settings ?| array['enable_stream_push_notifications', 'enable_stream_email_notifications']
    """,
    "create index concurrently if not exists account_address on account (email_key)",
)


def upgrade() -> None:
    """Make the indexes."""
    run_alone(REPEATABLE)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
