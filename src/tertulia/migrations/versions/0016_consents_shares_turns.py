"""Since when people agree to be in exports; what is held of whose share; whose turn it is with digests."""

from tertulia.migrations.steps import run

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None
works_with = "0001"

# A program of the version before does not note when somebody agrees: they count as having agreed before. It adds up what is
# held of a share, and takes the organizations by their numbers.
SQL = """
-- Bytes that deleted files under a hold take of somebody's share: 4,096 of each at least, as of files that are there.
create table held_share (
    user_id bigint primary key references account on delete cascade,
    bytes bigint not null
);
create function count_held_shares() returns trigger language plpgsql as $$
begin
    insert into held_share (user_id, bytes)
    select share_of, case tg_op when 'DELETE' then -bytes else bytes end from (
        select (body->>'share_of')::bigint as share_of, sum(greatest((body->>'size')::bigint, 4096))::bigint as bytes
        from changed where key is not null group by 1
    ) as files where exists (select from account where account.id = share_of)
    order by share_of on conflict (user_id) do update set bytes = held_share.bytes + excluded.bytes;
    return null;
end
$$;
-- Their names come after those that hold the organization's space: nobody else in it counts meanwhile.
create trigger count_added_shares after insert on held_copy referencing new table as changed
for each statement execute function count_held_shares();
create trigger count_removed_shares after delete on held_copy referencing old table as changed
for each statement execute function count_held_shares();
-- Nobody writes copies until the commit, because of the triggers.
insert into held_share (user_id, bytes)
select account.id, sum(greatest((body->>'size')::bigint, 4096))
from held_copy join account on account.id = (body->>'share_of')::bigint where key is not null group by 1;

-- When digests of the organization were made last: each has its turn.
alter table digest_run add column served timestamptz;

-- Since when they agree to be in exports, if they do (settings: allow_private_data_export). Who is here already counts as having
-- agreed always, and whom an archive brings since then. Last, because everybody waits for it until the commit.
alter table account add column consented timestamptz not null default '-infinity';
alter table account alter column consented set default now();
"""


def upgrade() -> None:
    """Add them."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
