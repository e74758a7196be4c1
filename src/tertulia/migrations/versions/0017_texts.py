"""Texts of the notification bot are kept as parts, and reminders refer to their message instead of keeping its text."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

SQL = """
-- What was to be said in the moment of the upgrade was markup already, and is said as it is.
update notice set body = (body - 'content') || jsonb_build_object(
    'text', jsonb_build_array(jsonb_build_object('type', 'Written', 'content', body->'content'))
) where body ? 'content';

-- A message may be edited, deleted or out of reach when its reminder comes: nothing of it is kept here.
alter table reminder drop column content;
alter table reminder rename column rendered to rendered_note;
update reminder set rendered_note = case when note = '' then '' else
    '<p>' || replace(replace(replace(note, '&', '&amp;'), '<', '&lt;'), '>', '&gt;') || '</p>' end;
"""


def upgrade() -> None:
    """Change the rows."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
