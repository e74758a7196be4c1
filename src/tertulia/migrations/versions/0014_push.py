"""Web Push: browsers that want to be told, and what is on its way to them."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

SQL = """
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
    auth_secret bytea not null check (length(auth_secret) = 16),
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
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
