"""Erasing people, and legal holds: how far an erasure has come, what is held, and copies of what was deleted meanwhile."""

from tertulia.migrations.steps import run

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None
works_with = "0001"

# A program of the version before knows nothing of holds. Copies are kept all the same, because the database keeps them.
SQL = """
-- Nothing in the row names a person any more, and the account never comes back.
alter table account add column is_erased boolean not null default false;
alter table account add constraint account_erased check (not (is_erased and is_active)) not valid;

-- Ids, times and numbers only: it stays, so that an older archive of the database can be brought to the same state.
create table erasure (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm on delete cascade,
    user_id bigint not null unique references account on delete cascade,
    -- The person, and the bots that were theirs.
    account_ids bigint[] not null,
    messages text not null check (messages in ('keep', 'delete', 'anonymize')),
    -- What is being done, and how far it is: changed by the transaction that does it. Null: nothing is left to do.
    stage text,
    last_id bigint not null default 0,
    -- The newest message when it was asked for: one that comes right after may have been written with the old name.
    since_message bigint not null default 1,
    -- By table: how many rows are gone, or were changed.
    counts jsonb not null default '{}',
    asked timestamptz not null default now(),
    asked_by bigint references account on delete set null,
    -- The next step is not to be done before.
    due timestamptz not null default now(),
    finished timestamptz
);
create index on erasure (realm_id);
create index on erasure (asked_by);
create index on erasure (due) where stage is not null;

-- Of a person, or of all of an organization (user_id is null).
create table legal_hold (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm on delete cascade,
    user_id bigint,
    reason text not null default '' check (char_length(reason) <= 200),
    made_by bigint references account on delete set null,
    created timestamptz not null default now(),
    unique nulls not distinct (realm_id, user_id),
    foreign key (realm_id, user_id) references account (realm_id, id) on delete cascade
);
create index on legal_hold (made_by);

-- What was deleted while it was held, as it was.
create table held_copy (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm on delete cascade,
    kind text not null check (kind in ('message', 'attachment')),
    -- Whose it was, and in which conversation: by these it is found out whether anything holds it still.
    user_id bigint,
    conversation_id bigint,
    body jsonb not null,
    -- Of a file: its object in the store, which stays as long as this row.
    key text,
    deleted timestamptz not null default clock_timestamp()
);
create index on held_copy (realm_id, id);
create index on held_copy (key) where key is not null;

-- Whether a hold is upon something of somebody in a conversation: on the organization, the author, or who takes part in it
-- where people talk directly.
create function is_held(of_realm bigint, of_user bigint, of_conversation bigint) returns boolean
language sql stable parallel safe as $$
    select exists (
        select from legal_hold where realm_id = of_realm and (
            user_id is null or user_id = of_user
            or user_id = any(
                (select participants from conversation where conversation.id = of_conversation)::bigint[]
            )
        )
    )
$$;

-- The law of holds: whoever deletes, and by whatever statement, leaves a copy in the same transaction. Where nothing is held it
-- costs one look into an empty table. Before the row goes, because what belongs to a message goes with it.
create function keep_held_message() returns trigger language plpgsql as $$
begin
    if is_held(old.realm_id, old.sender_id, old.conversation_id) then
        insert into held_copy (realm_id, kind, user_id, conversation_id, body)
        select old.realm_id, 'message', old.sender_id, old.conversation_id, to_jsonb(old) - 'search' || jsonb_build_object(
            'topic', (select name from topic where id = old.topic_id),
            'channel', (select name from channel where id = old.conversation_id),
            'participants', (select to_jsonb(participants) from conversation where id = old.conversation_id),
            'revisions', (
                select coalesce(jsonb_agg(to_jsonb(message_revision) order by id), '[]')
                from message_revision where message_id = old.id
            ),
            'reactions', (
                select coalesce(jsonb_agg(to_jsonb(reaction) order by reacted_at), '[]')
                from reaction where message_id = old.id
            )
        );
    end if;
    return old;
end
$$;
create trigger keep_held before delete on message for each row execute function keep_held_message();

create function keep_held_file() returns trigger language plpgsql as $$
begin
    if is_held(old.realm_id, old.owner_id, null) then
        insert into held_copy (realm_id, kind, user_id, body, key)
        values (old.realm_id, 'attachment', old.owner_id, to_jsonb(old), old.key);
    end if;
    return old;
end
$$;
create trigger keep_held before delete on attachment for each row execute function keep_held_file();
"""


def upgrade() -> None:
    """Make the tables, and the triggers that keep copies."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
