-- People: profiles, what they choose for themselves, invitations, presence.

create table profile_field (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    type smallint not null check (type between 1 and 8),
    name text not null check (char_length(name) between 1 and 40),
    hint text not null default '' check (char_length(hint) <= 80),
    field_data text not null default '',
    position integer not null,
    display_in_profile_summary boolean not null default false,
    required boolean not null default false,
    editable_by_user boolean not null default true,
    use_for_user_matching boolean not null default false,
    unique (realm_id, id)
);
create unique index on profile_field (realm_id, lower(name));

create table profile_value (
    realm_id bigint not null,
    user_id bigint not null,
    field_id bigint not null,
    value text not null,
    rendered text,
    primary key (user_id, field_id),
    foreign key (realm_id, user_id) references account (realm_id, id),
    foreign key (realm_id, field_id) references profile_field (realm_id, id) on delete cascade
);
create trigger profile_changed after insert on profile_value
    referencing new table as changed for each statement execute function users_changed();
create trigger profile_updated after update on profile_value
    referencing new table as changed for each statement execute function users_changed();
create trigger profile_deleted after delete on profile_value
    referencing old table as changed for each statement execute function users_changed();

create table muted_user (
    user_id bigint not null references account on delete cascade,
    muted_id bigint not null references account on delete cascade,
    muted_at timestamptz not null default now(),
    primary key (user_id, muted_id),
    check (user_id <> muted_id)
);
-- Who muted somebody: their messages are born read for these.
create index on muted_user (muted_id, user_id);

-- Alert words are found by the first word in them (content/markup/alert_words.py): a message looks up its own words,
-- never everybody's list. Realms nobody has alert words in are told apart by a note among their settings, which come
-- with every caller.
create table alert_word (
    user_id bigint not null references account on delete cascade,
    word text not null check (char_length(word) between 1 and 100),
    word_key text not null,
    realm_id bigint not null,
    first_word text not null,
    primary key (user_id, word_key),
    foreign key (realm_id, user_id) references account (realm_id, id) on delete cascade
);
create index on alert_word (realm_id, first_word, word_key);

create function alert_words_noted() returns trigger language plpgsql as $$
begin
    update realm set settings = settings || '{"_alerts": true}'
    where id in (select realm_id from changed) and not settings ? '_alerts';
    return null;
end
$$;
create trigger alert_words_noted after insert on alert_word
    referencing new table as changed for each statement execute function alert_words_noted();

create table user_status (
    user_id bigint primary key references account on delete cascade,
    status_text text not null default '' check (char_length(status_text) <= 60),
    -- All three are set, or none.
    emoji_name text not null default '',
    emoji_code text not null default '',
    reaction_type text not null default 'unicode_emoji'
        check (reaction_type in ('unicode_emoji', 'realm_emoji', 'service_extra_emoji')),
    check ((emoji_name = '') = (emoji_code = ''))
);

-- Numbers the changes of a realm's presence. Whoever writes presences holds the row first, so that a change with a lower
-- number is never seen after one with a higher.
create table presence_clock (
    realm_id bigint primary key references realm on delete cascade,
    last_id bigint not null
);
create table presence (
    user_id bigint primary key references account on delete cascade,
    realm_id bigint not null references realm,
    -- When they last did something; null: never seen doing anything.
    active_at timestamptz,
    -- When a client of theirs was last connected.
    connected_at timestamptz not null,
    update_id bigint not null
) with (fillfactor = 70);
create index on presence (realm_id, update_id);

-- An invitation to one address, or a link for many (email is null). It is deleted when it is used or taken back.
create table invitation (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    inviter_id bigint not null,
    email text,
    email_key text,
    invited_as smallint not null check (invited_as in (100, 200, 300, 400, 600)),
    channel_ids bigint[] not null,
    group_ids bigint[] not null,
    with_defaults boolean not null,
    tells_inviter boolean not null,
    -- Of the key in the link. Lists show the links for many again, so their key is stored as well.
    digest bytea not null unique check (length(digest) = 32),
    key text,
    created timestamptz not null default now(),
    -- Null: never.
    expires timestamptz,
    foreign key (realm_id, inviter_id) references account (realm_id, id) on delete cascade,
    check ((email is null) = (email_key is null)),
    check ((email is null) = (key is not null))
);
create index on invitation (realm_id, id);
create index on invitation (realm_id, email_key) where email_key is not null;
create index on invitation (inviter_id);
create index on invitation (expires) where expires is not null;

-- An address that somebody has typed: it is theirs if they bring the key back that was sent there.
create table signup (
    digest bytea primary key check (length(digest) = 32),
    realm_id bigint not null references realm,
    email text not null,
    email_key text not null,
    -- The link for many they came by; null: everybody may join.
    invitation_id bigint references invitation on delete cascade,
    expires timestamptz not null
);
create index on signup (realm_id, email_key);
create index on signup (invitation_id);
create index on signup (expires);

-- How many mails of invitations an organization had sent on a day (UTC).
create table invitation_mails (
    realm_id bigint not null references realm,
    day date not null,
    mails integer not null,
    primary key (realm_id, day)
);
