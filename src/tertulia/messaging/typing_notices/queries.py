"""SQL of typing: one statement per function, for many requests at once."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from tertulia.kernel.auth import Role
from tertulia.kernel.db import Reader
from tertulia.kernel.lists import planned_once
from tertulia.people.users.statements import LIMITED, is_hidden


class ChannelKey(NamedTuple):
    """Who writes in which channel."""

    user_id: int
    channel_id: int


class PersonKey(NamedTuple):
    """Somebody of a realm, whose address is shown under this domain if it is hidden."""

    realm_id: int
    user_id: int
    domain: str


class Audible(msgspec.Struct, frozen=True):
    """Whether the writer tells of it, and who wants to know."""

    tells: bool
    listeners: tuple[int, ...] | None
    """None: too many to tell them of each keystroke."""


class TypingParticipant(msgspec.Struct, frozen=True):
    """A participant of a direct conversation, and what they want of typing."""

    id: int
    email: str
    is_active: bool
    is_guest: bool
    tells: bool
    wants: bool


class Overheard(msgspec.Struct, frozen=True):
    """Whether somebody tells that they change their message, and who wants to know."""

    now: datetime
    tells: bool
    listeners: list[int]
    """Nobody, if they are too many."""


_WANTS = "coalesce((account.settings->>'receives_typing_notifications')::boolean, true)"

_KEYED_CHANNELS = f"""
select key.user_id, key.channel_id,
       coalesce((writer.settings->>'send_stream_typing_notifications')::boolean, true) as tells,
       case when channel.subscriber_count <= $3 then array(
           select account.id from subscription join account on account.id = subscription.user_id
           where subscription.channel_id = channel.id and subscription.is_active and account.is_active and {_WANTS}
       ) end as listeners
from {{keys}} as key(user_id, channel_id)
join account as writer on writer.id = key.user_id join channel on channel.id = key.channel_id
"""
_CHANNELS = _KEYED_CHANNELS.format(keys="unnest($1::bigint[], $2::bigint[])")
# Most write alone: without lists its plan is made once (kernel/lists.py).
_CHANNEL = _KEYED_CHANNELS.format(keys="(values ($1::bigint, $2::bigint))")

_PEOPLE = f"""
select key.realm_id, key.domain, account.id, api_email(account, key.domain) as email, account.is_active,
       account.role = {Role.GUEST} as is_guest,
       coalesce((account.settings->>'send_private_typing_notifications')::boolean, true) as tells, {_WANTS} as wants
from unnest({planned_once("$1::bigint[]")}, {planned_once("$2::bigint[]")}, {planned_once("$3::text[]")})
    as key(realm_id, user_id, domain)
join account on account.id = key.user_id and account.realm_id = key.realm_id
"""

_EDITED = f"""
select clock_timestamp() as now,
       coalesce((writer.settings->>case when channel.id is null then 'send_private_typing_notifications'
           else 'send_stream_typing_notifications' end)::boolean, true) as tells,
       case when channel.id is null then array(
           select account.id from account
           where account.id = any(conversation.participants) and account.is_active and {_WANTS} order by account.id
       ) when channel.subscriber_count <= $4 then array(
           select account.id from subscription join account on account.id = subscription.user_id
           join read_state on read_state.user_id = account.id and read_state.conversation_id = channel.id
           where subscription.channel_id = channel.id and subscription.is_active and account.is_active and {_WANTS}
               and (channel.history_public_to_subscribers or $3::bigint <@ read_state.history) order by account.id
       ) else '{{}}' end as listeners
from account as writer join conversation on conversation.id = $2
left join channel on channel.id = conversation.id
where writer.id = $1
"""


async def channels(reader: Reader, keys: Sequence[ChannelKey], max_subscribers: int) -> dict[ChannelKey, Audible]:
    """Who hears of writers in channels."""
    if len(keys) == 1:
        rows = await reader.fetch(_CHANNEL, *keys[0], max_subscribers)
    else:
        rows = await reader.fetch(_CHANNELS, *zip(*keys, strict=True), max_subscribers)
    return {
        ChannelKey(row["user_id"], row["channel_id"]): Audible(
            row["tells"], None if row["listeners"] is None else tuple(row["listeners"])
        )
        for row in rows
    }


async def people(reader: Reader, keys: Sequence[PersonKey]) -> dict[PersonKey, TypingParticipant]:
    """People of realms."""
    found = {}
    for row in await reader.fetch(_PEOPLE, *zip(*keys, strict=True)):
        key = PersonKey(row["realm_id"], row["id"], row["domain"])
        found[key] = TypingParticipant(
            row["id"], row["email"], row["is_active"], row["is_guest"], row["tells"], row["wants"]
        )
    return found


async def guests_apart(reader: Reader, realm_id: int, people: Sequence[int]) -> frozenset[int]:
    """The guests among people (ascending) who have nothing of each other yet: they may not see all of them.

    Of groups that have not talked yet it is all guests: to look at each pair would take long, for what one message changes.
    """
    sql = f"""
    select guest.id from account as guest
    where guest.realm_id = $1 and guest.id = any($2::bigint[]) and guest.role = {Role.GUEST} and {LIMITED}
        and not exists (select from conversation where realm_id = $1 and participants = $2::bigint[])
        and (cardinality($2::bigint[]) > 2 or exists (
            select from account as other where other.id = any($2::bigint[]) and {is_hidden("guest", "other")}
        ))
    """
    return frozenset(row["id"] for row in await reader.fetch(sql, realm_id, people))


async def listeners_of_edit(reader: Reader, writer_id: int, place: tuple[int, int], most: int) -> Overheard:
    """Who hears that a message is being changed. `place`: its conversation, and its number there.

    With protected history only those who have received it: to the others there is no such message.
    """
    row = await reader.fetchrow(_EDITED, writer_id, *place, most)
    assert row is not None  # the caller has just been let in, and conversations stay
    return Overheard(**row)
