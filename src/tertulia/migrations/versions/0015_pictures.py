"""Pictures: avatars, the organization's icon and logos, and custom emoji, whose bytes are objects in the store."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

SQL = """
-- The name of an uploaded picture, which nobody can guess; null: one is drawn from the account's number.
alter table account add column avatar text check (avatar ~ '^[0-9a-f]{40}$');
create unique index on account (avatar) where avatar is not null;

-- Numbers are made text first, so that the planner puts this into the query: see api_email.
create function avatar_url(account) returns text language sql immutable parallel safe as $$
    select case when $1.avatar is null then '/avatar/' || $1.id::text
        else '/user_avatars/' || $1.realm_id::text || '/' || $1.avatar || '.png' end || '?v=' || $1.avatar_version::text
$$;

-- A picture of an organization. The row stays when the picture is taken away, because its number goes on.
create table realm_picture (
    realm_id bigint not null references realm on delete cascade,
    kind text not null check (kind in ('icon', 'logo', 'night_logo')),
    name text check (name ~ '^[0-9a-f]{40}$'),
    version integer not null default 1,
    primary key (realm_id, kind)
);

-- What the columns held is in the store from now on.
alter table custom_emoji drop column picture, drop column still;
alter table custom_emoji add column moves boolean not null default false;
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
