"""Proving anew who one is: the old address agrees to a new one, and the name somebody has in the directory is known."""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

SQL = """
-- Requests of before were sent to the new address only: who made one asks again.
delete from email_change;
alter table email_change
    add column old_digest bytea not null unique check (length(old_digest) = 32),
    add column is_new_agreed boolean not null default false,
    add column is_old_agreed boolean not null default false;

-- What a person of the directory typed at their last login; null: that was before it was noted, or another provider.
alter table external_identity add column username text;

-- What somebody recognizes their sessions and keys by.
alter table browser_session add column address text not null default '', add column agent text not null default '';
alter table api_key add column address text not null default '';

-- Where an attempt came from: "network ADDRESS", "device DIGEST" of a browser's cookie, or the session of who is logged in.
alter table login_failure add column place text not null default '';

-- Where somebody has logged in from, by the same names.
create table login_place (
    user_id bigint not null references account on delete cascade,
    place text not null,
    last_used timestamptz not null default now(),
    primary key (user_id, place)
);
"""


def upgrade() -> None:
    """Change the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
