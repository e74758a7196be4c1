"""The one way to a user: by number or by address, as far as the reader sees them. Whom they do not see looks like nobody."""

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.organization.groups.rights import holds
from tertulia.people.users import queries
from tertulia.people.users.addresses import named_by
from tertulia.people.users.model import view_of
from tertulia.people.users.rules import no_such_user
from tertulia.people.users.visibility.actions import hidden_from


async def is_limited(reader: Reader, caller: Caller) -> bool:
    """Whether the caller is a guest who sees only some of the users."""
    return caller.is_guest and not await holds(reader, caller, "can_access_all_users_group")


async def get_user_id(reader: Reader, caller: Caller, email: str) -> int:
    """The user an address names: a real one if the caller sees it, or a made-up one."""
    by_address = named_by([email], caller.fake_domain)
    key, user_id = by_address.keys.get(email, ""), by_address.user_ids.get(email)
    found = await queries.find_user_id(reader, view_of(caller), key, user_id)
    if found is None:
        raise no_such_user()
    await check_seen(reader, caller, found)
    return found


async def check_seen(reader: Reader, caller: Caller, user_id: int) -> None:
    """Refuse a user whom the caller does not see, as one who is not there. No statement unless the caller is a guest."""
    if await hidden_from(reader, caller, [user_id]):
        raise no_such_user()


async def get_user_text(reader: Reader, caller: Caller, user_id: int, *, profile: bool) -> bytes:
    """The record of a user the caller sees."""
    limited = await is_limited(reader, caller)
    found = await queries.find_user_text(reader, view_of(caller), user_id, profile=profile, limited=limited)
    if not found:
        raise no_such_user()
    return found
