"""Endpoints for groups, below /scim/v2."""

from tertulia.integrations.scim import answers
from tertulia.integrations.scim.answers import Resource
from tertulia.integrations.scim.groups import actions, queries
from tertulia.integrations.scim.groups.queries import GroupRow, MemberRow
from tertulia.integrations.scim.groups.record import group_record
from tertulia.integrations.scim.groups.rules import edit_by_put, fitting
from tertulia.integrations.scim.requests import (
    Search,
    group_in,
    group_patch_in,
    groups_found_by,
    search_in,
    search_of,
    selection,
)
from tertulia.integrations.scim.serving import (
    base_of,
    check_expected,
    delete,
    get,
    is_known,
    patch,
    post,
    put,
    writing,
)
from tertulia.kernel.auth import DirectoryClient
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import alias
from tertulia.kernel.reply import Reply
from tertulia.kernel.settings import Settings


@get("/Groups")
async def get_scim_groups(
    caller: DirectoryClient,
    call: Call,
    database: Database,
    settings: Settings,
    *,
    filter: str | None = None,
    start_index: int | None = alias("startIndex"),
    count: int | None = None,
    attributes: str | None = None,
    excluded_attributes: str | None = alias("excludedAttributes"),
) -> Reply:
    """The groups of the organization, or those that a filter finds."""
    search = search_of(filter, start_index, count, attributes, excluded_attributes)
    return await _find_groups(caller, database, search, base_of(caller, call, settings))


@post("/Groups/.search", while_frozen=True)
async def search_scim_groups(caller: DirectoryClient, call: Call, database: Database, settings: Settings) -> Reply:
    """As GET, with the question in the body."""
    return await _find_groups(caller, database, search_in(call.body), base_of(caller, call, settings))


async def _find_groups(caller: DirectoryClient, database: Database, search: Search, base: str) -> Reply:
    condition = await groups_found_by(search)  # others' filters may be read first: no connection waits for that
    members: dict[int, list[MemberRow]] | None = None
    async with database.reader() as reader:
        total = await queries.count_groups(reader, caller.realm_id, condition)
        rows = await queries.list_groups(reader, caller.realm_id, condition, search.count, search.start_index - 1)
        if search.selection.shows("members"):
            rows = fitting(rows, await queries.sizes_of(reader, [row.id for row in rows]))
            members = await queries.members_of(reader, [row.id for row in rows])
    found = [group_record(row, None if members is None else members.get(row.id, []), base) for row in rows]
    return answers.page([search.selection.of(one) for one in found], total, search.start_index)


@post("/Groups")
async def create_scim_group(
    caller: DirectoryClient, call: Call, database: Database, settings: Settings,
    *, attributes: str | None = None, excluded_attributes: str | None = alias("excludedAttributes"),
) -> Reply:  # fmt: skip
    """Make a group, or bring back the one that was deleted."""
    sent = await group_in(call.body, is_new=True)
    async with writing(database, caller) as tx:
        row = await actions.create_group(tx, caller, sent)
        made = await _group(tx, row, attributes, excluded_attributes, base_of(caller, call, settings))
    return answers.one(made, selection(attributes, excluded_attributes), 201)


@get("/Groups/{id}")
async def get_scim_group(
    caller: DirectoryClient, call: Call, reader: Reader, settings: Settings,
    *, id: str, attributes: str | None = None, excluded_attributes: str | None = alias("excludedAttributes"),
) -> Reply:  # fmt: skip
    """One group."""
    row = await actions.get_group(reader, caller, id)
    found = await _group(reader, row, attributes, excluded_attributes, base_of(caller, call, settings))
    if is_known(call, found):
        return answers.unchanged(found)
    return answers.one(found, selection(attributes, excluded_attributes))


@put("/Groups/{id}")
async def replace_scim_group(
    caller: DirectoryClient, call: Call, database: Database, settings: Settings,
    *, id: str, attributes: str | None = None, excluded_attributes: str | None = alias("excludedAttributes"),
) -> Reply:  # fmt: skip
    """Make a group as it is sent."""
    edit = edit_by_put(await group_in(call.body))
    base = base_of(caller, call, settings)
    async with writing(database, caller) as tx:
        await actions.change_group(tx, caller, id, edit, _expected_group(call, base))
        found = await _group(tx, await actions.get_group(tx, caller, id), attributes, excluded_attributes, base)
    return answers.one(found, selection(attributes, excluded_attributes))


@patch("/Groups/{id}")
async def patch_scim_group(
    caller: DirectoryClient, call: Call, database: Database, settings: Settings,
    *, id: str, attributes: str | None = None, excluded_attributes: str | None = alias("excludedAttributes"),
) -> Reply:  # fmt: skip
    """Change a group's name or members. The answer has no members unless they are asked for: a group may be large."""
    edit = await group_patch_in(call.body)
    base = base_of(caller, call, settings)
    async with writing(database, caller) as tx:
        await actions.change_group(tx, caller, id, edit, _expected_group(call, base))
        if attributes is None:
            return answers.nothing()
        found = await _group(tx, await actions.get_group(tx, caller, id), attributes, excluded_attributes, base)
    return answers.one(found, selection(attributes, excluded_attributes))


@delete("/Groups/{id}")
async def delete_scim_group(
    caller: DirectoryClient, call: Call, database: Database, settings: Settings, *, id: str
) -> Reply:
    """Deactivate a group, unless something that is in use names it."""
    async with writing(database, caller) as tx:
        await actions.delete_group(tx, caller, id, _expected_group(call, base_of(caller, call, settings)))
    return answers.nothing()


async def _group(reader: Reader, row: GroupRow, wanted: str | None, unwanted: str | None, base: str) -> Resource:
    shows_members = selection(wanted, unwanted).shows("members")
    members = (await queries.members_of(reader, [row.id])).get(row.id, []) if shows_members else None
    return group_record(row, members, base)


def _expected_group(call: Call, base: str) -> actions.Expect | None:
    """None without If-Match: then nobody has to read the members."""
    if call.header("if-match") is None:
        return None

    def expect(row: GroupRow, members: list[MemberRow]) -> None:
        check_expected(call, group_record(row, members, base))

    return expect
