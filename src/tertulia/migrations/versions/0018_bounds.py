"""What can be piled up has bounds, and what checks them at constant cost."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

SQL = """
-- html_diff: the difference that an edit made, once somebody has asked for it. number: how many texts the message had before.
-- size: characters, known without unpacking the texts.
alter table message_revision
    add column html_diff text,
    add column number integer,
    add column size integer not null generated always as
        (coalesce(length(prev_content), 0) + coalesce(length(prev_rendered), 0)) stored;
update message_revision set number = counted.number from (
    select id, row_number() over (partition by message_id order by id) as number
    from message_revision where prev_content is not null
) as counted
where message_revision.id = counted.id;
alter table message_revision add check ((prev_content is null) = (number is null));
drop index message_revision_message_id_idx;
create index on message_revision (message_id, id) where message_id is not null;

-- number and size: how many submessages and bytes a message has up to this one; own_number and own_size: of them, those of
-- its sender. The first one, which opens the widget, comes with the message and counts nothing.
alter table submessage
    add column number integer not null default 0,
    add column size integer not null default 0,
    add column own_number integer not null default 0,
    add column own_size integer not null default 0;
update submessage set number = counted.number, size = counted.size, own_number = counted.own_number, own_size = counted.own_size
from (
    select id, row_number() over whole as number, sum(octet_length(content)) over whole as size,
        row_number() over own as own_number, sum(octet_length(content)) over own as own_size
    from submessage
    where exists (
        select from submessage as opening where opening.message_id = submessage.message_id and opening.id < submessage.id
    )
    window whole as (partition by message_id order by id), own as (partition by message_id, sender_id order by id)
) as counted
where submessage.id = counted.id;
create index on submessage (message_id, sender_id, id);

create index on hook_call (bot_id);
create index if not exists account_bot_owner_id_idx on account (bot_owner_id) where bot_owner_id is not null;
"""


def upgrade() -> None:
    """Add the columns, and count what is there."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
