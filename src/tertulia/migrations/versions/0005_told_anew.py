"""Edits that mention more people: whom a message concerns anew, and when it began to."""

from tertulia.migrations.steps import run

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None
works_with = "0001"

# A program of the version before takes an edit for a new message, and tells everybody whom it concerns, once more.
SQL = """
-- People with a number up to `told_until` have been dealt with when the text was another, which mentioned those named here.
-- Of them only those are told whom it did not concern then.
alter table push_due add column told_until bigint not null default 0;
alter table push_due add column edited_at timestamptz;
alter table push_due add column former_names bigint[];
alter table push_due add column former_groups bigint[];
alter table push_due add column former_wildcard smallint not null default 0;

-- When it began to concern this person, if that was not when it was sent.
alter table missed_message add column edited_at timestamptz;
"""


def upgrade() -> None:
    """Add the columns."""
    run(SQL)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
