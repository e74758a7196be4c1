"""Making channels: any number at once, in a number of statements that does not depend on it.

Somebody else may make a channel of the same name at the same time. The names are unique, so one of the two waits for the
other and then finds the channel there. Names are taken in their order, so that two calls never wait in a circle.
"""

from collections.abc import Sequence

import msgspec

from tertulia.channels import events, statements
from tertulia.channels.creation import NewChannel, Wish, check_combination, clean_description
from tertulia.channels.records import channel_records
from tertulia.channels.rules import clean_channel_name, name_key_of
from tertulia.channels.statements import ChannelRow
from tertulia.folders.access import hold_folder
from tertulia.groups.holders import Systems, check_exists, load_systems
from tertulia.groups.rights import check_holds, holds
from tertulia.groups.settings import CHANNEL_SETTINGS, CREATOR
from tertulia.groups.sight import seers_of
from tertulia.groups.statements import delete_anonymous_groups, insert_anonymous_groups
from tertulia.groups.system import SystemGroup
from tertulia.groups.values import GroupMembers, GroupValue, canonical, check_allowed
from tertulia.kernel.auth import Caller, Role, check_owner
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.markup import render_description
from tertulia.realms.queries import hold_role
from tertulia.realms.settings import decode_settings

DELETE_SETTINGS = ("can_delete_any_message_group", "can_delete_own_message_group")


async def create_channel(
    tx: Transaction,
    realm_id: int,
    name: str,
    *,
    creator_id: int | None = None,
    invite_only: bool = False,
    description: str = "",
) -> int:
    """Make a channel with the default settings and tell those who see it; its id. Refused if the name is taken."""
    systems = await load_systems(tx, realm_id)
    new = NewChannel(invite_only=invite_only)
    made = await create_channels(
        tx, realm_id, creator_id, [Wish(clean_channel_name(name), description)], new, _defaults(systems, creator_id)
    )
    if not made:
        raise name_taken(name)
    return made[name_key_of(name)]


def rights_to_create(new: NewChannel) -> list[str]:
    """The permissions of the organization that it takes to make channels of this kind."""
    kind = "can_create_private_channel_group" if new.invite_only else "can_create_public_channel_group"
    return ["can_create_web_public_channel_group", kind] if new.is_web_public else [kind]


async def may_create(tx: Transaction, caller: Caller, new: NewChannel) -> bool:
    """Whether the caller may make channels of this kind. What is asked of one more is checked by `check_may_create`."""
    return all([await holds(tx, caller, right) for right in rights_to_create(new)])


async def check_may_create(
    tx: Transaction, caller: Caller, new: NewChannel, settings: Settings
) -> dict[str, GroupValue]:
    """Refuse channels the caller may not make; the canonical value of every setting of those they may."""
    systems = await load_systems(tx, caller.realm_id)
    values = _defaults(systems, caller.user_id)
    for name, value in new.settings.items():
        chosen = canonical(value, systems.nobody)
        await check_exists(tx, caller.realm_id, chosen)
        check_allowed(CHANNEL_SETTINGS[name], chosen, systems.names)
        values[name] = chosen
    check_combination(new)
    if not new.shares_history and values["can_create_topic_group"] != systems.id_of(SystemGroup.EVERYONE):
        raise Refusal("Where the history is protected, everybody may open topics: can_create_topic_group can't differ.")
    has_spectators = (
        settings.web_public_streams_enabled and decode_settings(caller.realm_settings).enable_spectator_access
    )
    if new.is_web_public and not has_spectators:
        raise Refusal("Channels that are open to the web are not enabled here.")
    if not await may_create(tx, caller, new):
        raise Refusal("Insufficient permission")
    is_administrator = await statements.is_administrator(tx, caller.user_id)
    if new.is_default and not is_administrator:
        raise Refusal("Insufficient permission")
    if new.retention_days is not None:
        await check_is_owner(tx, caller)
    if new.topics_policy != "inherit" and not is_administrator:
        await check_holds(tx, caller, "can_set_topics_policy_group")
    if any(values[name] != systems.nobody for name in DELETE_SETTINGS) and not is_administrator:
        await check_holds(tx, caller, "can_set_delete_message_policy_group")
    if new.folder_id is not None:
        await hold_folder(tx, caller.realm_id, new.folder_id)
    return values


async def check_is_owner(tx: Transaction, caller: Caller) -> None:
    """Refuse whoever is not an owner at this moment; nothing changes that until the commit."""
    role = await hold_role(tx, caller.user_id)
    check_owner(msgspec.structs.replace(caller, role=Role.GUEST if role is None else role))


async def create_channels(
    tx: Transaction,
    realm_id: int,
    creator_id: int | None,
    wishes: Sequence[Wish],
    new: NewChannel,
    values: dict[str, GroupValue],
) -> dict[str, int]:
    """Make those channels whose name is free, and tell those who see them; the ids by name key."""
    wanted = sorted({name_key_of(wish.name): wish for wish in wishes}.items())
    holders = await _store_values(tx, realm_id, values, len(wanted))
    rows = [_row(key, wish, owned) for (key, wish), owned in zip(wanted, holders, strict=True)]
    made = await statements.insert_channels(tx, realm_id, creator_id, new, rows)
    lost = [row for row in rows if row.name_key not in made]
    if lost:
        await delete_anonymous_groups(tx, [holder for row in lost for holder in row.holders.values()])
    if not made:
        return {}
    if new.is_default:
        events.tell_defaults(tx, realm_id, await statements.default_channels(tx, realm_id))
    records = await channel_records(tx, sorted(made.values()))
    seers = await seers_of(tx, [channel.stream_id for channel in records if channel.invite_only])
    for channel in records:
        events.tell_created(tx, realm_id, channel, seers.get(channel.stream_id, ()))
    return made


def name_taken(name: str) -> Refusal:
    """The name belongs to another channel, be it archived or out of reach."""
    return Refusal(f"Channel '{name}' already exists", code="CHANNEL_ALREADY_EXISTS", status=409, channel_name=name)


def _defaults(systems: Systems, creator_id: int | None) -> dict[str, GroupValue]:
    creator: GroupValue = systems.nobody if creator_id is None else GroupMembers([creator_id], [])
    return {
        name: creator if rule.default == CREATOR else systems.id_of(rule.default)
        for name, rule in CHANNEL_SETTINGS.items()
    }


async def _store_values(
    tx: Transaction, realm_id: int, values: dict[str, GroupValue], count: int
) -> list[dict[str, int]]:
    """The holders of the settings of so many channels: an anonymous group belongs to one setting of one channel."""
    objects = {name: value for name, value in values.items() if isinstance(value, GroupMembers)}
    integers = {name: value for name, value in values.items() if isinstance(value, int)}
    made = iter(await insert_anonymous_groups(tx, realm_id, list(objects.values()) * count))
    return [integers | {name: next(made) for name in objects} for _ in range(count)]


def _row(key: str, wish: Wish, holders: dict[str, int]) -> ChannelRow:
    description = clean_description(wish.description)
    return ChannelRow(wish.name, key, description, render_description(description), holders)
