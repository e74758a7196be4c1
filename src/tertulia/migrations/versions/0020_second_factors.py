"""Second factors: the secret of an authenticator, recovery codes, and until when somebody logs in without."""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

SQL = """
create table second_factor (
    user_id bigint primary key references account on delete cascade,
    -- Of an authenticator; it counts once a code has confirmed it.
    secret bytea,
    is_confirmed boolean not null default false,
    -- The last step whose code was used: none is used twice.
    last_step bigint not null default 0,
    -- Until when somebody whose organization asks for a factor logs in without; null: that has not begun.
    due timestamptz,
    check (secret is not null or not is_confirmed)
);

create table recovery_code (
    user_id bigint not null references account on delete cascade,
    digest bytea not null check (length(digest) = 32),
    primary key (user_id, digest)
);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
