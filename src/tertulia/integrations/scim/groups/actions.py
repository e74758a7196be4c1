"""What a directory does to groups. Every change is one of the actions of `organization/groups`.

Bots and subgroups that somebody put into a group are not seen, and stay in it whatever the directory writes.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from tertulia.integrations.scim.answers import ScimRefusal, no_such_resource
from tertulia.integrations.scim.groups import queries
from tertulia.integrations.scim.groups.queries import GroupRow, MemberRow
from tertulia.integrations.scim.groups.rules import GroupEdit, edit_by_put
from tertulia.integrations.scim.users.actions import find_number, number_of
from tertulia.kernel.auth import DirectoryClient
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.groups import actions
from tertulia.organization.groups.actions import Changes, Edit, Plan
from tertulia.organization.groups.statements import lock_groups

if TYPE_CHECKING:
    from tertulia.integrations.scim.schemas import WrittenGroup

Expect = Callable[[GroupRow, list[MemberRow]], None]
"""Refuses a group that is not as the client thinks."""


async def get_group(reader: Reader, caller: DirectoryClient, id: str) -> GroupRow:
    """A group in reach."""
    found = await queries.find_group(reader, caller.realm_id, number_of(id))
    if found is None:
        raise no_such_resource()
    return found


async def create_group(tx: Transaction, caller: DirectoryClient, sent: "WrittenGroup") -> GroupRow:
    """Make a group, or bring back the one that a directory has deleted."""
    edit = edit_by_put(sent)
    name = edit.name or ""
    await lock_groups(tx, caller.realm_id)
    deleted = await queries.find_deleted(tx, caller.realm_id, name)
    if deleted is not None:
        await actions.change_group(tx, caller, deleted, Changes(None, None, False, {}))
        await _edit(tx, caller, await get_group(tx, caller, str(deleted)), edit)
        return await get_group(tx, caller, str(deleted))
    wanted = {number_of_member(id) for id in edit.added}
    people = await _hold_people(tx, caller, wanted, set())
    active = [user_id for user_id in sorted(wanted) if people[user_id]]
    group_id = await actions.create_group(tx, caller, Plan(name, "", active, [], {}))
    await _write_external_id(tx, caller, group_id, edit)
    await _change_members(tx, caller, group_id, people, wanted - set(active), set())
    return await get_group(tx, caller, str(group_id))


async def change_group(
    tx: Transaction, caller: DirectoryClient, id: str, edit: GroupEdit, expect: Expect | None
) -> None:
    """PUT and PATCH: change a group, all or nothing."""
    now = await _hold(tx, caller, id, expect)
    await _edit(tx, caller, now, edit)


async def delete_group(tx: Transaction, caller: DirectoryClient, id: str, expect: Expect | None) -> None:
    """DELETE: deactivate the group. The directory does not see it any more."""
    now = await _hold(tx, caller, id, expect)
    await actions.deactivate_group(tx, caller, now.id)
    await queries.mark_deleted(tx, caller.realm_id, now.id)


async def _hold(tx: Transaction, caller: DirectoryClient, id: str, expect: Expect | None) -> GroupRow:
    await lock_groups(tx, caller.realm_id)
    now = await get_group(tx, caller, id)
    if expect is not None:
        expect(now, (await queries.members_of(tx, [now.id])).get(now.id, []))
    return now


async def _edit(tx: Transaction, caller: DirectoryClient, now: GroupRow, edit: GroupEdit) -> None:
    if edit.name is not None and edit.name != now.name:
        await actions.change_group(tx, caller, now.id, Changes(edit.name, None, None, {}))
    await _write_external_id(tx, caller, now.id, edit)
    removed = {number for id in edit.removed if (number := find_number(id)) is not None}
    added = {number_of_member(id) for id in edit.added}
    if edit.everybody:
        removed = {member.id for member in (await queries.members_of(tx, [now.id])).get(now.id, [])} - added
    people = await _hold_people(tx, caller, added, removed)
    present = await queries.are_members(tx, now.id, sorted(people))
    await _change_members(tx, caller, now.id, people, added - present, removed & present)


async def _change_members(
    tx: Transaction, caller: DirectoryClient, group_id: int, people: dict[int, bool], added: set[int], removed: set[int]
) -> None:
    coming, going = ([id for id in sorted(ids) if people.get(id) is True] for ids in (added, removed))
    if coming or going:
        await actions.edit_group(tx, caller, group_id, Edit(add=coming, remove=going))
    coming, going = ([id for id in sorted(ids) if people.get(id) is False] for ids in (added, removed))
    if coming or going:
        await actions.edit_deactivated(tx, caller, group_id, coming, going)


async def _hold_people(tx: Transaction, caller: DirectoryClient, added: set[int], removed: set[int]) -> dict[int, bool]:
    """Whether these people are active; refuses to add somebody who is not there."""
    people = await queries.hold_people(tx, caller.realm_id, sorted(added | removed)) if added or removed else {}
    for user_id in sorted(added - people.keys()):
        raise _no_such_person(str(user_id))
    return people


def number_of_member(id: str) -> int:
    """The number behind the id of somebody who is to be a member."""
    number = find_number(id)
    if number is None:
        raise _no_such_person(id)
    return number


async def _write_external_id(tx: Transaction, caller: DirectoryClient, group_id: int, edit: GroupEdit) -> None:
    if edit.external_id is not msgspec.UNSET:
        await queries.write_external_id(tx, caller.realm_id, group_id, edit.external_id)


def _no_such_person(id: str) -> Refusal:
    return ScimRefusal(f"There is no person with the id {id[:40]!r}.", "invalidValue")
