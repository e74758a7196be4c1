"""People, continued: changes of address, domains, defaults of settings."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

SQL = """
-- What a new person's settings are, as far as it differs from the defaults of people/preferences/model.py.
alter table realm add column user_defaults jsonb not null default '{}';

-- A change of address that waits until somebody shows that mail to the new one reaches them. The last one counts.
create table email_change (
    user_id bigint primary key references account on delete cascade,
    digest bytea not null unique check (length(digest) = 32),
    old_email_key text not null,
    new_email text not null,
    expires timestamptz not null
);
create index on email_change (expires);

-- Where the addresses of people are, in organizations that restrict that.
create table realm_domain (
    realm_id bigint not null references realm,
    domain text not null check (domain = lower(domain) and char_length(domain) between 1 and 253),
    allow_subdomains boolean not null default false,
    id bigint generated always as identity,
    primary key (realm_id, domain)
);

-- A name for a session that can be shown.
alter table browser_session add column id bigint generated always as identity unique;

-- Where a bot sends when it names no channel, and what it listens to when it does not say.
create table bot_default (
    user_id bigint primary key references account on delete cascade,
    sending_channel_id bigint references channel,
    register_channel_id bigint references channel,
    all_public_channels boolean not null default false
);
create index on bot_default (sending_channel_id);
create index on bot_default (register_channel_id);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
