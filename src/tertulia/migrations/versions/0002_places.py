"""Places by conversation: who marks messages holds where these are, not where all messages of the organization are."""

from tertulia.migrations.steps import run

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None
works_with = "0001"

# In `hold_places` each statement sees what was committed before it: a message that moved while its conversation was waited for
# is looked up again, until all are where they were found. So it takes one call of the client, not three.
SQL = """
create function place_of(of_realm bigint, of_conversation bigint) returns bigint language sql immutable
    return of_realm * 256 + of_conversation % 256;

create function hold_places(of_realm bigint, message_ids bigint[]) returns void language plpgsql as $$
declare
    held bigint[] := '{}';
    others bigint[];
begin
    loop
        select array_agg(place order by place) into others from (
            select distinct place_of(of_realm, conversation_id) as place from message where id = any(message_ids)
        ) as found
        where place <> all(held);
        exit when others is null;
        perform pg_advisory_xact_lock_shared(hashtextextended('places', place)) from unnest(others) as other(place);
        held := held || others;
    end loop;
end
$$;
"""


def upgrade() -> None:
    """Make the functions."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
