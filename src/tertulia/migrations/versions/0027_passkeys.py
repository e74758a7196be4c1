"""Passkeys: public keys of authenticators, and the challenges that they sign once."""

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

SQL = """
-- What authenticators know the account by: random, so that it says nothing of the person. Null: it was never needed.
alter table second_factor add column handle bytea check (length(handle) = 32);

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
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
