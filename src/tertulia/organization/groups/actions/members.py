"""Adding and removing direct members and subgroups. The caller holds the group, so nobody else changes it meanwhile."""

import msgspec

from tertulia.content.markup.writing import GroupMention, Mention, worded
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import check_count
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization import audit_log
from tertulia.organization.audit_log import Act, note
from tertulia.organization.groups import queries, statements
from tertulia.organization.groups.access import hold_group
from tertulia.organization.groups.actions.create import check_size
from tertulia.organization.groups.bounds import SUBGROUPS
from tertulia.organization.groups.events import tell_members, tell_subgroups
from tertulia.organization.groups.holders import check_exists, check_users
from tertulia.organization.groups.model import Group
from tertulia.organization.groups.rules import GroupAction, action_on_members, group_deactivated, no_such_group
from tertulia.organization.groups.values import GroupMembers
from tertulia.organization.groups.visibility import end_queues_of_groups, end_queues_of_members
from tertulia.organization.groups.words import words_of
from tertulia.organization.notices import Notice, may_tell, tell
from tertulia.organization.notices.queries import languages_of

MAX_TOLD = 100
"""More people than this are not told one by one that somebody put them into a group, or took them out."""


class Edit(msgspec.Struct, frozen=True):
    """Direct members and subgroups to add and to remove; done in this order."""

    add: list[int] | None = None
    remove: list[int] | None = None
    add_subgroups: list[int] | None = None
    remove_subgroups: list[int] | None = None


async def edit_group(tx: Transaction, caller: Caller, group_id: int, edit: Edit) -> None:
    """Change who and what is in a group, all or nothing."""
    if not any(msgspec.structs.astuple(edit)):
        raise Refusal("Nothing to do: send somebody or something to add or to remove.")
    group = await hold_group(tx, caller, group_id, *_actions_of(edit, caller.user_id))
    # All people at once, in their order: whoever changes several of them meanwhile must not wait in a circle with us.
    await check_users(tx, caller.realm_id, sorted({*(edit.add or ()), *(edit.remove or ())}))
    changes = (add_members, remove_members, add_subgroups, remove_subgroups)
    for ids, change in zip(msgspec.structs.astuple(edit), changes, strict=True):
        if ids:
            await change(tx, caller.realm_id, group, sorted(set(ids)))
    if edit.add:
        await check_size(tx, caller, group.id)
    await _notify(tx, caller, group, edit)
    changed = {name: (None, sorted(set(ids))) for name, ids in msgspec.structs.asdict(edit).items() if ids}
    note(tx, caller.realm_id, Act.GROUP_MEMBERS_CHANGED, audit_log.group(group.id), **changed)


async def place_members(tx: Transaction, realm_id: int, group_id: int, edit: Edit) -> Edit:
    """Put people into a group and take people out, as a directory of the organization says; returns what made a difference.

    The directory needs no right, and who is in or out already is no error. Groups of the system are nobody's.
    """
    await statements.lock_groups(tx, realm_id)
    group = await queries.lock_group(tx, realm_id, group_id)
    if group is None or group.is_system:
        raise no_such_group()
    if group.is_deactivated:
        raise group_deactivated()
    named = sorted({*(edit.add or ()), *(edit.remove or ())})
    active = await queries.hold_active_users(tx, realm_id, named)
    inside = await queries.direct_members_among(tx, group_id, named)
    add = sorted(active & set(edit.add or ()) - inside)
    remove = sorted(active & set(edit.remove or ()) & inside)
    if add:
        await add_members(tx, realm_id, group, add)
    if remove:
        await remove_members(tx, realm_id, group, remove)
    if changed := {name: (None, ids) for name, ids in (("add", add), ("remove", remove)) if ids}:
        note(tx, realm_id, Act.GROUP_MEMBERS_CHANGED, audit_log.group(group.id), **changed)
    return Edit(add, remove)


def _actions_of(edit: Edit, own_id: int) -> list[GroupAction]:
    wanted = []
    if edit.add:
        wanted.append(action_on_members(edit.add, own_id, adding=True))
    if edit.remove:
        wanted.append(action_on_members(edit.remove, own_id, adding=False))
    if edit.add_subgroups and GroupAction.ADD_MEMBERS not in wanted:
        wanted.append(GroupAction.ADD_MEMBERS)
    if edit.remove_subgroups:
        wanted.append(GroupAction.MANAGE)
    return wanted


async def _notify(tx: Transaction, caller: Caller, group: Group, edit: Edit) -> None:
    """Tell people by a message that somebody else put them into the group, or took them out."""
    added, removed = (set(ids or ()) - {caller.user_id} for ids in (edit.add, edit.remove))
    if not 0 < len(added) + len(removed) <= MAX_TOLD or not await may_tell(tx, caller):
        return
    people = await queries.people_among(tx, sorted(added | removed))
    actor, name = Mention(caller.user_id, caller.full_name), GroupMention(group.name)
    languages = await languages_of(tx, sorted(people))
    texts = [(user_id, words_of(languages[user_id]).added) for user_id in sorted(added & people)]
    texts += [(user_id, words_of(languages[user_id]).removed) for user_id in sorted(removed & people)]
    notices = [
        Notice(worded(text, who=actor, group=name), user_id=user_id, read_by=caller.user_id) for user_id, text in texts
    ]
    await tell(tx, caller.realm_id, notices)


async def add_members(tx: Transaction, realm_id: int, group: Group, wanted: list[int]) -> None:
    """Add direct members; nobody may be one already."""
    await check_users(tx, realm_id, wanted)
    added = await statements.insert_members(tx, realm_id, group.id, wanted)
    for user_id in wanted:
        if user_id not in added:
            raise Refusal(f"User {user_id} is already a member of this group.")
    await tell_members(tx, realm_id, "add_members", group.id, wanted, is_deactivated=group.is_deactivated)
    await end_queues_of_members(tx, realm_id, group.id, wanted)


async def remove_members(tx: Transaction, realm_id: int, group: Group, wanted: list[int]) -> None:
    """Remove direct members; everybody must be one."""
    await check_users(tx, realm_id, wanted)
    removed = await statements.delete_members(tx, group.id, wanted)
    for user_id in wanted:
        if user_id not in removed:
            raise Refusal(f"User {user_id} is not a member of this group.")
    await tell_members(tx, realm_id, "remove_members", group.id, wanted, is_deactivated=group.is_deactivated)
    await end_queues_of_members(tx, realm_id, group.id, wanted)


async def edit_deactivated(tx: Transaction, caller: Caller, group_id: int, add: list[int], remove: list[int]) -> None:
    """Change which deactivated people, who are held, will be in a group when their accounts come back.

    Nobody is told, because nobody sees them in it until then.
    """
    group = await hold_group(tx, caller, group_id, GroupAction.ADD_MEMBERS, GroupAction.REMOVE_MEMBERS)
    await statements.insert_members(tx, caller.realm_id, group.id, add)
    await statements.delete_members(tx, group.id, remove)
    changed = {name: (None, ids) for name, ids in (("add", add), ("remove", remove)) if ids}
    note(tx, caller.realm_id, Act.GROUP_MEMBERS_CHANGED, audit_log.group(group.id), **changed)


async def add_subgroups(tx: Transaction, realm_id: int, group: Group, wanted: list[int]) -> None:
    """Add direct subgroups; none of them may be the group itself or hold it."""
    await check_exists(tx, realm_id, GroupMembers([], wanted))
    if group.id in await queries.all_subgroups(tx, wanted):
        raise Refusal("A user group can't be a part of itself: it is one of these subgroups, or is below one of them.")
    added = await statements.insert_subgroups(tx, realm_id, group.id, wanted)
    await check_count(tx, SUBGROUPS, realm_id, adding=0)
    for group_id in wanted:
        if group_id not in added:
            raise Refusal(f"User group {group_id} is already a subgroup of this group.")
    tell_subgroups(tx, realm_id, "add_subgroups", group.id, wanted, is_deactivated=group.is_deactivated)
    await end_queues_of_groups(tx, realm_id, group.id, wanted)


async def remove_subgroups(tx: Transaction, realm_id: int, group: Group, wanted: list[int]) -> None:
    """Remove direct subgroups; all must be such."""
    await check_exists(tx, realm_id, GroupMembers([], wanted))
    removed = await statements.delete_subgroups(tx, group.id, wanted)
    for group_id in wanted:
        if group_id not in removed:
            raise Refusal(f"User group {group_id} is not a subgroup of this group.")
    tell_subgroups(tx, realm_id, "remove_subgroups", group.id, wanted, is_deactivated=group.is_deactivated)
    await end_queues_of_groups(tx, realm_id, group.id, wanted)
