"""Previews of links: what pages say of themselves, which messages wait for it, and which shall not show it."""

from tertulia.migrations.steps import run

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None
works_with = "0001"

SQL = """
create table link_preview (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm on delete cascade,
    url text not null check (octet_length(url) <= 2000),
    -- The person who linked it while it waits.
    named_by bigint references account on delete set null,
    -- 0 is to be fetched, 1 is there, 2 cannot be had.
    state smallint not null default 0 check (state between 0 and 2),
    tries smallint not null default 0,
    -- Not to be fetched before then: somebody is at it, or it failed a moment ago.
    due timestamptz not null default now(),
    -- When it was clear what it is.
    settled_at timestamptz,
    title text not null default '' check (char_length(title) <= 200),
    description text not null default '' check (char_length(description) <= 500),
    -- Of its picture, which remote_picture has.
    picture_url text not null default '' check (char_length(picture_url) <= 2000),
    picture_signature text not null default '',
    unique (realm_id, url),
    check ((state = 1) = (title <> '')),
    check ((state = 0) = (settled_at is null))
);
create index on link_preview (realm_id, id) where state = 0;
create index on link_preview (named_by) where state = 0;
create index on link_preview (settled_at) where state <> 0;

-- Messages that will show a preview as soon as it is there. What is shown stands in their HTML.
create table link_preview_wait (
    message_id bigint not null references message on delete cascade,
    preview_id bigint not null references link_preview on delete cascade,
    primary key (message_id, preview_id)
);
create index on link_preview_wait (preview_id, message_id);

-- Previews that the author does not want below a message, whatever its text becomes.
create table link_preview_removed (
    message_id bigint not null references message on delete cascade,
    url text not null check (octet_length(url) <= 2000),
    primary key (message_id, url)
);
"""


def upgrade() -> None:
    """Make the tables."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
