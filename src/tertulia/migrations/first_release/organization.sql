-- Organizations, accounts and groups: what everything else refers to.

-- Programs for an older form of the database than this do not work with it (migrations/form.py).
create table oldest_program (
    only_one boolean primary key default true check (only_one),
    form text not null
);

-- Signs the addresses of pictures. Among the settings, because these come with every caller.
create function new_picture_key() returns jsonb language sql volatile as $$
    select jsonb_build_object('_picture_key', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''))
$$;

create table realm (
    id bigint generated always as identity primary key,
    subdomain text not null unique check (subdomain = '' or subdomain ~ '^[a-z0-9][a-z0-9-]{0,38}$'),
    uuid uuid not null default gen_random_uuid(),
    name text not null check (char_length(name) between 1 and 40),
    description text not null default '',
    date_created timestamptz not null default now(),
    is_active boolean not null default true,
    -- Only what differs from the defaults of organization/realms/settings.py.
    settings jsonb not null default new_picture_key() check (jsonb_typeof(settings) = 'object'),
    -- What a new person's settings are, as far as it differs from the defaults of people/preferences/model.py.
    user_defaults jsonb not null default '{}',
    -- Until when new members have been judged whether they waited long enough. Time alone makes nobody a full member, so
    -- that rights and events always agree (organization/groups/actions/waiting.py).
    judged_at timestamptz not null default now(),
    -- Grows with every change of anything a user record shows, whoever makes it: a list of users is as good as this number.
    -- It follows the clock, so that a database restored from a backup does not come to numbers that clients have seen before.
    -- Transactions lock accounts in the order of their ids before they change the first of them; the realm comes last.
    users_version bigint not null default 0
);

create table account (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    email text not null check (char_length(email) between 3 and 254),
    -- The lower-cased address, made by the application: the database's own notion of case depends on its locale.
    email_key text not null,
    full_name text not null check (char_length(full_name) between 1 and 100),
    -- What counts, everywhere: see bot_counts_as.
    role smallint not null default 400 check (role in (100, 200, 300, 400, 600)),
    bot_type smallint check (bot_type between 1 and 4),
    bot_owner_id bigint,
    -- The role that a bot was given.
    bot_role smallint check (bot_role in (100, 200, 300, 400, 600)),
    -- A bot that services may post by only with a signature. On the account, because it comes with the owner of a key: no
    -- other statement asks for it.
    signed_only boolean not null default false,
    -- An account of the server itself, one of each kind in every realm: no list of users has it, nobody logs in as it.
    system_bot text check (system_bot in ('notification')),
    is_active boolean not null default true,
    is_imported_stub boolean not null default false,
    date_joined timestamptz not null default now(),
    timezone text not null default '',
    avatar_version integer not null default 1,
    -- The name of an uploaded picture, which nobody can guess; null: one is drawn from the account's number.
    avatar text check (avatar ~ '^[0-9a-f]{40}$'),
    password_hash text,
    settings jsonb not null default '{}' check (jsonb_typeof(settings) = 'object'),
    unique (realm_id, email_key),
    unique (realm_id, id),
    foreign key (realm_id, bot_owner_id) references account (realm_id, id),
    check (bot_owner_id is null or bot_type is not null),
    check ((bot_type is null) = (bot_role is null)),
    check (system_bot is null or (bot_type = 1 and bot_owner_id is null and password_hash is null))
);
create unique index on account (realm_id, system_bot) where system_bot is not null;
create unique index on account (avatar) where avatar is not null;
create index on account (bot_owner_id) where bot_owner_id is not null;
-- Mentions find people by name, whatever its case.
create index on account (realm_id, lower(full_name));
-- Administrators see every channel: who they are is asked whenever something happens in a private one.
create index on account (realm_id, role) where role <= 200;
-- Whoever does not want to be seen is `away` in the words of older clients.
create index on account (realm_id) where settings->>'presence_enabled' = 'false';

-- A bot was given a role of its own (bot_role), and counts as the lower of that and its owner's at this moment; without an
-- owner it is a member at most. Kept here, so that no statement can forget it.
create function bot_counts_as() returns trigger language plpgsql as $$
declare
    owner_role smallint := 400;
begin
    if new.bot_type is null then
        new.bot_role := null;
        return new;
    end if;
    new.bot_role := coalesce(new.bot_role, new.role);
    if new.bot_owner_id is not null then
        -- Held: whoever changes the owner's role at the same moment finds this bot afterwards, or is waited for.
        select role into owner_role from account where id = new.bot_owner_id for share;
    end if;
    new.role := greatest(new.bot_role, coalesce(owner_role, 400::smallint));
    return new;
end
$$;
create trigger bot_counts_as before insert or update of role, bot_role, bot_type, bot_owner_id on account
    for each row execute function bot_counts_as();

create function bots_follow_their_owner() returns trigger language plpgsql as $$
begin
    update account set role = role where bot_owner_id = new.id;
    return null;
end
$$;
create trigger bots_follow_their_owner after update of role on account
    for each row when (old.role is distinct from new.role and new.bot_type is null)
    execute function bots_follow_their_owner();

create function users_changed() returns trigger language plpgsql as $$
begin
    update realm set users_version = greatest(users_version + 1, extract(epoch from clock_timestamp()) * 1000000)
    where id in (select realm_id from changed);
    return null;
end
$$;
create function users_updated() returns trigger language plpgsql as $$
begin
    update realm set users_version = greatest(users_version + 1, extract(epoch from clock_timestamp()) * 1000000)
    where id in (
        select changed.realm_id from changed join unchanged on unchanged.id = changed.id
        where row(changed.email, changed.full_name, changed.role, changed.bot_type, changed.bot_owner_id,
            changed.is_active, changed.is_imported_stub, changed.date_joined, changed.timezone, changed.avatar_version,
            changed.settings->'email_address_visibility')
        is distinct from row(unchanged.email, unchanged.full_name, unchanged.role, unchanged.bot_type,
            unchanged.bot_owner_id, unchanged.is_active, unchanged.is_imported_stub, unchanged.date_joined,
            unchanged.timezone, unchanged.avatar_version, unchanged.settings->'email_address_visibility')
    );
    return null;
end
$$;
create trigger users_changed after insert on account
    referencing new table as changed for each statement execute function users_changed();
create trigger users_updated after update on account
    referencing old table as unchanged new table as changed for each statement execute function users_updated();
create trigger users_deleted after delete on account
    referencing old table as changed for each statement execute function users_changed();

-- Who sees an account's address (people/users/addresses.py); 0 stands for bots, whose address is no secret.
create function email_visibility(account) returns int language sql immutable parallel safe as $$
    select case when $1.bot_type is not null then 0
        else coalesce(($1.settings->>'email_address_visibility')::int, 1) end
$$;
-- The address that the API shows, to all readers who have an account alike.
-- The id is made text first: bigint || text is not immutable, and then the planner would call this for each row instead of
-- putting it into the query (7 ms instead of 0.9 ms for the rows of 100 messages).
create function api_email(account, domain text) returns text language sql immutable parallel safe as $$
    select case when email_visibility($1) <= 1 then $1.email else 'user' || $1.id::text || '@' || domain end
$$;
create function avatar_url(account) returns text language sql immutable parallel safe as $$
    select case when $1.avatar is null then '/avatar/' || $1.id::text
        else '/user_avatars/' || $1.realm_id::text || '/' || $1.avatar || '.png' end || '?v=' || $1.avatar_version::text
$$;

-- Every permission names a group. A group is named, or it is the anonymous value of one setting (its name is null), or a
-- system group, which has no member rows: everybody whose role is at most lowest_role belongs to it.
create table user_group (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    name text check (char_length(name) between 1 and 100),
    description text not null default '',
    is_system boolean not null default false,
    lowest_role smallint,
    is_for_full_members boolean not null default false,
    creator_id bigint,
    -- The person who made it, by themselves or by a bot: giving the bot away does not empty the share. Null: it takes none
    -- of anybody's, because an administrator made it, or nobody.
    share_of bigint references account on delete set null,
    date_created timestamptz default now(),
    is_deactivated boolean not null default false,
    can_add_members_group bigint,
    can_join_group bigint,
    can_leave_group bigint,
    can_manage_group bigint,
    can_mention_group bigint,
    can_remove_members_group bigint,
    unique (realm_id, name),
    unique (realm_id, id),
    constraint user_group_system check (is_system = (lowest_role is not null)
        and is_system = (coalesce(name, '') like 'role:%') and not (is_system and is_deactivated)),
    constraint user_group_creator foreign key (realm_id, creator_id) references account (realm_id, id),
    constraint user_group_add foreign key (realm_id, can_add_members_group)
        references user_group (realm_id, id) deferrable initially deferred,
    constraint user_group_join foreign key (realm_id, can_join_group)
        references user_group (realm_id, id) deferrable initially deferred,
    constraint user_group_leave foreign key (realm_id, can_leave_group)
        references user_group (realm_id, id) deferrable initially deferred,
    constraint user_group_manage foreign key (realm_id, can_manage_group)
        references user_group (realm_id, id) deferrable initially deferred,
    constraint user_group_mention foreign key (realm_id, can_mention_group)
        references user_group (realm_id, id) deferrable initially deferred,
    constraint user_group_remove foreign key (realm_id, can_remove_members_group)
        references user_group (realm_id, id) deferrable initially deferred
);
create index on user_group (realm_id) where is_system;
create index on user_group (share_of) where share_of is not null;

create function take_share_of_creator() returns trigger language plpgsql as $$
begin
    select coalesce(bot_owner_id, id) into new.share_of from account where id = new.creator_id and role > 200;
    return new;
end
$$;
create trigger take_share before insert on user_group
    for each row when (new.creator_id is not null) execute function take_share_of_creator();

-- is_anonymous: the group has no name. Walks from people up to groups pass only through named ones; a popular group is
-- part of thousands of anonymous values.
create table group_member (
    realm_id bigint not null,
    group_id bigint not null,
    user_id bigint not null,
    is_anonymous boolean not null default false,
    primary key (group_id, user_id),
    foreign key (realm_id, group_id) references user_group (realm_id, id) on delete cascade,
    foreign key (realm_id, user_id) references account (realm_id, id)
);
create index on group_member (user_id, is_anonymous, group_id);

create table group_subgroup (
    realm_id bigint not null,
    group_id bigint not null,
    subgroup_id bigint not null,
    is_anonymous boolean not null default false,
    primary key (group_id, subgroup_id),
    foreign key (realm_id, group_id) references user_group (realm_id, id) on delete cascade,
    foreign key (realm_id, subgroup_id) references user_group (realm_id, id),
    check (group_id <> subgroup_id)
);
create index on group_subgroup (subgroup_id, is_anonymous, group_id);

-- Only what differs from the defaults of organization/groups/settings.py.
create table realm_permission (
    realm_id bigint not null,
    setting text not null,
    group_id bigint not null,
    primary key (realm_id, setting),
    foreign key (realm_id, group_id) references user_group (realm_id, id)
);

create function is_waiting(joined timestamptz, realm_settings jsonb, judged_at timestamptz) returns boolean
language sql stable parallel safe as $$
    select coalesce((realm_settings->>'waiting_period_threshold')::int, 0) > 0
        and joined > judged_at - make_interval(days => (realm_settings->>'waiting_period_threshold')::int)
$$;

-- The one answer to "may they?". Climbs from the groups somebody is in to those that hold them, because people are in few
-- groups while a group may hold very many. Whoever is deactivated is in no group, and a deactivated group gives its
-- members nothing of the groups and values it is a part of (only its own settings may still name it).
-- In plpgsql, because its plan is made once per connection and not once per statement.
create function is_group_member(who bigint, wanted bigint) returns boolean
language plpgsql stable parallel safe as $$
begin
    return exists (select from account where id = who and is_active) and (
        exists (select from group_member where group_id = wanted and user_id = who)
        or exists (
            with recursive climbed(id) as (
                (
                    select group_id from group_member where user_id = who and not is_anonymous
                    union all
                    select user_group.id from account join realm on realm.id = account.realm_id
                    join user_group on user_group.realm_id = account.realm_id and user_group.is_system
                    where account.id = who and user_group.lowest_role >= account.role
                        and not (user_group.is_for_full_members and account.role = 400
                            and is_waiting(account.date_joined, realm.settings, realm.judged_at))
                )
                union
                select holding.group_id from climbed cross join lateral (
                    select group_id from group_subgroup join user_group as below on below.id = climbed.id
                    where subgroup_id = climbed.id and not is_anonymous and not below.is_deactivated
                    offset 0  -- look each one up: the planner expects far more of them, and would read the whole table
                ) as holding
            )
            select from climbed where id = wanted or id in (
                select subgroup_id from group_subgroup join user_group as below on below.id = subgroup_id
                where group_id = wanted and is_anonymous and not below.is_deactivated
            )
        )
    );
end
$$;

-- Where the addresses of people are, in organizations that restrict that.
create table realm_domain (
    realm_id bigint not null references realm,
    domain text not null check (domain = lower(domain) and char_length(domain) between 1 and 253),
    allow_subdomains boolean not null default false,
    id bigint generated always as identity,
    primary key (realm_id, domain)
);

-- A picture of an organization. The row stays when the picture is taken away, because its number goes on.
create table realm_picture (
    realm_id bigint not null references realm on delete cascade,
    kind text not null check (kind in ('icon', 'logo', 'night_logo')),
    name text check (name ~ '^[0-9a-f]{40}$'),
    version integer not null default 1,
    primary key (realm_id, kind)
);

create table custom_emoji (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    name text not null,
    author_id bigint,
    -- As of a group.
    share_of bigint references account on delete set null,
    is_deactivated boolean not null default false,
    date_created timestamptz not null default now(),
    file_name text not null,
    moves boolean not null default false,
    unique (realm_id, id),
    foreign key (realm_id, author_id) references account (realm_id, id)
);
create unique index on custom_emoji (realm_id, name) where not is_deactivated;
create index on custom_emoji (realm_id, file_name);
create index on custom_emoji (share_of) where share_of is not null;

create function take_share_of_author() returns trigger language plpgsql as $$
begin
    select coalesce(bot_owner_id, id) into new.share_of from account where id = new.author_id and role > 200;
    return new;
end
$$;
create trigger take_share before insert on custom_emoji for each row execute function take_share_of_author();

create table linkifier (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    pattern text not null check (pattern <> ''),
    url_template text not null,
    example_input text,
    reverse_template text,
    alternative_url_templates text[] not null default '{}',
    position bigint not null,
    unique (realm_id, pattern)
);
create index on linkifier (realm_id, position);

create table playground (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    name text not null check (char_length(name) between 1 and 40),
    pygments_language text not null check (char_length(pygments_language) between 1 and 40),
    url_template text not null,
    unique (realm_id, pygments_language, name)
);

-- Counts the changes of what means something in every message of a realm, among the realm's settings, which come with every
-- caller: whoever keeps these in memory sees by it that they are old (messaging/mentions/vocabulary.py).
create function vocabulary_changed() returns trigger language plpgsql as $$
begin
    update realm set settings = settings
        || jsonb_build_object('_vocabulary', coalesce((settings->>'_vocabulary')::bigint, 0) + 1)
    where id in (select realm_id from changed);
    return null;
end
$$;
create trigger linkifier_added after insert on linkifier
    referencing new table as changed for each statement execute function vocabulary_changed();
create trigger linkifier_changed after update on linkifier
    referencing new table as changed for each statement execute function vocabulary_changed();
create trigger linkifier_removed after delete on linkifier
    referencing old table as changed for each statement execute function vocabulary_changed();
create trigger emoji_added after insert on custom_emoji
    referencing new table as changed for each statement execute function vocabulary_changed();
create trigger emoji_changed after update on custom_emoji
    referencing new table as changed for each statement execute function vocabulary_changed();
create trigger emoji_removed after delete on custom_emoji
    referencing old table as changed for each statement execute function vocabulary_changed();
