"""Uploads: files people bring, which messages link to them, and objects that belong to nobody."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

SQL = """
create table attachment (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    owner_id bigint not null references account,
    -- {realm_id}/{two letters}/{secret}/{name}: what its address ends with.
    path_id text not null unique,
    -- Of the object in the store. Nobody is ever told, so it also signs the links that work without logging in.
    key text not null unique,
    name text not null check (name <> ''),
    size bigint not null check (size >= 0),
    -- Found in its first bytes, never what the sender says.
    content_type text not null,
    created_at timestamptz not null default now(),
    -- When a message last ceased to link it.
    unlinked_at timestamptz,
    -- 0 no picture, 1 its thumbnail is still to be made, 2 is there, 3 cannot be made.
    thumbnail smallint not null default 0 check (thumbnail between 0 and 3),
    -- Not before then: somebody else is making it.
    thumbnail_due timestamptz not null default now(),
    width int not null default 0,
    height int not null default 0,
    frames int not null default 0
);
create index on attachment (owner_id, id);
create index on attachment (id) where thumbnail = 1;
create index on attachment (coalesce(unlinked_at, created_at));

create table attachment_link (
    message_id bigint not null references message on delete cascade,
    attachment_id bigint not null references attachment on delete cascade,
    -- The message shows that the picture's thumbnail is still being made.
    is_waiting boolean not null default false,
    primary key (message_id, attachment_id)
);
create index on attachment_link (attachment_id, message_id);
create index on attachment_link (attachment_id) where is_waiting;

-- Objects that no row owns: being written, or left behind. What is due is deleted.
create table orphan_object (
    key text primary key,
    due timestamptz not null
);
create index on orphan_object (due);

-- Uploads in parts (tus). The parts are orphaned objects that are due some time after the upload expires.
create table resumable_upload (
    id text primary key,
    realm_id bigint not null references realm,
    owner_id bigint not null references account on delete cascade,
    name text not null,
    size bigint not null check (size >= 0),
    arrived bigint not null default 0 check (arrived between 0 and size),
    -- All parts but the last one, in order: it becomes known with the whole file.
    keys text[] not null default '{}',
    -- The file that came of it.
    attachment_id bigint references attachment on delete cascade,
    expires_at timestamptz not null
);
create index on resumable_upload (owner_id);
create index on resumable_upload (expires_at);
create index on resumable_upload (attachment_id);

-- How much an organization has uploaded. The row decides who gets the last of the quota.
create table upload_space (
    realm_id bigint primary key references realm on delete cascade,
    used bigint not null check (used >= 0)
);
"""


def upgrade() -> None:
    """Create the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
