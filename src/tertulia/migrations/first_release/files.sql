-- Files, and pictures from elsewhere.

create table attachment (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    owner_id bigint not null references account,
    -- The person who uploaded it, by themselves or by a bot: giving the bot away does not empty the share. Null: it takes
    -- none of anybody's, because an administrator uploaded it.
    share_of bigint references account on delete set null,
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
create index on attachment (coalesce(unlinked_at, created_at));
create index on attachment (share_of) include (size) where share_of is not null;
-- Thumbnails are made by turns of those who uploaded.
create index attachment_waiting on attachment (coalesce(share_of, owner_id), id) where thumbnail = 1;

create function take_share_of_owner() returns trigger language plpgsql as $$
begin
    select coalesce(bot_owner_id, id) into new.share_of from account where id = new.owner_id and role > 200;
    return new;
end
$$;
create trigger take_share before insert on attachment for each row execute function take_share_of_owner();

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
-- What arrived of uploads under way is counted for each part.
create index on resumable_upload (realm_id) where attachment_id is null;

-- How much an organization has uploaded. The row decides who gets the last of the quota.
create table upload_space (
    realm_id bigint primary key references realm on delete cascade,
    used bigint not null check (used >= 0)
);

create table remote_picture (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm on delete cascade,
    -- What our address of it ends with; made of its own address and the realm's key.
    signature text not null check (signature ~ '^[0-9a-f]{64}$'),
    url text not null check (length(url) <= 2000),
    -- The person who named it while it waits, by themselves or by a bot. Null: nobody, it is of an old message.
    named_by bigint references account on delete set null,
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
create index on remote_picture (named_by) where state = 0;
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
