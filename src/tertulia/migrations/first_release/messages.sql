-- Messages, what hangs on them, and what is written before it is sent.

-- A trusted extension of PostgreSQL's contrib: whoever may create in the database may create it.
create extension if not exists pg_trgm;

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
    -- 1 the whole channel is mentioned, 2 those who take part in the topic: a property of the message, never a row for each
    -- person.
    wildcard smallint not null default 0 check (wildcard between 0 and 3),
    has_link boolean not null default false,
    has_image boolean not null default false,
    has_attachment boolean not null default false,
    -- It came from another channel, so its number is not in the order of ids.
    arrived boolean not null default false,
    -- Revisions of the topic with an id up to this one were before the message came into the topic.
    topic_since bigint not null default 0,
    search tsvector generated always as (to_tsvector(search_language(), rendered)) stored,
    -- The text has letters of a script that puts no spaces between words (messaging/narrows/search.py has the same ranges).
    is_unspaced boolean generated always as (
        content ~ '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u2e80-\u2fdf\u3040-\u30ff\u3100-\u318f'
            '\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f'
            '\U00020000-\U0003ffff]'
    ) stored,
    unique (conversation_id, seq),
    foreign key (conversation_id, topic_id) references topic (conversation_id, id)
);
create index on message (conversation_id, id);
create index on message (topic_id, id) where topic_id is not null;
create index on message (conversation_id, id) where wildcard > 0;
create index on message (conversation_id, id) where arrived;
create index message_sender on message (sender_id, id);
create index message_link on message (conversation_id, id) where has_link;
create index message_image on message (conversation_id, id) where has_image;
create index message_attachment on message (conversation_id, id) where has_attachment;
create index message_search on message using gin (search) with (fastupdate = on);
create index message_unspaced on message using gin (content gin_trgm_ops) where is_unspaced;
create index message_unspaced_id on message (conversation_id, id) where is_unspaced;

-- The query for texts that hold all these words and phrases, or one of them. Stop words are left out; of these alone nothing
-- is left (null), and nothing matches.
create function search_words(words text[], phrases text[], every boolean) returns tsquery
language sql immutable parallel safe as $$
    select string_agg('(' || query::text || ')', case when every then ' & ' else ' | ' end)::tsquery
    from (
        select plainto_tsquery(search_language(), word) as query from unnest(words) as word
        union all
        select phraseto_tsquery(search_language(), phrase) from unnest(phrases) as phrase
    ) as made
    where numnode(query) > 0
$$;

-- How many messages hold all these words, as the planner believes: it decides which way a search goes.
create function search_estimate(words text[], phrases text[], out hits bigint, out total bigint)
language plpgsql volatile as $$
declare
    plan json;
begin
    execute format(
        'explain (format json) select from message where search @@ %L::tsquery', search_words(words, phrases, true)::text
    ) into plan;
    hits := plan->0->'Plan'->>'Plan Rows';
    total := greatest(reltuples, 0) from pg_class where oid = 'message'::regclass;
end
$$;

-- What is truly personal and rare: a row for each flag a user has on a message (model: conversations/read_state/marks.py).
create table message_mark (
    user_id bigint not null references account,
    flag smallint not null,
    message_id bigint not null references message on delete cascade,
    primary key (user_id, flag, message_id)
);
create index on message_mark (message_id);

-- One row for each group a message mentions, however many belong to it.
create table message_group_mention (
    message_id bigint not null references message on delete cascade,
    group_id bigint not null references user_group,
    primary key (message_id, group_id)
);
create index on message_group_mention (group_id, message_id);

-- Idempotency-Key of POST /messages; kept for a day. A repeat of a request is answered as the first one was.
create table sent_request (
    sender_id bigint not null references account on delete cascade,
    key text not null check (char_length(key) between 1 and 200),
    message_id bigint not null,
    sent_at timestamptz not null default now(),
    policy smallint,
    primary key (sender_id, key)
);
create index on sent_request (sent_at);

-- What a message was before. A row of a topic happened to all its messages up to the number `last_seq`, except those that
-- came into it later (message.topic_since): renaming a topic of a million messages is one row here.
create table message_revision (
    id bigint generated always as identity primary key,
    message_id bigint references message on delete cascade,
    topic_id bigint references topic on delete cascade,
    last_seq bigint,
    user_id bigint references account,
    changed_at timestamptz not null,
    prev_content text,
    prev_rendered text,
    prev_topic text,
    topic text,
    prev_channel_id bigint references channel,
    channel_id bigint references channel,
    -- The difference that an edit made, once somebody has asked for it.
    html_diff text,
    -- How many texts the message had before.
    number integer,
    -- Characters, known without unpacking the texts.
    size integer not null generated always as
        (coalesce(length(prev_content), 0) + coalesce(length(prev_rendered), 0)) stored,
    check (num_nonnulls(message_id, topic_id) = 1),
    check ((topic_id is null) = (last_seq is null)),
    check ((prev_content is null) = (prev_rendered is null)),
    check ((prev_content is null) = (number is null)),
    check ((prev_topic is null) = (topic is null)),
    check ((prev_channel_id is null) = (channel_id is null)),
    check (num_nonnulls(prev_content, prev_topic, prev_channel_id) > 0)
);
create index on message_revision (message_id, id) where message_id is not null;
create index on message_revision (topic_id, id) where topic_id is not null;

create table reaction (
    message_id bigint not null references message on delete cascade,
    user_id bigint not null references account,
    emoji_name text not null,
    emoji_code text not null,
    reaction_type text not null check (reaction_type in ('unicode_emoji', 'realm_emoji', 'service_extra_emoji')),
    reacted_at timestamptz not null default clock_timestamp(),
    primary key (message_id, user_id, reaction_type, emoji_code)
);

-- number and size: how many submessages and bytes a message has up to this one; own_number and own_size: of them, those of
-- its sender. The first one, which opens the widget, comes with the message and counts nothing.
create table submessage (
    id bigint generated always as identity primary key,
    message_id bigint not null references message on delete cascade,
    sender_id bigint not null references account,
    msg_type text not null,
    content text not null,
    sent_at timestamptz not null default clock_timestamp(),
    number integer not null default 0,
    size integer not null default 0,
    own_number integer not null default 0,
    own_size integer not null default 0
);
create index on submessage (message_id, id);
create index on submessage (message_id, sender_id, id);

-- How far the HTML of messages from before was gone through; without a row all of it was.
create table rendering_pass (
    part text primary key check (part in ('message', 'message_revision')),
    last_id bigint not null default 0
);

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

-- The message may be edited, deleted or out of reach when its reminder comes: nothing of it is kept here.
create table reminder (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    user_id bigint not null references account on delete cascade,
    message_id bigint not null,
    note text not null default '' check (char_length(note) <= 1000),
    rendered_note text not null,
    due timestamptz not null
);
create index on reminder (due);
create index on reminder (user_id, due);

-- What the notification bot has to say, written by the transaction that gives it the reason to (messaging/notices).
create table notice (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    body jsonb not null,
    -- Not before: later than it was written for one that could not be sent.
    due timestamptz not null default now(),
    attempts int not null default 0
);
