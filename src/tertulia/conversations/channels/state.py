"""The channels' part of POST /register."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.conversations.channels.listing.actions import with_subscribers
from tertulia.conversations.channels.properties.rules import INHERITED
from tertulia.conversations.channels.records import (
    Own,
    channel_part,
    selected_records,
    subscriptions_of,
    web_public_records,
    with_inherited,
)
from tertulia.conversations.channels.rights import MAY_SEE
from tertulia.conversations.channels.statements import default_channels
from tertulia.events.log.ranges import SeqSet
from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.compat import old_mail_keys
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.people.preferences.queries import get_settings

_SEEN = f"{MAY_SEE} and (not channel.is_archived or $2)"
_NEVER = f"""
{_SEEN}
and not exists (select from subscription as past where past.user_id = account.id and past.channel_id = channel.id)
"""


@provider()
async def channels(reader: Reader, caller: Caller, wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The caller's channels in three lists: subscribed, left, and never joined; and all they see in one."""
    if caller.is_nobody:
        return await _open_channels(reader, caller, wanted)
    archived_too = wanted.options.understands("archived_channels")
    wants_all = wanted.has(frozenset(["stream"]))
    if not wanted.has(frozenset(["subscription"])):
        return {"streams": await selected_records(reader, _SEEN, caller.user_id, archived_too)} if wants_all else {}
    own = [one for one in await subscriptions_of(reader, caller.user_id) if archived_too or not one.record.is_archived]
    if not wanted.options.understands("notification_settings_null"):
        own = await _with_inherited(reader, caller, own)
    old = old_mail_keys(wanted.options.client) if wanted.options.old_names else {}
    subscribed = [msgspec.structs.replace(one.record, **old) for one in own if one.is_active]
    left = [one.record for one in own if not one.is_active and one.may_see]
    never = await selected_records(reader, _NEVER, caller.user_id, archived_too)
    asked: str = wanted.parameters["include_subscribers"]
    outside = "false" if caller.is_guest else asked  # guests know the subscribers only of channels they are in
    found: dict[str, Any] = {
        "subscriptions": await with_subscribers(reader, subscribed, asked),
        "unsubscribed": await with_subscribers(reader, left, outside),
        "never_subscribed": await with_subscribers(reader, never, outside),
    }
    if wants_all:
        found["streams"] = sorted([*map(channel_part, [*subscribed, *left]), *never], key=lambda one: one.stream_id)
    return found


async def _open_channels(reader: Reader, caller: Caller, wanted: StateRequest) -> dict[str, Any]:
    """What somebody without an account sees: the channels that are open to the web."""
    wants = [kind for kind in ("subscription", "stream") if wanted.has(frozenset([kind]))]
    found = await web_public_records(reader, caller.realm_id) if wants else []
    lists = {"subscriptions": [], "unsubscribed": [], "never_subscribed": found} if "subscription" in wants else {}
    return lists | ({"streams": found} if "stream" in wants else {})


async def _with_inherited(reader: Reader, caller: Caller, own: list[Own]) -> list[Own]:
    """For clients that do not know of inherited notification settings: what is inherited."""
    settings, _ = await get_settings(reader, caller.user_id)
    inherited = {name: getattr(settings, source) for name, source in INHERITED.items()}
    return [msgspec.structs.replace(one, record=with_inherited(one.record, inherited)) for one in own]


@provider("default_streams")
async def defaults(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The channels newcomers are subscribed to. Guests do not get any."""
    return {"realm_default_streams": [] if caller.is_guest else await default_channels(reader, caller.realm_id)}


async def memberships(reader: Reader, user_ids: Sequence[int]) -> dict[int, dict[int, SeqSet]]:
    """The channels that users are or were in, with the numbers of the messages that are theirs."""
    sql = """
    select user_id, conversation_id, history from read_state join channel on channel.id = conversation_id
    where user_id = any($1::bigint[])
    """
    found: dict[int, dict[int, SeqSet]] = {user_id: {} for user_id in user_ids}
    for user_id, conversation_id, history in await reader.fetch(sql, user_ids):
        found[user_id][conversation_id] = SeqSet(history)
    return found
