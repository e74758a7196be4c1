"""When setting up an authenticator was begun, and whose share of the organization's files each of them takes."""

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

SQL = """
-- A secret that nobody confirms is good for some minutes only.
alter table second_factor add column begun timestamptz not null default now();

-- The person who uploaded it, by themselves or by a bot: giving the bot away does not empty the share. Null: it takes none of
-- anybody's, because an administrator uploaded it.
alter table attachment add column share_of bigint references account on delete set null;
create function take_share_of_owner() returns trigger language plpgsql as $$
begin
    select coalesce(bot_owner_id, id) into new.share_of from account where id = new.owner_id and role > 200;
    return new;
end
$$;
create trigger take_share before insert on attachment for each row execute function take_share_of_owner();
update attachment set share_of = coalesce(bot_owner_id, account.id) from account
where account.id = owner_id and role > 200;
create index on attachment (share_of) include (size) where share_of is not null;
"""


def upgrade() -> None:
    """Add the columns."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
