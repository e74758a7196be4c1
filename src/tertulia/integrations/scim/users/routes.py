"""Endpoints for people, below /scim/v2."""

from tertulia.integrations.scim import answers
from tertulia.integrations.scim.requests import (
    Search,
    search_in,
    search_of,
    selection,
    user_in,
    user_patch_in,
    users_found_by,
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
from tertulia.integrations.scim.users import actions, queries
from tertulia.integrations.scim.users.record import user_record
from tertulia.kernel.auth import DirectoryClient
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import alias
from tertulia.kernel.reply import Reply
from tertulia.kernel.settings import Settings
from tertulia.people.users.arrival import Arrival
from tertulia.people.users.handover import BotHandover


@get("/Users")
async def get_scim_users(
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
    """The people of the organization, or those whom a filter finds."""
    search = search_of(filter, start_index, count, attributes, excluded_attributes)
    return await _find_users(caller, database, search, base_of(caller, call, settings))


@post("/Users/.search", while_frozen=True)
async def search_scim_users(caller: DirectoryClient, call: Call, database: Database, settings: Settings) -> Reply:
    """As GET, with the question in the body: addresses end up in logs."""
    return await _find_users(caller, database, search_in(call.body), base_of(caller, call, settings))


async def _find_users(caller: DirectoryClient, database: Database, search: Search, base: str) -> Reply:
    condition = await users_found_by(search)  # others' filters may be read first: no connection waits for that
    async with database.reader() as reader:
        total = await queries.count_users(reader, caller.realm_id, condition)
        rows = await queries.list_users(reader, caller.realm_id, condition, search.count, search.start_index - 1)
    return answers.page([search.selection.of(user_record(row, base)) for row in rows], total, search.start_index)


@post("/Users")
async def create_scim_user(
    caller: DirectoryClient, call: Call, database: Database, settings: Settings, arrival: Arrival, handover: BotHandover,
    *, attributes: str | None = None, excluded_attributes: str | None = alias("excludedAttributes"),
) -> Reply:  # fmt: skip
    """Make an account for a person, or bring back the one that was deleted."""
    sent = await user_in(call.body, is_new=True)
    async with writing(database, caller) as tx:
        row = await actions.create_user(tx, caller, arrival, handover, sent)
    made = user_record(row, base_of(caller, call, settings))
    return answers.one(made, selection(attributes, excluded_attributes), 201)


@get("/Users/{id}")
async def get_scim_user(
    caller: DirectoryClient, call: Call, reader: Reader, settings: Settings,
    *, id: str, attributes: str | None = None, excluded_attributes: str | None = alias("excludedAttributes"),
) -> Reply:  # fmt: skip
    """One person."""
    found = user_record(await actions.get_user(reader, caller, id), base_of(caller, call, settings))
    if is_known(call, found):
        return answers.unchanged(found)
    return answers.one(found, selection(attributes, excluded_attributes))


@put("/Users/{id}")
async def replace_scim_user(
    caller: DirectoryClient, call: Call, database: Database, settings: Settings, handover: BotHandover,
    *, id: str, attributes: str | None = None, excluded_attributes: str | None = alias("excludedAttributes"),
) -> Reply:  # fmt: skip
    """Make a person as they are sent."""
    sent = await user_in(call.body)
    base = base_of(caller, call, settings)
    async with writing(database, caller) as tx:
        row = await actions.replace_user(tx, caller, handover, id, sent, _expected_user(call, base))
    return answers.one(user_record(row, base), selection(attributes, excluded_attributes))


@patch("/Users/{id}")
async def patch_scim_user(
    caller: DirectoryClient, call: Call, database: Database, settings: Settings, handover: BotHandover,
    *, id: str, attributes: str | None = None, excluded_attributes: str | None = alias("excludedAttributes"),
) -> Reply:  # fmt: skip
    """Change some of a person's attributes."""
    change = await user_patch_in(call.body)
    base = base_of(caller, call, settings)
    async with writing(database, caller) as tx:
        row = await actions.patch_user(tx, caller, handover, id, change, _expected_user(call, base))
    return answers.one(user_record(row, base), selection(attributes, excluded_attributes))


@delete("/Users/{id}")
async def delete_scim_user(
    caller: DirectoryClient, call: Call, database: Database, settings: Settings, *, id: str
) -> Reply:
    """Deactivate a person's account, and let go of them."""
    async with writing(database, caller) as tx:
        await actions.delete_user(tx, caller, id, _expected_user(call, base_of(caller, call, settings)))
    return answers.nothing()


def _expected_user(call: Call, base: str) -> actions.Expect:
    return lambda row: check_expected(call, user_record(row, base))
