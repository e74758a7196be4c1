"""The one way to a user: by number or by address, as far as the reader sees them."""

from tertulia.groups.rights import holds
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import Refusal
from tertulia.users import queries
from tertulia.users.addresses import id_of_fake_email
from tertulia.users.model import view_of
from tertulia.users.rules import no_such_user


async def is_limited(reader: Reader, caller: Caller) -> bool:
    """Whether the caller is a guest who sees only some of the users."""
    return caller.is_guest and not await holds(reader, caller, "can_access_all_users_group")


async def get_user_id(reader: Reader, caller: Caller, email: str) -> int:
    """The user an address names: a real one if the caller sees it, or a made-up one."""
    fake_id = id_of_fake_email(email, caller.fake_domain)
    found = await queries.find_user_id(reader, view_of(caller), queries.email_key_of(email), fake_id)
    if found is None:
        raise no_such_user()
    return found


async def get_user_text(reader: Reader, caller: Caller, user_id: int, *, profile: bool) -> bytes:
    """The record of a user the caller sees."""
    limited = await is_limited(reader, caller)
    found = await queries.find_user_text(reader, view_of(caller), user_id, profile=profile, limited=limited)
    if found is None:
        raise no_such_user()
    if not found:
        raise Refusal("Insufficient permission")
    return found
