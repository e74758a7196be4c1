"""Composing: drafts, saved snippets, presence, statuses, scheduled messages, reminders."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

SQL = """
-- A draft goes to a channel, to people, or nowhere yet.
create table draft (
    id bigint generated always as identity primary key,
    user_id bigint not null references account on delete cascade,
    channel_id bigint references channel,
    user_ids bigint[] check (cardinality(user_ids) > 0),
    topic text not null check (char_length(topic) <= 60),
    content text not null check (content <> ''),
    edited_at timestamptz not null,
    check (channel_id is null or user_ids is null),
    check (topic = '' or channel_id is not null)
);
create index on draft (user_id, edited_at, id);

create table saved_snippet (
    id bigint generated always as identity primary key,
    user_id bigint not null references account on delete cascade,
    title text not null check (char_length(title) between 1 and 60),
    content text not null check (content <> ''),
    date_created timestamptz not null default now()
);
create index on saved_snippet (user_id, id);

-- Numbers the changes of a realm's presence. Whoever writes presences holds the row first, so that a change with a lower
-- number is never seen after one with a higher.
create table presence_clock (
    realm_id bigint primary key references realm on delete cascade,
    last_id bigint not null
);
create table presence (
    user_id bigint primary key references account on delete cascade,
    realm_id bigint not null references realm,
    -- When they last did something; null: never seen doing anything.
    active_at timestamptz,
    -- When a client of theirs was last connected.
    connected_at timestamptz not null,
    update_id bigint not null
) with (fillfactor = 70);
create index on presence (realm_id, update_id);
-- Whoever does not want to be seen is `away` in the words of older clients.
create index on account (realm_id) where settings->>'presence_enabled' = 'false';

create table user_status (
    user_id bigint primary key references account on delete cascade,
    status_text text not null default '' check (char_length(status_text) <= 60),
    -- All three are set, or none.
    emoji_name text not null default '',
    emoji_code text not null default '',
    reaction_type text not null default 'unicode_emoji'
        check (reaction_type in ('unicode_emoji', 'realm_emoji', 'service_extra_emoji')),
    check ((emoji_name = '') = (emoji_code = ''))
);

-- A message to be sent later. Whoever delivers it takes the row away in the same transaction.
create table scheduled_message (
    -- From the numbers of messages: it is never the id that the message has once it is sent, nor that of another one.
    id bigint primary key default nextval(pg_get_serial_sequence('message', 'id')),
    realm_id bigint not null references realm,
    user_id bigint not null references account on delete cascade,
    channel_id bigint references channel,
    -- Of a direct message: the others, or its author alone.
    user_ids bigint[] check (cardinality(user_ids) > 0),
    topic text not null default '',
    content text not null check (content <> ''),
    rendered text not null,
    client text not null check (char_length(client) <= 30),
    read boolean not null,
    due timestamptz not null,
    failed boolean not null default false,
    -- Grows with each change: whoever has judged an older one judges again.
    version integer not null default 1,
    check ((channel_id is null) <> (user_ids is null))
);
create index on scheduled_message (due) where not failed;
create index on scheduled_message (user_id, due);

create table reminder (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    user_id bigint not null references account on delete cascade,
    -- The message may be gone by then: its text as it was is kept.
    message_id bigint not null,
    content text not null,
    note text not null default '' check (char_length(note) <= 1000),
    rendered text not null,
    due timestamptz not null
);
create index on reminder (due);
create index on reminder (user_id, due);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
