-- What goes to other programs: bots, hooks, mail, pushes, and the event log.

-- Where a bot sends when it names no channel, and what it listens to when it does not say.
create table bot_default (
    user_id bigint primary key references account on delete cascade,
    sending_channel_id bigint references channel,
    register_channel_id bigint references channel,
    all_public_channels boolean not null default false
);
create index on bot_default (sending_channel_id);
create index on bot_default (register_channel_id);

-- Where an outgoing-webhook bot sends what it hears.
create table bot_service (
    user_id bigint primary key references account on delete cascade,
    base_url text not null,
    interface smallint not null check (interface in (1, 2)),
    token text not null
);

-- Texts of an account's own; size: characters of key and value.
create table bot_storage (
    user_id bigint not null references account on delete cascade,
    key text not null,
    value text not null,
    size integer not null,
    primary key (user_id, key)
);

-- What a service that posts for a bot has to show besides the bot's key. Sealed.
create table hook_secret (
    id bigint generated always as identity primary key,
    user_id bigint not null references account on delete cascade,
    integration text not null check (char_length(integration) <= 40),
    secret text not null,
    unique (user_id, integration)
);

-- Written by the transaction that sends the message, deleted when the call was answered or given up.
create table hook_call (
    bot_id bigint not null references account on delete cascade,
    message_id bigint not null references message on delete cascade,
    attempts integer not null default 0,
    -- While a worker makes the call, this lies ahead: if the worker dies, another one makes it again then.
    due timestamptz not null default now(),
    primary key (message_id, bot_id)
);
create index on hook_call (due);
create index on hook_call (bot_id);

-- Mails to be sent, written by the transaction that wants them.
create table mail_outbox (
    id bigint generated always as identity primary key,
    -- Null: to nobody. Written where the time of an answer must not tell whether there is somebody.
    recipient text,
    subject text not null,
    body text not null,
    created timestamptz not null default now(),
    due timestamptz not null default now(),
    attempts integer not null default 0
);
create index on mail_outbox (due);

-- The key that push services know us by; the first process that needs it makes it.
create table push_key (
    only_one boolean primary key default true check (only_one),
    private_key bytea not null
);

-- A browser that wants pushes. It ends with the login that asked for it.
create table push_subscription (
    id bigint generated always as identity primary key,
    realm_id bigint not null,
    user_id bigint not null,
    endpoint text not null unique check (char_length(endpoint) <= 2000),
    public_key bytea not null check (length(public_key) = 65),
    -- Sealed.
    auth_secret bytea not null,
    session_digest bytea references browser_session on delete cascade,
    key_id bigint references api_key on delete cascade,
    created timestamptz not null default now(),
    -- How many pushes in a row the push service did not take, and since when.
    failures integer not null default 0,
    failing_since timestamptz,
    check ((failures = 0) = (failing_since is null)),
    check ((session_digest is null) <> (key_id is null)),
    foreign key (realm_id, user_id) references account (realm_id, id) on delete cascade
);
create index on push_subscription (realm_id, user_id);
create index on push_subscription (session_digest);
create index on push_subscription (key_id);

-- Realms in which nobody ever wanted pushes are told apart by a note among their settings, which come with every caller.
create function pushes_noted() returns trigger language plpgsql as $$
begin
    update realm set settings = settings || '{"_pushes": true}'
    where id in (select realm_id from changed) and not settings ? '_pushes';
    return null;
end
$$;
create trigger pushes_noted after insert on push_subscription
    referencing new table as changed for each statement execute function pushes_noted();

-- Messages of which is yet to be found out who is to be told: written by the transaction that sends them.
create table push_due (message_id bigint primary key references message on delete cascade);

-- What is on its way to a browser. While a worker sends it, `due` lies ahead.
create table push_call (
    subscription_id bigint not null references push_subscription on delete cascade,
    message_id bigint not null references message on delete cascade,
    trigger text not null,
    attempts integer not null default 0,
    due timestamptz not null default now(),
    primary key (message_id, subscription_id)
);
create index on push_call (due);
create index on push_call (subscription_id);

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
