"""Channels: folders, default channels."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SQL = """
create table channel_folder (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    name text not null check (char_length(name) between 1 and 60),
    name_key text not null,
    description text not null default '' check (char_length(description) <= 1024),
    rendered_description text not null default '',
    position bigint not null,
    creator_id bigint,
    date_created timestamptz not null default now(),
    is_archived boolean not null default false,
    unique (realm_id, id),
    foreign key (realm_id, creator_id) references account (realm_id, id)
);
create unique index on channel_folder (realm_id, name_key) where not is_archived;
alter table channel add foreign key (realm_id, folder_id) references channel_folder (realm_id, id);

-- Whoever joins the realm is subscribed to these.
create table default_channel (
    channel_id bigint primary key references channel,
    realm_id bigint not null references realm
);
create index on default_channel (realm_id);

-- Administrators see every channel: who they are is asked whenever something happens in a private one.
create index on account (realm_id, role) where role <= 200;

-- What the worker finds out about each channel from how far its numbers had come on each day
-- (conversations/channels/traffic.py): the lists of channels must not count messages.
alter table channel
    add column is_recently_active boolean not null default true,
    add column weekly_traffic integer check (weekly_traffic >= 0);
create index on channel (id) where not is_recently_active;
create table channel_day (
    channel_id bigint not null references channel,
    day date not null,
    last_seq bigint not null,
    primary key (channel_id, day)
);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
