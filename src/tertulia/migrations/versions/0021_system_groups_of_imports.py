"""System groups that came with an import from another program have settings, as those of any other organization."""

from tertulia.migrations.steps import run_alone

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None
works_with = "0001"

REPEATABLE = (
    """
    do $$
    begin
        loop
            update user_group set can_add_members_group = nobody.id, can_join_group = nobody.id, can_leave_group = nobody.id,
                can_manage_group = nobody.id, can_mention_group = nobody.id, can_remove_members_group = nobody.id
            from user_group as nobody
            where (user_group.id, nobody.id) in (
                select bare.id, other.id from user_group as bare join user_group as other using (realm_id)
                where bare.is_system and bare.can_manage_group is null and other.is_system and other.name = 'role:nobody'
                limit 1000
            );
            exit when not found;
            commit;
        end loop;
    end $$
    """,
)
"""What is said of them where they are made (organization/groups/statements.py): nobody changes them."""


def upgrade() -> None:
    """Give them settings, a thousand at a time."""
    run_alone(REPEATABLE)


def downgrade() -> None:
    """Forward only: restore a backup to go back."""
    raise NotImplementedError("migrations go forward only: restore a backup to go back")
