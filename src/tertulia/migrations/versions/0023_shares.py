"""Whose share of the organization's channels, groups and custom emoji each of them takes."""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

SQL = """
-- The person who made it, by themselves or by a bot: giving the bot away does not empty the share. Null: it takes none of
-- anybody's, because an administrator made it, or nobody.
alter table channel add column share_of bigint references account on delete set null;
alter table user_group add column share_of bigint references account on delete set null;
alter table custom_emoji add column share_of bigint references account on delete set null;

create function take_share_of_creator() returns trigger language plpgsql as $$
begin
    select coalesce(bot_owner_id, id) into new.share_of from account where id = new.creator_id and role > 200;
    return new;
end
$$;
create trigger take_share before insert on channel for each row execute function take_share_of_creator();
create trigger take_share before insert on user_group
    for each row when (new.creator_id is not null) execute function take_share_of_creator();
create function take_share_of_author() returns trigger language plpgsql as $$
begin
    select coalesce(bot_owner_id, id) into new.share_of from account where id = new.author_id and role > 200;
    return new;
end
$$;
create trigger take_share before insert on custom_emoji for each row execute function take_share_of_author();

update channel set share_of = coalesce(bot_owner_id, account.id) from account
where account.id = creator_id and role > 200;
update user_group set share_of = coalesce(bot_owner_id, account.id) from account
where account.id = creator_id and role > 200;
update custom_emoji set share_of = coalesce(bot_owner_id, account.id) from account
where account.id = author_id and role > 200;

create index on channel (share_of) where share_of is not null;
create index on user_group (share_of) where share_of is not null;
create index on custom_emoji (share_of) where share_of is not null;

-- The person who named a picture from elsewhere that waits, by themselves or by a bot. Null: nobody, it is of an old message.
alter table remote_picture add column named_by bigint references account on delete set null;
create index on remote_picture (named_by) where state = 0;

-- What arrived of uploads under way is counted for each part.
create index on resumable_upload (realm_id) where attachment_id is null;
"""


def upgrade() -> None:
    """Add the columns."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
