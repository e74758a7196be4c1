"""Whom a call speaks of: users by id or by the address the API shows."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import Refusal
from tertulia.people.users.addresses import Named, named_by
from tertulia.people.users.model import view_of
from tertulia.people.users.statements import SEES_EMAIL
from tertulia.people.users.visibility.actions import hidden_from

MAX_PRINCIPALS = 20_000
"""In one call; of channels and people together as many subscriptions. All of these people are held until it is done: nobody
of them logs in or changes a setting meanwhile."""
MAX_ADDRESSES = 1000
"""Of those: each address is written in lower case and matched, all in one piece."""


class Principal(msgspec.Struct, frozen=True):
    """A user who is to be subscribed or unsubscribed."""

    id: int
    is_active: bool
    is_bot: bool
    bot_owner_id: int | None
    found_by: str | None
    """The address that was asked for, if it was the real one."""


_FIND = f"""
select id, is_active, bot_type is not null as is_bot, bot_owner_id,
    case when email_key = any($6::text[]) and {SEES_EMAIL} then email_key end as found_by
from account
where realm_id = $4 and system_bot is null and $3::text is not null
    and (id = any($5::bigint[]) or (email_key = any($6::text[]) and {SEES_EMAIL}))
order by id
"""


def check_amount(channels: int, people: int) -> None:
    """Refuse what would take too long at once."""
    if channels * people > MAX_PRINCIPALS:
        raise Refusal(
            f"These are {channels * people} subscriptions. One call changes at most {MAX_PRINCIPALS}: name fewer people"
            " or fewer channels."
        )


async def get_principals(reader: Reader, caller: Caller, named: Sequence[int | str]) -> list[Principal]:
    """The users of the realm who are named, by id; refuses unknown and deactivated ones."""
    ids, emails = _sorted_out(named)
    if ids and emails:
        raise Refusal("principals has either user IDs or email addresses, not both.")
    by_address = named_by(emails, caller.fake_domain)
    everybody = await _find(reader, caller, ids, by_address)
    hidden = await hidden_from(reader, caller, [one.id for one in everybody])
    found = [one for one in everybody if one.id not in hidden]
    known, addresses = {one.id for one in found}, {one.found_by for one in found}
    for user_id in ids:
        if user_id not in known:
            raise Refusal(f"There is no user with the ID {user_id}.")
    for email in by_address.unknown(known, addresses):
        raise Refusal(f"There is no user with the email address '{email}'.")
    for one in found:
        if not one.is_active:
            raise Refusal(f"The user with the ID {one.id} is deactivated.")
    return found


async def find_ids(reader: Reader, caller: Caller, named: Sequence[int | str]) -> set[int]:
    """The ids of those who are named and exist. Nobody is refused, and more than that must not be told."""
    ids, emails = _sorted_out(named)
    return {one.id for one in await _find(reader, caller, ids, named_by(emails, caller.fake_domain))}


async def _find(reader: Reader, caller: Caller, ids: Sequence[int], by_address: Named) -> list[Principal]:
    view = view_of(caller)
    everybody, keys = [*ids, *by_address.user_ids.values()], list(by_address.keys.values())
    rows = await reader.fetch(_FIND, *view.arguments, view.realm_id, everybody, keys)
    return [Principal(**row) for row in rows]


def _sorted_out(named: Sequence[int | str]) -> tuple[list[int], list[str]]:
    emails = [one for one in named if isinstance(one, str)]
    if len(emails) > MAX_ADDRESSES:
        raise Refusal(f"At most {MAX_ADDRESSES:,} email addresses can be given at once: give user IDs instead.")
    return [one for one in named if isinstance(one, int)], emails
