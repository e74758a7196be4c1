"""Descriptions whose HTML is very long are shown as they were written, as those made since then.

Until then a channel's description of a thousand emoji was 85 KB of HTML, in everybody's registration. What people wrote stays
as it is; only its HTML changes. Rows that are short enough are not touched.
"""

from alembic import op

revision = "0032"
down_revision = "0030"
branch_labels = None
depends_on = None

SQL = """
create function as_written(text text) returns text language sql immutable as $$
    select '<p>' || replace(replace(replace(replace($1, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), chr(160), '&nbsp;') || '</p>'
$$;
update channel set rendered_description = as_written(description) where length(rendered_description) > 16000;
update channel_folder set rendered_description = as_written(description) where length(rendered_description) > 16000;
update profile_value set rendered = as_written(value) where length(rendered) > 16000;
drop function as_written;
"""


def upgrade() -> None:
    """Short HTML in place of long."""
    op.execute(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
