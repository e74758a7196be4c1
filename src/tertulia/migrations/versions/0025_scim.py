"""SCIM: the tokens of directories, and what they call the people and groups they keep."""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

SQL = """
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
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
