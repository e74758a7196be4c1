"""Foundation: realms, accounts, conversations, topics, messages, read state, and the relay's memory."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SQL = """
create table realm (
    id bigint generated always as identity primary key,
    subdomain text not null unique check (subdomain = '' or subdomain ~ '^[a-z0-9][a-z0-9-]{0,38}$'),
    uuid uuid not null default gen_random_uuid(),
    name text not null check (char_length(name) between 1 and 40),
    description text not null default '',
    date_created timestamptz not null default now(),
    is_active boolean not null default true,
    -- Only what differs from the defaults of organization/realms/settings.py.
    settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object')
);

create table account (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    email text not null check (char_length(email) between 3 and 254),
    -- The lower-cased address, made by the application: the database's own notion of case depends on its locale.
    email_key text not null,
    full_name text not null check (char_length(full_name) between 1 and 100),
    role smallint not null default 400 check (role in (100, 200, 300, 400, 600)),
    bot_type smallint check (bot_type between 1 and 4),
    bot_owner_id bigint,
    is_active boolean not null default true,
    is_imported_stub boolean not null default false,
    date_joined timestamptz not null default now(),
    timezone text not null default '',
    avatar_version integer not null default 1,
    password_hash text,
    settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
    unique (realm_id, email_key),
    unique (realm_id, id),
    foreign key (realm_id, bot_owner_id) references account (realm_id, id),
    check (bot_owner_id is null or bot_type is not null)
);

create table api_key (
    id bigint generated always as identity primary key,
    user_id bigint not null references account on delete cascade,
    digest bytea not null unique check (length(digest) = 32),
    label text not null default '',
    created timestamptz not null default now(),
    last_used timestamptz
);
create index on api_key (user_id);

-- Every permission names a group. System groups have no member rows: who belongs to them follows from the role.
create table user_group (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    name text not null check (char_length(name) between 1 and 100),
    description text not null default '',
    is_system boolean not null default false,
    unique (realm_id, name),
    unique (realm_id, id),
    check (is_system = (name like 'role:%'))
);

-- A channel, or a set of people who talk directly. Numbers its messages: last_seq is advanced under the row's lock, so
-- inside a conversation seq order, id order and commit order are the same.
create table conversation (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    last_seq bigint not null default 0 check (last_seq >= 0),
    -- Ascending user ids of a direct conversation; null for a channel.
    participants bigint[] check (cardinality(participants) > 0),
    unique (realm_id, id),
    unique (realm_id, participants)
) with (fillfactor = 50);

-- A channel is a conversation with a name: it has the conversation's id.
create table channel (
    id bigint primary key,
    realm_id bigint not null,
    name text not null check (char_length(name) between 1 and 60),
    name_key text not null,
    description text not null default '' check (char_length(description) <= 1024),
    rendered_description text not null default '',
    invite_only boolean not null default false,
    is_web_public boolean not null default false,
    history_public_to_subscribers boolean not null default true,
    is_archived boolean not null default false,
    creator_id bigint,
    date_created timestamptz not null default now(),
    message_retention_days integer check (message_retention_days = -1 or message_retention_days > 0),
    topics_policy text not null default 'inherit'
        check (topics_policy in ('inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only')),
    folder_id bigint,
    -- Active accounts with an active subscription; changed in the transaction that changes either.
    subscriber_count integer not null default 0 check (subscriber_count >= 0),
    can_add_subscribers_group bigint not null,
    can_administer_channel_group bigint not null,
    can_create_topic_group bigint not null,
    can_delete_any_message_group bigint not null,
    can_delete_own_message_group bigint not null,
    can_move_messages_out_of_channel_group bigint not null,
    can_move_messages_within_channel_group bigint not null,
    can_remove_subscribers_group bigint not null,
    can_resolve_topics_group bigint not null,
    can_send_message_group bigint not null,
    can_subscribe_group bigint not null,
    unique (realm_id, name_key),
    foreign key (realm_id, id) references conversation (realm_id, id),
    foreign key (realm_id, creator_id) references account (realm_id, id),
    foreign key (realm_id, can_add_subscribers_group) references user_group (realm_id, id),
    foreign key (realm_id, can_administer_channel_group) references user_group (realm_id, id),
    foreign key (realm_id, can_create_topic_group) references user_group (realm_id, id),
    foreign key (realm_id, can_delete_any_message_group) references user_group (realm_id, id),
    foreign key (realm_id, can_delete_own_message_group) references user_group (realm_id, id),
    foreign key (realm_id, can_move_messages_out_of_channel_group) references user_group (realm_id, id),
    foreign key (realm_id, can_move_messages_within_channel_group) references user_group (realm_id, id),
    foreign key (realm_id, can_remove_subscribers_group) references user_group (realm_id, id),
    foreign key (realm_id, can_resolve_topics_group) references user_group (realm_id, id),
    foreign key (realm_id, can_send_message_group) references user_group (realm_id, id),
    foreign key (realm_id, can_subscribe_group) references user_group (realm_id, id),
    check (history_public_to_subscribers or invite_only),
    check (not (is_web_public and invite_only))
);

create table subscription (
    user_id bigint not null references account,
    channel_id bigint not null references channel,
    is_active boolean not null default true,
    color text not null check (color ~ '^#[0-9a-f]{6}$'),
    is_muted boolean not null default false,
    pin_to_top boolean not null default false,
    desktop_notifications boolean,
    audible_notifications boolean,
    push_notifications boolean,
    email_notifications boolean,
    wildcard_mentions_notify boolean,
    primary key (user_id, channel_id)
);
create index on subscription (channel_id) where is_active;

create table topic (
    id bigint generated always as identity primary key,
    conversation_id bigint not null references channel,
    name text not null check (char_length(name) <= 60),
    name_key text not null,
    -- The seq of the newest message; 0: none yet (a policy was set first). Topic lists read this table only.
    last_seq bigint not null default 0,
    unique (conversation_id, name_key),
    unique (conversation_id, id)
) with (fillfactor = 70);

create table message (
    id bigint generated always as identity (cache 1) primary key,
    realm_id bigint not null,
    conversation_id bigint not null references conversation,
    seq bigint not null check (seq > 0),
    -- Null in direct conversations.
    topic_id bigint,
    sender_id bigint not null references account,
    sent_at timestamptz not null default clock_timestamp(),
    client text not null check (char_length(client) <= 30),
    content text not null check (content <> ''),
    rendered text not null,
    unique (conversation_id, seq),
    foreign key (conversation_id, topic_id) references topic (conversation_id, id)
);
create index on message (conversation_id, id);
create index on message (topic_id, id) where topic_id is not null;

-- Read state is a set of numbers, never a row per message. `history` holds the numbers that were sent while the user
-- belonged to the conversation; an open end means that they belong to it now.
create table read_state (
    conversation_id bigint not null references conversation,
    user_id bigint not null references account,
    read int8multirange not null default '{}',
    history int8multirange not null default '{}',
    primary key (conversation_id, user_id)
) with (fillfactor = 70);
create index on read_state (user_id);

-- What is truly personal and rare: a row for each flag a user has on a message (model: conversations/read_state/marks.py).
create table message_mark (
    user_id bigint not null references account,
    flag smallint not null,
    message_id bigint not null references message on delete cascade,
    primary key (user_id, flag, message_id)
);
create index on message_mark (message_id);

-- Idempotency-Key of POST /messages; kept for a day.
create table sent_request (
    sender_id bigint not null references account on delete cascade,
    key text not null check (char_length(key) between 1 and 200),
    message_id bigint not null,
    sent_at timestamptz not null default now(),
    primary key (sender_id, key)
);
create index on sent_request (sent_at);

-- The relay's memory: what it knows to be in the event log (events/relay).
create table relay_checkpoint (
    shard integer primary key,
    epoch bigint not null,
    seq bigint not null,
    pos text not null,
    updated_at timestamptz not null default now()
);
create table relay_state (
    id integer primary key check (id = 1),
    epoch bigint not null,
    system_identifier text not null,
    timeline integer not null
);

-- No tables: only the messages of pg_logical_emit_message travel through it.
create publication tertulia_events;
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """There is nothing before the foundation."""
    raise NotImplementedError("the first migration cannot be undone: drop the database instead")
