"""What is held is counted once and not at each upload, and a hold on a person is one on what their bots wrote."""

from tertulia.migrations.steps import run

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None
works_with = "0001"

# A program of the version before adds up all copies at each upload, which is as right as before.
SQL = """
-- Bytes of files that were deleted under a hold. Null: nobody has counted them; whoever changes the copies does.
alter table upload_space add column held bigint;

create function held_bytes(of_realm bigint) returns bigint language sql stable parallel safe as $$
    select coalesce(sum((body->>'size')::bigint), 0)::bigint from held_copy where realm_id = of_realm and key is not null
$$;

create function count_held_files() returns trigger language plpgsql as $$
begin
    if tg_op = 'INSERT' then
        insert into upload_space (realm_id, used)
        select distinct realm_id, 0 from changed where key is not null on conflict do nothing;
    end if;
    -- Whoever waits for the row adds to what the one before has counted.
    update upload_space set held = coalesce(
        held + case tg_op when 'DELETE' then -bytes else bytes end, held_bytes(upload_space.realm_id)
    ) from (
        select realm_id, sum((body->>'size')::bigint)::bigint as bytes from changed where key is not null group by realm_id
    ) as files where files.realm_id = upload_space.realm_id;
    return null;
end
$$;
create trigger count_added after insert on held_copy referencing new table as changed
for each statement execute function count_held_files();
create trigger count_removed after delete on held_copy referencing old table as changed
for each statement execute function count_held_files();

-- Whether a hold is upon something of somebody in a conversation: on the organization, the author, whose bot the author is, or
-- who takes part in it where people talk directly.
create or replace function is_held(of_realm bigint, of_user bigint, of_conversation bigint) returns boolean
language sql stable parallel safe as $$
    select exists (
        select from legal_hold where realm_id = of_realm and (
            user_id is null or user_id = of_user
            or user_id = (select bot_owner_id from account where account.id = of_user)
            or user_id = any(
                (select participants from conversation where conversation.id = of_conversation)::bigint[]
            )
        )
    )
$$;
"""


def upgrade() -> None:
    """Add the number, and what keeps it."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
