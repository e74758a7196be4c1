"""Which session at a provider a login here came from, so that a log-out there ends it; and when a directory was last read."""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

SQL = """
-- The provider that somebody logged in with, and what it calls its own session with that browser. Null: another way in, or
-- a login of before this was noted.
alter table browser_session add column issuer text, add column provider_session text;
alter table api_key add column issuer text, add column provider_session text;
create index on browser_session (issuer, provider_session) where issuer is not null;
create index on api_key (issuer, provider_session) where issuer is not null;

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
"""


def upgrade() -> None:
    """Add the columns and tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
