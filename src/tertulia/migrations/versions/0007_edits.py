"""Messages as they change: revisions, moves, deletions."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

SQL = """
-- What a message was before. A row of a topic happened to all its messages up to the number `last_seq`, except those that
-- came into it later (message.topic_since): renaming a topic of a million messages is one row here.
create table message_revision (
    id bigint generated always as identity primary key,
    message_id bigint references message on delete cascade,
    topic_id bigint references topic on delete cascade,
    last_seq bigint,
    user_id bigint references account,
    changed_at timestamptz not null,
    prev_content text,
    prev_rendered text,
    prev_topic text,
    topic text,
    prev_channel_id bigint references channel,
    channel_id bigint references channel,
    check (num_nonnulls(message_id, topic_id) = 1),
    check ((topic_id is null) = (last_seq is null)),
    check ((prev_content is null) = (prev_rendered is null)),
    check ((prev_topic is null) = (topic is null)),
    check ((prev_channel_id is null) = (channel_id is null)),
    check (num_nonnulls(prev_content, prev_topic, prev_channel_id) > 0)
);
create index on message_revision (message_id) where message_id is not null;
create index on message_revision (topic_id, id) where topic_id is not null;

-- arrived: it came from another channel, so its number is not in the order of ids.
-- topic_since: revisions of the topic with an id up to this one were before the message came into the topic.
alter table message
    add column arrived boolean not null default false,
    add column topic_since bigint not null default 0;
create index on message (conversation_id, id) where arrived;
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
