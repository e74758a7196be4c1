"""Making channels: any number at once, in a number of statements that does not depend on it.

Somebody else may make a channel of the same name at the same time. The names are unique, so one of the two waits for the
other and then finds the channel there. Names are taken in their order, so that two calls never wait in a circle.
"""

from collections.abc import Sequence

import msgspec

from tertulia.content.markup import render_description
from tertulia.conversations.channels import events, statements
from tertulia.conversations.channels.bounds import CHANNELS, OWN_CHANNEL_BYTES, OWN_CHANNEL_HOLDERS, OWN_CHANNELS
from tertulia.conversations.channels.creation import ChannelRequest, NewChannel, check_combination, clean_description
from tertulia.conversations.channels.records import channel_records
from tertulia.conversations.channels.rules import clean_channel_name, name_key_of
from tertulia.conversations.channels.statements import ChannelRow
from tertulia.kernel.auth import Caller, Role, check_owner
from tertulia.kernel.bounds import check_bytes, check_count, check_share, find_sharer, hold_count
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.organization import audit_log
from tertulia.organization.audit_log import Act, note
from tertulia.organization.groups.holders import Systems, check_exists, load_systems
from tertulia.organization.groups.rights import check_holds
from tertulia.organization.groups.seers import seers_of
from tertulia.organization.groups.settings import CHANNEL_SETTINGS, CREATOR
from tertulia.organization.groups.statements import delete_anonymous_groups, insert_anonymous_groups
from tertulia.organization.groups.system import SystemGroup
from tertulia.organization.groups.values import GroupMembers, GroupValue, canonical, check_allowed
from tertulia.organization.realms.queries import hold_role
from tertulia.organization.realms.settings import settings_of
from tertulia.organization.realms.web_access import is_open_to_web

MAX_DESCRIPTIONS = 20_000
"""Characters, of all channels that are made at once: they are rendered while nobody else is answered."""
MAX_HOLDERS = 50_000
"""People and groups that the settings of all channels name that are made at once, each as often as one is named."""
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
    """Make a channel with the default settings and tell those who see it; returns its id. Refused if the name is taken."""
    systems = await load_systems(tx, realm_id)
    new = NewChannel(invite_only=invite_only)
    made = await create_channels(
        tx,
        realm_id,
        creator_id,
        [ChannelRequest(clean_channel_name(name), description)],
        new,
        _defaults(systems, creator_id),
    )
    if not made:
        raise name_taken(name)
    return made[name_key_of(name)]


def rights_to_create(new: NewChannel) -> list[str]:
    """The permissions of the organization that it takes to make channels of this kind."""
    kind = "can_create_private_channel_group" if new.invite_only else "can_create_public_channel_group"
    return ["can_create_web_public_channel_group", kind] if new.is_web_public else [kind]


async def values_of_new(tx: Transaction, caller: Caller, new: NewChannel, settings: Settings) -> dict[str, GroupValue]:
    """The canonical value of every setting of new channels; refuses what nobody could have."""
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
    if new.is_web_public and not is_open_to_web(settings, settings_of(caller)):
        raise Refusal("Channels that are open to the web are not enabled here.")
    return values


async def check_may_create(tx: Transaction, caller: Caller, new: NewChannel, values: dict[str, GroupValue]) -> None:
    """Refuse whoever lacks a right that channels of this kind, or with these settings, take; and nothing else."""
    for right in rights_to_create(new):
        await check_holds(tx, caller, right)
    is_administrator = await statements.is_administrator(tx, caller.user_id)
    if new.is_default and not is_administrator:
        raise Refusal("Insufficient permission")
    if new.retention_days is not None:
        await check_is_owner(tx, caller)
    if new.topics_policy != "inherit" and not is_administrator:
        await check_holds(tx, caller, "can_set_topics_policy_group")
    nobody = (await load_systems(tx, caller.realm_id)).nobody
    if any(values[name] != nobody for name in DELETE_SETTINGS) and not is_administrator:
        await check_holds(tx, caller, "can_set_delete_message_policy_group")


async def check_is_owner(tx: Transaction, caller: Caller) -> None:
    """Refuse whoever is not an owner at this moment; nothing changes that until the commit."""
    role = await hold_role(tx, caller.user_id)
    check_owner(msgspec.structs.replace(caller, role=Role.GUEST if role is None else role))


async def create_channels(
    tx: Transaction,
    realm_id: int,
    creator_id: int | None,
    requests: Sequence[ChannelRequest],
    new: NewChannel,
    values: dict[str, GroupValue],
) -> dict[str, int]:
    """Make those channels whose name is free, and tell those who see them; returns the ids by name key."""
    wanted = sorted({name_key_of(request.name): request for request in requests}.items())
    if sum(len(request.description) for _, request in wanted) > MAX_DESCRIPTIONS:
        raise Refusal(f"The descriptions of the new channels are too long together (limit: {MAX_DESCRIPTIONS}).")
    holders = await _store_values(tx, realm_id, values, len(wanted))
    rows = [_row(key, request, owned) for (key, request), owned in zip(wanted, holders, strict=True)]
    await hold_count(tx, CHANNELS, realm_id)
    made = await statements.insert_channels(tx, realm_id, creator_id, new, rows)
    lost = [row for row in rows if row.name_key not in made]
    if lost:
        await delete_anonymous_groups(tx, [holder for row in lost for holder in row.holders.values()])
    if not made:
        return {}
    if creator_id is not None:
        await check_share(tx, OWN_CHANNELS, creator_id)
        if any(row.description for row in rows):
            await check_descriptions(tx, min(made.values()), creator_id)
        if new.settings:
            await check_holders(tx, min(made.values()), creator_id)
    await check_count(tx, CHANNELS, realm_id, adding=0)
    if new.is_default:
        events.tell_defaults(tx, realm_id, await statements.default_channels(tx, realm_id))
    records = await channel_records(tx, sorted(made.values()))
    seers = await seers_of(tx, [channel.stream_id for channel in records if channel.invite_only])
    for channel in records:
        events.tell_created(tx, realm_id, channel, seers.get(channel.stream_id, ()))
        facts = {"name": (None, channel.name), "invite_only": (None, channel.invite_only)}
        note(tx, realm_id, Act.CHANNEL_CREATED, audit_log.channel(channel.stream_id), **facts)
    return made


async def check_descriptions(tx: Transaction, channel_id: int, user_id: int) -> None:
    """Refuse descriptions that are too long with all others of whoever made this channel, right after they were written."""
    if (person := await find_sharer(tx, "channel", channel_id, user_id)) is not None:
        await check_bytes(tx, OWN_CHANNEL_BYTES, person)


async def check_holders(tx: Transaction, channel_id: int, user_id: int) -> None:
    """The same for whom the settings name."""
    if (person := await find_sharer(tx, "channel", channel_id, user_id)) is not None:
        await check_count(tx, OWN_CHANNEL_HOLDERS, person, adding=0)


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
    named = sum(len(value.direct_members) + len(value.direct_subgroups) for value in objects.values())
    if named * count > MAX_HOLDERS:
        raise Refusal(
            f"The settings of the new channels name too many people (limit: {MAX_HOLDERS} in all): name a group instead."
        )
    integers = {name: value for name, value in values.items() if isinstance(value, int)}
    made = iter(await insert_anonymous_groups(tx, realm_id, list(objects.values()) * count))
    return [integers | {name: next(made) for name in objects} for _ in range(count)]


def _row(key: str, request: ChannelRequest, holders: dict[str, int]) -> ChannelRow:
    description = clean_description(request.description)
    return ChannelRow(request.name, key, description, render_description(description), holders)
