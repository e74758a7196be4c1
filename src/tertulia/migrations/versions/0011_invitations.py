"""Invitations and addresses of who signs up; what bots remember; playgrounds; channels that keep messages for a while."""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

SQL = """
-- An invitation to one address, or a link for many (email is null). It is deleted when it is used or taken back.
create table invitation (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    inviter_id bigint not null,
    email text,
    email_key text,
    invited_as smallint not null check (invited_as in (100, 200, 300, 400, 600)),
    channel_ids bigint[] not null,
    group_ids bigint[] not null,
    with_defaults boolean not null,
    tells_inviter boolean not null,
    -- Of the key in the link. Lists show the links for many again, so their key is stored as well.
    digest bytea not null unique check (length(digest) = 32),
    key text,
    created timestamptz not null default now(),
    -- Null: never.
    expires timestamptz,
    foreign key (realm_id, inviter_id) references account (realm_id, id) on delete cascade,
    check ((email is null) = (email_key is null)),
    check ((email is null) = (key is not null))
);
create index on invitation (realm_id, id);
create index on invitation (realm_id, email_key) where email_key is not null;
create index on invitation (inviter_id);
create index on invitation (expires) where expires is not null;

-- An address that somebody has typed: it is theirs if they bring the key back that was sent there.
create table signup (
    digest bytea primary key check (length(digest) = 32),
    realm_id bigint not null references realm,
    email text not null,
    email_key text not null,
    -- The link for many they came by; null: everybody may join.
    invitation_id bigint references invitation on delete cascade,
    expires timestamptz not null
);
create index on signup (realm_id, email_key);
create index on signup (invitation_id);
create index on signup (expires);

-- How many mails of invitations an organization had sent on a day (UTC).
create table invitation_mails (
    realm_id bigint not null references realm,
    day date not null,
    mails integer not null,
    primary key (realm_id, day)
);

-- Texts of an account's own; size: characters of key and value.
create table bot_storage (
    user_id bigint not null references account on delete cascade,
    key text not null,
    value text not null,
    size integer not null,
    primary key (user_id, key)
);

create table playground (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    name text not null check (char_length(name) between 1 and 40),
    pygments_language text not null check (char_length(pygments_language) between 1 and 40),
    url_template text not null,
    unique (realm_id, pygments_language, name)
);

-- For the worker that looks for messages that are kept no longer (messaging/editing/retention/actions.py).
create index on channel (id) where message_retention_days > 0;
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
