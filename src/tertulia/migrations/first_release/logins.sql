-- Logging in: keys, sessions, second factors, directories, and the audit log.

create table api_key (
    id bigint generated always as identity primary key,
    user_id bigint not null references account on delete cascade,
    digest bytea not null unique check (length(digest) = 32),
    label text not null default '',
    created timestamptz not null default now(),
    last_used timestamptz,
    -- How it was got (people/users/model.py).
    made_by text not null default 'unknown'
        check (made_by in ('password', 'session', 'provider', 'owner', 'operator', 'unknown')),
    -- What somebody recognizes it by.
    address text not null default '',
    -- The provider that somebody logged in with, and what it calls its own session with that browser. Null: another way in.
    issuer text,
    provider_session text
);
create index on api_key (user_id);
create index on api_key (issuer, provider_session) where issuer is not null;

create table browser_session (
    digest bytea primary key check (length(digest) = 32),
    user_id bigint not null references account on delete cascade,
    csrf_token text not null,
    created timestamptz not null default now(),
    last_used timestamptz not null default now(),
    expires timestamptz not null,
    -- A name for it that can be shown.
    id bigint generated always as identity unique,
    -- What somebody recognizes it by.
    address text not null default '',
    agent text not null default '',
    -- As of a key.
    issuer text,
    provider_session text
);
create index on browser_session (user_id);
create index on browser_session (expires);
create index on browser_session (issuer, provider_session) where issuer is not null;

-- Failures are counted here, so that no node can be used to get around the count. An attempt is a failure from before its
-- password is looked at until it has turned out right.
create table login_failure (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    username_key text not null,
    failed_at timestamptz not null default clock_timestamp(),
    is_pending boolean not null default false,
    -- Where it came from: "network ADDRESS", "device DIGEST" of a browser's cookie, or the session of who is logged in.
    place text not null default ''
);
create index on login_failure (realm_id, username_key, failed_at);
create index on login_failure (failed_at);

-- Where somebody has logged in from, by the same names.
create table login_place (
    user_id bigint not null references account on delete cascade,
    place text not null,
    last_used timestamptz not null default now(),
    primary key (user_id, place)
);

create table password_reset (
    digest bytea primary key check (length(digest) = 32),
    user_id bigint not null references account on delete cascade,
    -- Where the token was sent: it is worth nothing once the account has another address.
    email_key text not null,
    expires timestamptz not null
);
create index on password_reset (user_id);
create index on password_reset (expires);

-- A change of address that waits until both addresses have agreed. The last one counts.
create table email_change (
    user_id bigint primary key references account on delete cascade,
    digest bytea not null unique check (length(digest) = 32),
    old_email_key text not null,
    new_email text not null,
    expires timestamptz not null,
    old_digest bytea not null unique check (length(old_digest) = 32),
    is_new_agreed boolean not null default false,
    is_old_agreed boolean not null default false
);
create index on email_change (expires);

-- A person at an identity provider; one account may have several.
create table external_identity (
    realm_id bigint not null,
    provider text not null,
    subject text not null,
    user_id bigint not null,
    -- What a person of the directory typed at their last login; null: another provider.
    username text,
    primary key (realm_id, provider, subject),
    foreign key (realm_id, user_id) references account (realm_id, id) on delete cascade
);

-- Log-outs that providers told us of: each counts once, and ends logins that are still under way.
create table provider_logout (
    digest bytea primary key check (length(digest) = 32),
    issuer text not null,
    subject text,
    provider_session text,
    issued timestamptz not null,
    received timestamptz not null default now(),
    check (subject is not null or provider_session is not null)
);
create index on provider_logout (issuer, issued);
create index on provider_logout (received);

-- When the people of an organization were last compared with its directory. Workers claim the next time here.
create table directory_sync (
    realm_id bigint primary key references realm on delete cascade,
    started timestamptz not null
);

create table second_factor (
    user_id bigint primary key references account on delete cascade,
    -- Of an authenticator; it counts once a code has confirmed it.
    secret bytea,
    is_confirmed boolean not null default false,
    -- A secret that nobody confirms is good for some minutes only.
    begun timestamptz not null default now(),
    -- The last step whose code was used: none is used twice.
    last_step bigint not null default 0,
    -- Until when somebody whose organization asks for a factor logs in without; null: that has not begun.
    due timestamptz,
    -- What authenticators know the account by: random, so that it says nothing of the person. Null: it was never needed.
    handle bytea check (length(handle) = 32),
    check (secret is not null or not is_confirmed)
);

create table recovery_code (
    user_id bigint not null references account on delete cascade,
    digest bytea not null check (length(digest) = 32),
    primary key (user_id, digest)
);

create table passkey (
    id bigint generated always as identity primary key,
    realm_id bigint not null,
    user_id bigint not null,
    -- The authenticator's own name for it.
    credential bytea not null check (length(credential) between 1 and 1023),
    public_key bytea not null check (length(public_key) between 1 and 1024),
    -- How often it was used, as the authenticator says; many say 0, always.
    sign_count bigint not null check (sign_count between 0 and 4294967295),
    label text not null check (length(label) between 1 and 60),
    transports text[] not null,
    -- It asked its owner for a finger, a face or a PIN when it was made, and has to whenever it is used.
    is_verifying boolean not null,
    -- It is kept by a service and on several devices.
    is_synced boolean not null,
    created timestamptz not null default now(),
    last_used timestamptz,
    unique (realm_id, credential),
    foreign key (realm_id, user_id) references account (realm_id, id) on delete cascade
);
create index passkey_of_user on passkey (user_id);

create table passkey_challenge (
    digest bytea primary key check (length(digest) = 32),
    realm_id bigint not null references realm,
    -- Null: whoever signs it, logs in.
    user_id bigint references account on delete cascade,
    -- The session or key of the request that asked for it; 0: none.
    credential bigint not null,
    purpose text not null check (length(purpose) <= 300),
    expires timestamptz not null
);
create index passkey_challenge_of_user on passkey_challenge (user_id);
create index passkey_challenge_expires on passkey_challenge (expires);

create table scim_token (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm on delete cascade,
    digest bytea not null unique check (length(digest) = 32),
    label text not null,
    -- Null: the operator of the server.
    made_by bigint references account on delete set null,
    created timestamptz not null default now(),
    last_used timestamptz
);
create index on scim_token (realm_id);

-- Of people whom a directory has written to; of the others it sees what their account says.
create table scim_user (
    user_id bigint primary key,
    realm_id bigint not null,
    user_name text not null,
    user_name_key text not null,
    given_name text,
    family_name text,
    formatted_name text,
    external_id text,
    -- The directory has let go of them: to it they are not there, as long as their account is deactivated.
    is_deleted boolean not null default false,
    unique (realm_id, user_name_key),
    foreign key (realm_id, user_id) references account (realm_id, id) on delete cascade
);
create index on scim_user (realm_id, external_id);

create table scim_group (
    group_id bigint primary key references user_group on delete cascade,
    realm_id bigint not null references realm on delete cascade,
    external_id text,
    is_deleted boolean not null default false
);
create index on scim_group (realm_id, external_id);
