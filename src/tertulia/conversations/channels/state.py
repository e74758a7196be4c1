"""The channels' part of POST /register."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tertulia.conversations.channels.listing.actions import with_subscribers
from tertulia.conversations.channels.model import ChannelRecord
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
from tertulia.kernel.joined import together
from tertulia.kernel.settings import Settings
from tertulia.people.preferences.queries import get_settings

SHORT_HISTORY_BYTES, NEWEST_PIECES = 2000, 100
"""A longer history is one of some hundred pieces and more. Who leaves a channel and comes back makes one each time, and nobody
does so that often while the log keeps what was sent meanwhile."""

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
    found, never, inherited = await together(
        subscriptions_of(reader, caller.user_id),
        selected_records(reader, _NEVER, caller.user_id, archived_too),
        _inherited(reader, caller, wanted),
    )
    own = [_with_inherited(one, inherited) for one in found if archived_too or not one.record.is_archived]
    old = old_mail_keys(wanted.options.client) if wanted.options.old_names else {}
    subscribed = [msgspec.structs.replace(one.record, **old) if old else one.record for one in own if one.is_active]
    left = [one.record for one in own if not one.is_active and one.may_see]
    asked: str = wanted.parameters["include_subscribers"]
    outside = "false" if caller.is_guest else asked  # guests know the subscribers only of channels they are in
    lists: tuple[Sequence[ChannelRecord], ...] = await together(
        with_subscribers(reader, subscribed, asked),
        with_subscribers(reader, left, outside),
        with_subscribers(reader, never, outside),
    )
    state: dict[str, Any] = dict(zip(("subscriptions", "unsubscribed", "never_subscribed"), lists, strict=True))
    if wants_all:
        state["streams"] = sorted([*map(channel_part, [*subscribed, *left]), *never], key=lambda one: one.stream_id)
    return state


async def _open_channels(reader: Reader, caller: Caller, wanted: StateRequest) -> dict[str, Any]:
    """What somebody without an account sees: the channels that are open to the web."""
    wants = [kind for kind in ("subscription", "stream") if wanted.has(frozenset([kind]))]
    found = await web_public_records(reader, caller.realm_id) if wants else []
    lists = {"subscriptions": [], "unsubscribed": [], "never_subscribed": found} if "subscription" in wants else {}
    return lists | ({"streams": found} if "stream" in wants else {})


async def _inherited(reader: Reader, caller: Caller, wanted: StateRequest) -> dict[str, bool]:
    """For clients that do not know of inherited notification settings: what is inherited."""
    if wanted.options.understands("notification_settings_null"):
        return {}
    settings, _ = await get_settings(reader, caller.user_id)
    return {name: getattr(settings, source) for name, source in INHERITED.items()}


def _with_inherited(own: Own, inherited: Mapping[str, bool]) -> Own:
    return msgspec.structs.replace(own, record=with_inherited(own.record, inherited)) if inherited else own


@provider("default_streams")
async def defaults(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The channels newcomers are subscribed to. Guests do not get any."""
    return {"realm_default_streams": [] if caller.is_guest else await default_channels(reader, caller.realm_id)}


async def memberships(reader: Reader, user_ids: Sequence[int]) -> dict[int, dict[int, SeqSet]]:
    """The channels that users are or were in, with the numbers of the messages that are theirs, as far as the log tells of them.

    The log tells of the newest messages only. A history becomes one of very many pieces by marking old ones unread, and to make
    an object of each would keep everybody waiting (docs/decisions/0186): then the newest pieces are taken.
    """
    sql = """
    select user_id, conversation_id, case when pg_column_size(history) < $2 then history else (
        select range_agg(piece) from (
            select piece from unnest(history) as piece order by lower(piece) desc limit $3
        ) as newest
    ) end as history
    from read_state join channel on channel.id = conversation_id where user_id = any($1::bigint[])
    """
    found: dict[int, dict[int, SeqSet]] = {user_id: {} for user_id in user_ids}
    for user_id, conversation_id, history in await reader.fetch(sql, user_ids, SHORT_HISTORY_BYTES, NEWEST_PIECES):
        found[user_id][conversation_id] = SeqSet(history)
    return found
