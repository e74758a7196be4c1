"""Whom a message concerns, decided in steps; mails about missed messages, and what they are made of."""

from tertulia.migrations.steps import run

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None
works_with = "0001"

# People with a number up to `after_user` are dealt with. A program of the version before ignores it and deals with all.
SQL = """
alter table push_due add column after_user bigint not null default 0;

-- Who has missed messages that a mail is to be about, and when it is due: the first of them sets the time.
create table mail_batch (
    user_id bigint primary key references account on delete cascade,
    due timestamptz not null
);
create index on mail_batch (due);
create table missed_message (
    user_id bigint not null references mail_batch on delete cascade,
    message_id bigint not null references message on delete cascade,
    -- They were there shortly before it came: it has to be seen whether they had left.
    was_active boolean not null,
    primary key (user_id, message_id)
);
create index on missed_message (message_id);

-- Addresses whose mail server said of the last mails that nobody is there.
create table mail_failure (
    email_key text primary key,
    failures integer not null check (failures > 0),
    failing_since timestamptz not null default now(),
    failed_at timestamptz not null default now(),
    reason text not null check (char_length(reason) <= 500)
);

-- What a mail has besides its plain text, as JSON. Sealed. A program of the version before sends the text alone.
alter table mail_outbox add column letter text;
"""


def upgrade() -> None:
    """Make the tables."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
