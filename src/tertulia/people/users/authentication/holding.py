"""Who calls is asked once more, where what they do outlives their request: a bot, a key, an address, a way to log in.

A request is let in by what was true when it came. Passwords are checked, bodies arrive and turns are waited for after that, and
whoever is logged out or turned off meanwhile must not leave anything behind that lets them in again.
"""

from tertulia.kernel.auth import Caller, DirectoryClient
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal, unauthorized
from tertulia.people.users import queries
from tertulia.people.users.authentication.queries import hold_key, hold_session, hold_token, is_let_in
from tertulia.people.users.model import Account


async def hold_access(tx: Transaction, caller: Caller, *others: int) -> dict[int, Account]:
    """The caller's account, which is active and has no smaller role than when they were let in, by a key or a session that is
    still good; and these others, if there are such accounts. So it stays until the commit. After conversations are held."""
    held = await queries.lock_accounts(tx, caller.realm_id, [caller.user_id, *others])
    now = held.get(caller.user_id)
    if now is None or not now.is_active:
        raise unauthorized("This account is deactivated.", caller.subdomain or "tertulia", scheme=_scheme(caller))
    if now.role > caller.role:
        raise Refusal("Insufficient permission")
    await hold_credential(tx, caller)
    return held


async def check_access(reader: Reader, caller: Caller) -> None:
    """The same as it is now, without holding anything: where what follows asks by itself who may do it."""
    if not await is_let_in(reader, caller.user_id, caller.role, caller.key_id, caller.session_id):
        raise unauthorized("You have been logged out.", caller.subdomain or "tertulia", scheme=_scheme(caller))


async def hold_credential(tx: Transaction, caller: Caller) -> None:
    """Refuse a caller whose key, session or token has ended; until the commit it does not. Accounts are held before."""
    if isinstance(caller, DirectoryClient) and not await hold_token(tx, caller.realm_id, caller.token_id):
        raise unauthorized("The token is not valid.", caller.subdomain or "tertulia", scheme="Bearer")
    if caller.key_id and not await hold_key(tx, caller.user_id, caller.key_id):
        raise unauthorized("Invalid API key", caller.subdomain or "tertulia")
    if caller.session_id and not await hold_session(tx, caller.user_id, caller.session_id):
        msg = "Your session has ended: please log in again."
        raise unauthorized(msg, caller.subdomain or "tertulia", scheme=_scheme(caller))


def _scheme(caller: Caller) -> str:
    """Not the challenge for Basic where a browser calls: it would ask for a password in a window of its own."""
    return "Session" if caller.session_id else "Basic"
