"""Addresses that mail comes in at: of answers to mails about missed messages, and of channels."""

from tertulia.migrations.steps import run

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None
works_with = "0001"

SQL = """
-- One for each mail that can be answered. Who knows the token may write there as that person, until it expires.
create table reply_address (
    digest bytea primary key check (octet_length(digest) = 32),
    user_id bigint not null references account on delete cascade,
    conversation_id bigint not null references conversation on delete cascade,
    -- A topic ends when all its messages are moved away; then its name counts. So it is no reference.
    topic_id bigint,
    topic text check (char_length(topic) <= 60),
    expires timestamptz not null,
    check ((topic_id is null) = (topic is null))
);
create index on reply_address (user_id);
create index on reply_address (conversation_id);
create index on reply_address (expires);

-- Made when somebody asks for one. Mail to it becomes a message of that account.
create table channel_address (
    id bigint generated always as identity primary key,
    channel_id bigint not null references channel on delete cascade,
    sender_id bigint not null references account on delete cascade,
    digest bytea not null unique check (octet_length(digest) = 32),
    -- Sealed.
    token text not null,
    unique (channel_id, sender_id)
);
create index on channel_address (sender_id);
"""


def upgrade() -> None:
    """Make the tables."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
