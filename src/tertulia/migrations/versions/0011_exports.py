"""Exports that people ask for: the worker makes them."""

from tertulia.migrations.steps import run

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None
works_with = "0001"

# A program of the version before does not look here: what is asked for waits for a worker of this one.
SQL = """
create table export_job (
    id bigint generated always as identity primary key,
    realm_id bigint not null references realm on delete cascade,
    -- Who asked.
    user_id bigint not null references account on delete cascade,
    -- Whose private data: nobody's, that of those who agree, or only what is the asker's own. Never everybody's.
    scope text not null check (scope in ('public', 'consenting', 'mine')),
    asked timestamptz not null default now(),
    -- The lease: nobody else takes it up before. Whoever has it is known by the key of the object they write.
    due timestamptz not null default now(),
    attempts smallint not null default 0,
    key text unique,
    messages_done bigint not null default 0,
    messages_total bigint,
    ended timestamptz,
    -- Why there is none.
    failed text,
    size bigint check (size >= 0),
    expires timestamptz,
    deleted timestamptz,
    check (ended is null or failed is not null or (key is not null and size is not null and expires is not null)),
    check (ended is not null or (failed is null and deleted is null))
);
-- One at a time: of an organization, and of a person.
create unique index export_job_of_realm on export_job (realm_id) where ended is null and scope <> 'mine';
create unique index export_job_of_person on export_job (user_id) where ended is null and scope = 'mine';
create index on export_job (realm_id);
create index on export_job (user_id);
create index on export_job (due) where ended is null;
create index on export_job (expires) where deleted is null;
"""


def upgrade() -> None:
    """Make the table."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
