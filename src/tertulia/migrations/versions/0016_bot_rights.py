"""One rule for bots: what a bot counts as follows its owner. Keys know how they were made."""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

SQL = """
-- account.role is what counts, everywhere. A bot was given a role of its own (bot_role), and counts as the lower of that and
-- its owner's at this moment; without an owner it is a member at most. Kept here, so that no statement can forget it.
alter table account add column bot_role smallint check (bot_role in (100, 200, 300, 400, 600));
update account set bot_role = role where bot_type is not null;
alter table account add check ((bot_type is null) = (bot_role is null));
create index on account (bot_owner_id) where bot_owner_id is not null;

create function bot_counts_as() returns trigger language plpgsql as $$
declare
    owner_role smallint := 400;
begin
    if new.bot_type is null then
        new.bot_role := null;
        return new;
    end if;
    new.bot_role := coalesce(new.bot_role, new.role);
    if new.bot_owner_id is not null then
        -- Held: whoever changes the owner's role at the same moment finds this bot afterwards, or is waited for.
        select role into owner_role from account where id = new.bot_owner_id for share;
    end if;
    new.role := greatest(new.bot_role, coalesce(owner_role, 400::smallint));
    return new;
end
$$;
create trigger bot_counts_as before insert or update of role, bot_role, bot_type, bot_owner_id on account
    for each row execute function bot_counts_as();

create function bots_follow_their_owner() returns trigger language plpgsql as $$
begin
    update account set role = role where bot_owner_id = new.id;
    return null;
end
$$;
create trigger bots_follow_their_owner after update of role on account
    for each row when (old.role is distinct from new.role and new.bot_type is null)
    execute function bots_follow_their_owner();

update account set role = role where bot_type is not null;

-- How a key was got (people/users/model.py). Of those that are there already nobody knows.
alter table api_key add column made_by text not null default 'unknown'
    check (made_by in ('password', 'session', 'provider', 'owner', 'operator', 'unknown'));
-- Nothing that opened an account before it was switched off opens it afterwards.
delete from api_key using account where account.id = api_key.user_id and not account.is_active;
delete from browser_session using account where account.id = browser_session.user_id and not account.is_active;
"""


def upgrade() -> None:
    """Make the columns and the triggers."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
