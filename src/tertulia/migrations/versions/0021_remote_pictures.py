"""Pictures from elsewhere: fetched once by the worker, kept in the store, and what of the stored HTML is to be made private."""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

SQL = """
-- Signs the addresses of pictures. Among the settings, because these come with every caller.
create function new_picture_key() returns jsonb language sql volatile as $$
    select jsonb_build_object('_picture_key', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''))
$$;
update realm set settings = settings || new_picture_key();
alter table realm alter column settings set default new_picture_key();

create table remote_picture (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm on delete cascade,
    -- What our address of it ends with; made of its own address and the realm's key.
    signature text not null check (signature ~ '^[0-9a-f]{64}$'),
    url text not null check (length(url) <= 2000),
    -- 0 is to be fetched, 1 is there, 2 cannot be had, or was removed to make room.
    state smallint not null default 0 check (state between 0 and 2),
    tries smallint not null default 0,
    -- Not to be fetched before then: somebody is at it, or it failed a moment ago.
    due timestamptz not null default now(),
    -- When it was clear what it is.
    settled_at timestamptz,
    -- When to look whether any message still shows it.
    check_due timestamptz not null default now() + interval '1 hour',
    -- Of its objects in the store.
    key text unique,
    size bigint not null default 0,
    content_type text not null default '',
    width int not null default 0,
    height int not null default 0,
    frames int not null default 0,
    unique (realm_id, signature),
    check ((state = 1) = (key is not null))
);
create index on remote_picture (realm_id, id) where state = 0;
create index on remote_picture (realm_id, settled_at) where state = 1;
create index on remote_picture (check_due);

create table remote_picture_link (
    message_id bigint not null references message on delete cascade,
    picture_id bigint not null references remote_picture on delete cascade,
    -- The message shows that the picture is still being fetched.
    is_waiting boolean not null default true,
    primary key (message_id, picture_id)
);
create index on remote_picture_link (picture_id, message_id);
create index on remote_picture_link (picture_id) where is_waiting;

-- How much the pictures of a realm take. The row decides whose pictures have to go.
create table remote_picture_space (
    realm_id bigint primary key references realm on delete cascade,
    used bigint not null check (used >= 0)
);

-- How far the HTML of messages from before was gone through; without a row all of it was.
create table rendering_pass (
    part text primary key check (part in ('message', 'message_revision')),
    last_id bigint not null default 0
);
insert into rendering_pass (part) select 'message' where exists (select from message);
insert into rendering_pass (part) select 'message_revision' where exists (select from message_revision);

-- Descriptions have no pictures, but may have had sounds. There are few of them.
create function without_remote_sounds(html text) returns text language sql immutable as $$
    select regexp_replace(
        html, '<audio controls="" preload="metadata" src="(?!/?user_uploads/)([^"]*)" title="([^"]*)"></audio>',
        '!<a href="\\1">\\2</a>', 'g'
    )
$$;
update channel set rendered_description = without_remote_sounds(rendered_description)
where strpos(rendered_description, '<audio ') > 0;
update channel_folder set rendered_description = without_remote_sounds(rendered_description)
where strpos(rendered_description, '<audio ') > 0;
drop function without_remote_sounds(text);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
