"""Emoji: custom ones, reactions; widgets; linkifiers."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

SQL = """
create table custom_emoji (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm,
    name text not null,
    author_id bigint,
    is_deactivated boolean not null default false,
    date_created timestamptz not null default now(),
    -- The picture, 64 by 64 and a few kilobytes: it lives here, where every node has it and a backup takes it along.
    file_name text not null,
    picture bytea not null,
    -- Of a moving one: its first frame.
    still bytea,
    unique (realm_id, id),
    foreign key (realm_id, author_id) references account (realm_id, id)
);
create unique index on custom_emoji (realm_id, name) where not is_deactivated;
create index on custom_emoji (realm_id, file_name);

create table reaction (
    message_id bigint not null references message on delete cascade,
    user_id bigint not null references account,
    emoji_name text not null,
    emoji_code text not null,
    reaction_type text not null check (reaction_type in ('unicode_emoji', 'realm_emoji', 'service_extra_emoji')),
    reacted_at timestamptz not null default clock_timestamp(),
    primary key (message_id, user_id, reaction_type, emoji_code)
);

create table submessage (
    id bigint generated always as identity primary key,
    message_id bigint not null references message on delete cascade,
    sender_id bigint not null references account,
    msg_type text not null,
    content text not null,
    sent_at timestamptz not null default clock_timestamp()
);
create index on submessage (message_id, id);

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
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
