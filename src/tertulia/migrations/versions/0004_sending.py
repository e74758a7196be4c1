"""Messages as they are sent: what they mention and contain, who takes part in a topic, notices on their way."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SQL = """
-- Accounts of the server itself, one of each kind in every realm: no list of users has them, nobody logs in as them.
alter table account add column system_bot text check (system_bot in ('notification')),
    add check (system_bot is null or (bot_type = 1 and bot_owner_id is null and password_hash is null));
create unique index on account (realm_id, system_bot) where system_bot is not null;
insert into account (realm_id, email, email_key, full_name, bot_type, system_bot)
select id, 'notification-bot@tertulia.invalid', 'notification-bot@tertulia.invalid', 'Notification Bot', 1, 'notification'
from realm;

-- wildcard: 1 the whole channel is mentioned, 2 those who take part in the topic: a property of the message, never a row
-- for each person.
alter table message
    add column wildcard smallint not null default 0 check (wildcard between 0 and 3),
    add column has_link boolean not null default false,
    add column has_image boolean not null default false,
    add column has_attachment boolean not null default false;
create index on message (conversation_id, id) where wildcard > 0;

-- One row for each group a message mentions, however many belong to it.
create table message_group_mention (
    message_id bigint not null references message on delete cascade,
    group_id bigint not null references user_group,
    primary key (message_id, group_id)
);
create index on message_group_mention (group_id, message_id);

-- Who sent to a topic or reacted in it.
create table topic_participant (
    topic_id bigint not null references topic on delete cascade,
    user_id bigint not null references account,
    primary key (topic_id, user_id)
);

-- What the notification bot has to say, written by the transaction that gives it the reason to (notices/).
create table notice (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    body jsonb not null,
    created timestamptz not null default now()
);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
