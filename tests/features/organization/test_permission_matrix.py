"""The whole matrix: who may do what, for every kind of person, every action and every value of its settings.

The tables say it a second time and in other words than the code. An action or setting that has no row here fails.
"""

from collections.abc import Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest

from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.settings import Settings
from tertulia.organization.groups import queries, statements
from tertulia.organization.groups.holders import Systems, load_systems, store_value
from tertulia.organization.groups.model import Group
from tertulia.organization.groups.rights import holds, is_member, may_in_group, members_among
from tertulia.organization.groups.rules import GroupAction
from tertulia.organization.groups.settings import GROUP_SETTINGS, REALM_SETTINGS
from tertulia.organization.groups.values import GroupMembers
from tertulia.organization.realms.actions import create_realm
from tertulia.organization.realms.settings import decode_realm
from tertulia.people.users.actions import create_user
from tests.harness.server import Server
from tests.harness.talk import unique

# Everybody who appears in the matrix; the last two never may anything.
PEOPLE = (
    *("owner", "administrator", "moderator", "member", "waiting", "guest"),
    *("bot", "moderator bot", "guest bot", "deactivated", "stranger"),
)

# Who is in which system group.
IN_GROUP = {
    "role:nobody": "",
    "role:owners": "owner",
    "role:administrators": "owner, administrator",
    "role:moderators": "owner, administrator, moderator, moderator bot",
    "role:fullmembers": "owner, administrator, moderator, moderator bot, member, bot",
    "role:members": "owner, administrator, moderator, moderator bot, member, bot, waiting",
    "role:everyone": "owner, administrator, moderator, moderator bot, member, bot, waiting, guest, guest bot",
    "role:internet": "owner, administrator, moderator, moderator bot, member, bot, waiting, guest, guest bot",
}
GUESTS = {"guest", "guest bot"}

ANY = ("nobody", "owners", "administrators", "moderators", "fullmembers", "members", "everyone")
NO_GUESTS = ANY[:-1]


class Row(NamedTuple):
    """A setting: its default, and the system groups it may be. Without role:everyone guests never hold it."""

    default: str
    may_be: tuple[str, ...]


REALM = {
    "can_access_all_users_group": Row("everyone", ("members", "everyone")),
    "can_add_custom_emoji_group": Row("members", NO_GUESTS),
    "can_add_subscribers_group": Row("members", NO_GUESTS),
    "can_create_bots_group": Row("members", NO_GUESTS),
    "can_create_groups": Row("members", NO_GUESTS),
    "can_create_private_channel_group": Row("members", NO_GUESTS),
    "can_create_public_channel_group": Row("members", NO_GUESTS),
    "can_create_web_public_channel_group": Row("owners", ("nobody", "owners", "administrators", "moderators")),
    "can_create_write_only_bots_group": Row("members", NO_GUESTS),
    "can_delete_any_message_group": Row("administrators", NO_GUESTS),
    "can_delete_own_message_group": Row("everyone", ANY),
    "can_invite_users_group": Row("members", NO_GUESTS),
    "can_manage_all_groups": Row("owners", NO_GUESTS[1:]),
    "can_manage_billing_group": Row("administrators", NO_GUESTS[1:]),
    "can_mention_many_users_group": Row("administrators", ANY),
    "can_move_messages_between_channels_group": Row("members", NO_GUESTS),
    "can_move_messages_between_topics_group": Row("everyone", ANY),
    "can_resolve_topics_group": Row("everyone", ANY),
    "can_set_delete_message_policy_group": Row("moderators", NO_GUESTS),
    "can_set_topics_policy_group": Row("members", ANY),
    "can_summarize_topics_group": Row("everyone", ANY),
    "create_multiuse_invite_group": Row("administrators", NO_GUESTS),
    "direct_message_initiator_group": Row("everyone", ANY),
    "direct_message_permission_group": Row("everyone", ANY),
    "workplace_users_group": Row("everyone", ANY),
}

GROUP = {
    "can_add_members_group": Row("creator", NO_GUESTS),
    "can_join_group": Row("nobody", NO_GUESTS),
    "can_leave_group": Row("everyone", ANY),
    "can_manage_group": Row("creator", NO_GUESTS),
    "can_mention_group": Row("everyone", tuple(name for name in ANY if name != "owners")),
    "can_remove_members_group": Row("nobody", NO_GUESTS),
}

# Which settings permit an action; `all` is can_manage_all_groups of the organization.
ACTIONS = {
    "manage": {"all", "can_manage_group"},
    "add members": {"all", "can_manage_group", "can_add_members_group"},
    "remove members": {"all", "can_manage_group", "can_remove_members_group"},
    "join": {"all", "can_manage_group", "can_add_members_group", "can_join_group"},
    "leave": {"all", "can_manage_group", "can_remove_members_group", "can_leave_group"},
    "mention": {"can_mention_group"},
}


class Scene(NamedTuple):
    tx: Transaction
    realm_id: int
    people: dict[str, Caller]
    systems: Systems


@asynccontextmanager
async def scene(server: Server) -> Any:
    """An organization with everybody in it, forgotten at the end."""
    async with await Database.connect(server.postgres_url, shards=Settings().shards, size=1) as database:
        try:
            async with database.transaction() as tx:
                yield await make_scene(tx)
                raise Forget
        except Forget:
            pass


class Forget(Exception):
    """Rolls back."""


async def make_scene(tx: Transaction) -> Scene:
    realms = [await create_realm(tx, unique("matrix").replace(" ", "-"), "Matrix") for _ in range(2)]
    roles = {"owner": Role.OWNER, "administrator": Role.ADMINISTRATOR, "moderator": Role.MODERATOR, "guest": Role.GUEST}
    roles |= {
        "moderator bot": Role.MODERATOR,
        "guest bot": Role.GUEST,
        "deactivated": Role.OWNER,
        "stranger": Role.OWNER,
    }
    people: dict[str, Caller] = {}
    for name in PEOPLE:
        realm_id = realms[1] if name == "stranger" else realms[0]
        role = roles.get(name, Role.MEMBER)
        email = unique("who").replace(" ", ".") + "@example.com"
        bot_type, owner_id = (1, people["owner"].user_id) if "bot" in name else (None, None)
        user_id = await create_user(tx, realm_id, email, name, role, bot_type=bot_type, bot_owner_id=owner_id)
        # Whoever is not of the organization is not believed to be.
        people[name] = Caller(user_id, realms[0], 0, email, name, role, None, "", "", decode_realm("{}"))
    long_ago = [caller.user_id for name, caller in people.items() if name != "waiting"]
    await tx.execute("update account set date_joined = now() - interval '5 days' where id = any($1)", long_ago)
    await tx.execute("update account set is_active = false where id = $1", people["deactivated"].user_id)
    await statements.set_waiting_period(tx, realms[0], 3)
    return Scene(tx, realms[0], people, await load_systems(tx, realms[0]))


def group_members(name: str) -> set[str]:
    return {person for person in IN_GROUP[f"role:{name}"].split(", ") if person}


def expected(row: Row, value: str) -> set[str]:
    """Who holds a setting with this value."""
    return group_members(value) - (set() if "everyone" in row.may_be else GUESTS)


async def who_holds(stage: Scene, setting: str) -> set[str]:
    return {name for name, caller in stage.people.items() if await holds(stage.tx, caller, setting)}


async def who_may(stage: Scene, group: Group, action: GroupAction) -> set[str]:
    return {name for name, caller in stage.people.items() if await may_in_group(stage.tx, caller, group, action)}


def test_every_setting_and_every_action_has_its_row() -> None:
    assert set(REALM) == set(REALM_SETTINGS)
    assert set(GROUP) == set(GROUP_SETTINGS)
    assert set(ACTIONS) == {str(action) for action in GroupAction}
    for rules, rows in ((REALM_SETTINGS, REALM), (GROUP_SETTINGS, GROUP)):
        for name, rule in rules.items():
            assert str(rule.default).removeprefix("role:") == rows[name].default
            assert rule.allow_everyone == ("everyone" in rows[name].may_be)
    assert {permitting for row in ACTIONS.values() for permitting in row} == {"all", *GROUP}


async def test_who_is_in_which_system_group(server: Server) -> None:
    async with scene(server) as stage:
        ids = [caller.user_id for caller in stage.people.values()]
        for group_id, group in stage.systems.names.items():
            inside = {
                name for name, caller in stage.people.items() if await is_member(stage.tx, caller.user_id, group_id)
            }
            assert inside == group_members(group.removeprefix("role:")), group
            among = await members_among(stage.tx, group_id, ids)
            assert among == {stage.people[name].user_id for name in inside}
            everybody = set(await queries.all_members(stage.tx, stage.realm_id, [group_id]))
            assert everybody == among


async def test_who_holds_the_permissions_of_the_organization_by_default(server: Server) -> None:
    async with scene(server) as stage:
        for setting, row in REALM.items():
            assert await who_holds(stage, setting) == expected(row, row.default), setting


@pytest.mark.parametrize(
    "value", ["nobody", "owners", "administrators", "moderators", "fullmembers", "members", "everyone"]
)
async def test_who_holds_the_permissions_of_the_organization_at_each_value(server: Server, value: str) -> None:
    async with scene(server) as stage:
        for setting, row in REALM.items():
            if value in row.may_be:
                await statements.set_permission(stage.tx, stage.realm_id, setting, stage.systems.id_of(f"role:{value}"))
                assert await who_holds(stage, setting) == expected(row, value), setting


async def test_what_an_anonymous_value_gives(server: Server) -> None:
    """Members and subgroups of the value; guests only where role:everyone is allowed; nobody from elsewhere."""
    async with scene(server) as stage:
        named = [stage.people[name].user_id for name in ("member", "guest", "guest bot")]
        value = GroupMembers(
            sorted(named), [stage.systems.id_of("role:owners"), stage.systems.id_of("role:everyone")][:1]
        )
        for setting, row in REALM.items():
            rule = REALM_SETTINGS[setting]
            if rule.require_system_group:
                continue
            holder = await store_value(stage.tx, stage.realm_id, rule, value, stage.systems)
            await statements.set_permission(stage.tx, stage.realm_id, setting, holder)
            wanted = {"member", "guest", "guest bot", "owner"} - (set() if "everyone" in row.may_be else GUESTS)
            assert await who_holds(stage, setting) == wanted, setting


def settings_of(values: dict[str, str]) -> Iterator[tuple[str, str]]:
    for setting in GROUP:
        yield setting, values.get(setting, "nobody")


async def make_group(stage: Scene, **values: str) -> Group:
    """A group whose settings are nobody's unless a value says otherwise."""
    holders = {setting: stage.systems.id_of(f"role:{name}") for setting, name in settings_of(values)}
    creator = stage.people["member"].user_id
    new = statements.NewGroup(stage.realm_id, unique("group"), "", creator, holders)
    group_id = await statements.insert_group(stage.tx, new)
    assert group_id is not None
    group = await queries.find_group(stage.tx, stage.realm_id, group_id)
    assert group is not None
    return group


@pytest.mark.parametrize("action", ACTIONS)
async def test_who_may_do_what_to_a_group(server: Server, action: str) -> None:
    async with scene(server) as stage:
        rulers = group_members("owners") if "all" in ACTIONS[action] else set()
        assert await who_may(stage, await make_group(stage), GroupAction(action)) == rulers
        for setting, row in GROUP.items():
            for value in row.may_be:
                group = await make_group(stage, **{setting: value})
                given = expected(row, value) if setting in ACTIONS[action] else set()
                assert await who_may(stage, group, GroupAction(action)) == rulers | given, (setting, value)


@pytest.mark.parametrize("action", ACTIONS)
async def test_who_may_do_what_when_all_groups_are_managed_by_others(server: Server, action: str) -> None:
    async with scene(server) as stage:
        for value in REALM["can_manage_all_groups"].may_be:
            holder = stage.systems.id_of(f"role:{value}")
            await statements.set_permission(stage.tx, stage.realm_id, "can_manage_all_groups", holder)
            wanted = expected(REALM["can_manage_all_groups"], value) if "all" in ACTIONS[action] else set()
            assert await who_may(stage, await make_group(stage), GroupAction(action)) == wanted, value


@pytest.mark.parametrize("action", ACTIONS)
async def test_nobody_may_do_anything_to_system_groups(server: Server, action: str) -> None:
    async with scene(server) as stage:
        for group_id in stage.systems.names:
            group = await queries.find_group(stage.tx, stage.realm_id, group_id)
            assert group is not None
            assert await who_may(stage, group, GroupAction(action)) == set()
