"""Changing a channel: its name, privacy, settings and place.

The channel's conversation is held alone from the first look to the commit, so every message, subscription and other change
is on one side of this one, for everybody. Groups are held as well (before the conversation): who sees a private channel
may depend on them.
"""

import asyncpg
import msgspec

from tertulia.content.markup import render_description
from tertulia.conversations.channels.access import get_ruled_channel
from tertulia.conversations.channels.actions.create import (
    DELETE_SETTINGS,
    check_descriptions,
    check_holders,
    name_taken,
)
from tertulia.conversations.channels.actions.defaults import add_default, remove_default
from tertulia.conversations.channels.changing import queries
from tertulia.conversations.channels.changing.events import tell_changed, view_of
from tertulia.conversations.channels.changing.notices import say_changed
from tertulia.conversations.channels.changing.rules import (
    NEEDS_CONTENT_ACCESS,
    Plan,
    Privacy,
    check_content_access,
    privacy_after,
    privacy_of,
    right_to_make,
)
from tertulia.conversations.channels.creation import clean_description, retention_days
from tertulia.conversations.channels.model import RuledChannel
from tertulia.conversations.channels.rules import clean_channel_name, name_key_of, no_such_channel
from tertulia.conversations.folders.access import hold_folder
from tertulia.kernel.auth import Caller, Role, check_owner
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.organization import audit_log
from tertulia.organization.audit_log import Act, differences, note
from tertulia.organization.groups.holders import change_value, discard, load_systems
from tertulia.organization.groups.queries import hold_active_users
from tertulia.organization.groups.rights import check_holds
from tertulia.organization.groups.settings import CHANNEL_SETTINGS
from tertulia.organization.groups.statements import lock_groups
from tertulia.organization.groups.system import SystemGroup
from tertulia.organization.groups.values import ChangedValue, GroupMembers
from tertulia.organization.realms.queries import hold_role
from tertulia.organization.realms.settings import settings_of
from tertulia.organization.realms.web_access import is_open_to_web
from tertulia.people.bots.defaults import tell_renamed

NOT_NOTED = frozenset({"rendered_description", "stream_weekly_traffic", "subscriber_count"})
"""Of a channel's record: what follows from something else."""


async def hold_channel(tx: Transaction, caller: Caller, channel_id: int) -> RuledChannel:
    """A channel that the caller may administer, held until the commit.

    Asked before the locks too: nobody who may not change a channel holds up those who talk in it.
    """
    _check_administers(await get_ruled_channel(tx, caller, channel_id))
    await lock_groups(tx, caller.realm_id)
    await queries.lock_channel(tx, caller.realm_id, channel_id)
    channel = await get_ruled_channel(tx, caller, channel_id)
    _check_administers(channel)
    return channel


async def change_channel(tx: Transaction, caller: Caller, channel: RuledChannel, plan: Plan, server: Settings) -> None:
    """Change a channel that is held, all or nothing."""
    before = await view_of(tx, channel.id)
    wanted: dict[str, object] = {}
    if plan.new_name is not None:
        wanted |= _name(channel, plan.new_name)
        # Before accounts: whoever decides about a new topic holds the channel by it, and then their account.
        await queries.lock_name(tx, channel.id)
    if plan.description is not None:
        description = clean_description(plan.description)
        wanted |= {"description": description, "rendered_description": render_description(description)}
    wanted |= await _privacy(tx, caller, channel, plan, server)
    if plan.message_retention_days is not None:
        await _check_owner(tx, caller)
        wanted["message_retention_days"] = retention_days(plan.message_retention_days)
    if plan.topics_policy is not None and plan.topics_policy != channel.topics_policy:
        await _check_topics_policy(tx, caller, channel, plan.topics_policy)
        wanted["topics_policy"] = plan.topics_policy
    settings = await _settings(tx, caller, channel, plan.settings)  # holds accounts: before the folder
    if plan.folder_id is not None:
        if plan.folder_id.value is not None:
            await hold_folder(tx, caller.realm_id, plan.folder_id.value)
        wanted["folder_id"] = plan.folder_id.value
    await _check_topics_are_open(tx, channel, wanted, settings)
    await _write(tx, channel, wanted | settings)
    if "description" in wanted:
        await check_descriptions(tx, channel.id, caller.user_id)
    if settings:
        await check_holders(tx, channel.id, caller.user_id)
    if "name" in wanted:
        await tell_renamed(tx, caller.realm_id, channel.id)
    await _set_default(tx, caller, channel, plan, wanted)
    after = await view_of(tx, channel.id)
    tell_changed(tx, caller.realm_id, before, after)
    await say_changed(tx, caller, before.channel, after.channel)
    was, now = msgspec.structs.asdict(before.channel), msgspec.structs.asdict(after.channel)
    if changes := {name: change for name, change in differences(was, now).items() if name not in NOT_NOTED}:
        note(tx, caller.realm_id, Act.CHANNEL_CHANGED, audit_log.channel(channel.id), **changes)


def _check_administers(channel: RuledChannel) -> None:
    if not channel.may_administer:
        raise (
            Refusal("You don't have the permission to administer this channel.")
            if channel.may_read
            else (no_such_channel(channel.id))
        )


async def _check_owner(tx: Transaction, caller: Caller) -> None:
    role = await hold_role(tx, caller.user_id)
    check_owner(msgspec.structs.replace(caller, role=Role.GUEST if role is None else role))


def _name(channel: RuledChannel, sent: str) -> dict[str, object]:
    name = clean_channel_name(sent)
    if name == channel.name:
        raise Refusal("The channel has this name already.")
    return {"name": name, "name_key": name_key_of(name)}


async def _privacy(
    tx: Transaction, caller: Caller, channel: RuledChannel, plan: Plan, server: Settings
) -> dict[str, object]:
    before = privacy_of(channel)
    after = privacy_after(before, plan)
    if after == before:
        return {}
    check_content_access(channel)
    settings = settings_of(caller)
    if after.is_web_public and not is_open_to_web(server, settings):
        raise Refusal("Channels that are open to the web are not enabled here.")
    if (right := right_to_make(before, after)) is not None:
        await check_holds(tx, caller, right)
    if not after.invite_only and settings.moderation_request_channel_id == channel.id:
        raise Refusal("The channel of moderation requests has to stay private.")
    return _columns(after)


def _columns(privacy: Privacy) -> dict[str, object]:
    return {
        "invite_only": privacy.invite_only,
        "history_public_to_subscribers": privacy.history_public_to_subscribers,
        "is_web_public": privacy.is_web_public,
    }


async def _check_topics_policy(tx: Transaction, caller: Caller, channel: RuledChannel, policy: str) -> None:
    if not channel.is_administrator:
        await check_holds(tx, caller, "can_set_topics_policy_group")
    if policy == "empty_topic_only" and await queries.has_named_topics(tx, channel.id):
        shown = settings_of(caller).empty_topic_display_name
        raise Refusal(f"All messages of the channel have to be in the topic {shown} first.")


async def _settings(
    tx: Transaction, caller: Caller, channel: RuledChannel, changes: dict[str, ChangedValue]
) -> dict[str, int]:
    """The new holders of settings, where they are other ones."""
    if not changes:
        return {}
    systems = await load_systems(tx, caller.realm_id)
    # Everybody whom one of the values names, at once and in their order: not setting by setting.
    values = [change.new for change in changes.values()]
    named = {user for value in values if isinstance(value, GroupMembers) for user in value.direct_members}
    await hold_active_users(tx, caller.realm_id, sorted(named))
    found = {}
    for setting, change in changes.items():
        old = channel.holders[setting]
        new = await change_value(tx, caller.realm_id, CHANNEL_SETTINGS[setting], old, change, systems)
        if new != old:
            found[setting] = new
    if not found.keys().isdisjoint(NEEDS_CONTENT_ACCESS):
        check_content_access(channel)
    if not found.keys().isdisjoint(DELETE_SETTINGS) and not channel.is_administrator:
        await check_holds(tx, caller, "can_set_delete_message_policy_group")
    return found


async def _check_topics_are_open(
    tx: Transaction, channel: RuledChannel, wanted: dict[str, object], settings: dict[str, int]
) -> None:
    """Where somebody may not know of a topic they cannot be kept from opening it: it would tell them that it is there."""
    shared = wanted.get("history_public_to_subscribers", channel.history_public_to_subscribers)
    if shared or not ({"can_create_topic_group"} & settings.keys() or "invite_only" in wanted):
        return
    systems = await load_systems(tx, channel.realm_id)
    holder = settings.get("can_create_topic_group", channel.holders["can_create_topic_group"])
    if holder != systems.id_of(SystemGroup.EVERYONE):
        raise Refusal("Where the history is protected, everybody may open topics: can_create_topic_group can't differ.")


async def _write(tx: Transaction, channel: RuledChannel, values: dict[str, object]) -> None:
    if not values:
        return
    try:
        await queries.update_channel(tx, channel.id, values)
    except asyncpg.UniqueViolationError as error:
        raise name_taken(str(values["name"])) from error
    await discard(tx, [channel.holders[setting] for setting in CHANNEL_SETTINGS if setting in values])


async def _set_default(
    tx: Transaction, caller: Caller, channel: RuledChannel, plan: Plan, wanted: dict[str, object]
) -> None:
    private = wanted.get("invite_only", channel.invite_only)
    if plan.is_default_stream is not None:
        if not channel.is_administrator:
            raise Refusal("Only administrators decide which channels newcomers are subscribed to.")
        if not plan.is_default_stream:
            await remove_default(tx, caller.realm_id, channel.id)
        elif private or channel.is_archived:
            raise Refusal("A default channel can't be private or archived.")
        else:
            await add_default(tx, caller.realm_id, channel.id)
    elif private and not channel.invite_only and await queries.is_default(tx, channel.id):
        raise Refusal("A default channel can't be private.")
