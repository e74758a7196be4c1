-- Conversations: channels, subscriptions, topics, and what somebody has read in them.

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
    -- As of a group: the person who made it.
    share_of bigint references account on delete set null,
    date_created timestamptz not null default now(),
    message_retention_days integer check (message_retention_days = -1 or message_retention_days > 0),
    topics_policy text not null default 'inherit'
        check (topics_policy in ('inherit', 'allow_empty_topic', 'disable_empty_topic', 'empty_topic_only')),
    folder_id bigint,
    -- Active accounts with an active subscription; changed in the transaction that changes either.
    subscriber_count integer not null default 0 check (subscriber_count >= 0),
    -- What the worker finds out from how far the channel's numbers had come on each day
    -- (conversations/channels/traffic.py): the lists of channels must not count messages.
    is_recently_active boolean not null default true,
    weekly_traffic integer check (weekly_traffic >= 0),
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
    foreign key (realm_id, folder_id) references channel_folder (realm_id, id),
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
create index on channel (id) where not is_recently_active;
-- For the worker that looks for messages that are kept no longer (messaging/editing/retention/actions.py).
create index on channel (id) where message_retention_days > 0;
create index on channel (share_of) where share_of is not null;
create trigger take_share before insert on channel for each row execute function take_share_of_creator();

create table channel_day (
    channel_id bigint not null references channel,
    day date not null,
    last_seq bigint not null,
    primary key (channel_id, day)
);

-- Whoever joins the realm is subscribed to these.
create table default_channel (
    channel_id bigint primary key references channel,
    realm_id bigint not null references realm
);
create index on default_channel (realm_id);

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

-- What the index of texts is made with, and so what every search is asked with. Another language: `tertulia search language`.
create function search_language() returns regconfig language sql immutable parallel safe as $$
    select 'pg_catalog.english'::regconfig
$$;

create table topic (
    id bigint generated always as identity primary key,
    conversation_id bigint not null references channel,
    name text not null check (char_length(name) <= 60),
    name_key text not null,
    -- The seq of the newest message; 0: none yet (a policy was set first). Topic lists read this table only.
    last_seq bigint not null default 0,
    search tsvector generated always as (to_tsvector(search_language(), name)) stored,
    unique (conversation_id, name_key),
    unique (conversation_id, id)
) with (fillfactor = 70);
create index topic_search on topic using gin (search);

-- Who sent to a topic or reacted in it.
create table topic_participant (
    topic_id bigint not null references topic on delete cascade,
    user_id bigint not null references account,
    primary key (topic_id, user_id)
);

-- 1 muted, 2 unmuted, 3 followed; no row: as the channel.
create table topic_policy (
    user_id bigint not null references account on delete cascade,
    topic_id bigint not null references topic on delete cascade,
    policy smallint not null check (policy between 1 and 3),
    updated_at timestamptz not null default now(),
    primary key (user_id, topic_id)
);
create index on topic_policy (topic_id);

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

-- Why somebody may not write to a set of people now; null: they may. Bots may, and everybody may write to bots.
create function direct_refusal(who bigint, realm bigint, people bigint[], is_new boolean) returns text
language plpgsql stable parallel safe as $$
declare
    permitting bigint;
    initiating bigint;
begin
    if exists (select from account where id = any(people) and not is_active) then
        return 'inactive';
    end if;
    select max(group_id) filter (where setting = 'direct_message_permission_group'),
        max(group_id) filter (where setting = 'direct_message_initiator_group')
    into permitting, initiating from realm_permission
    where realm_id = realm and setting in ('direct_message_permission_group', 'direct_message_initiator_group');
    if (permitting is null and initiating is null)
        or exists (select from account where id = who and bot_type is not null)
        or not exists (select from account where id = any(people) and id <> who and bot_type is null) then
        return null;
    end if;
    if permitting is not null and not exists (
        select from unnest(people) as person where is_group_member(person, permitting)
    ) then
        return case when (select name from user_group where id = permitting) = 'role:nobody' then 'disabled'
            else 'unauthorized' end;
    end if;
    if initiating is not null and is_new and not is_group_member(who, initiating) then
        return 'initiate';
    end if;
    return null;
end
$$;
