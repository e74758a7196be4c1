"""A new address of one's own: a token is sent there, and the address counts once somebody brings it back.

The last wish counts, for a day, and only as long as the account has the address it had when the wish was made. The old
address is told of the change when it happened.
"""

import secrets

import asyncpg
import structlog

from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.mail import one_line, queue_mail
from tertulia.logins import queries
from tertulia.realms.domains import check_address_allowed
from tertulia.realms.queries import Realm
from tertulia.realms.settings import decode_settings
from tertulia.users import events
from tertulia.users.actions import tell_address
from tertulia.users.addresses import id_of_fake_email
from tertulia.users.queries import email_key_of, lock_accounts, set_email
from tertulia.users.rules import is_email

log = structlog.get_logger()

VALID_SECONDS = 86400
TOKEN_BYTES = 32

_ASK = """Hello {name},

you asked to use this address at {realm} from now on.
Confirm it here, within a day:

    {url}

If you did not ask, ignore this mail: nothing has changed.
"""
_TOLD = """Hello {name},

your account at {realm} has another email address now: {email}
Log in with it from now on.

If you did not ask for this, tell an administrator of {realm} at once.
"""


async def ask_for_change(tx: Transaction, caller: Caller, realm: Realm, email: str, url: str) -> None:
    """Send a token to the new address; `url` is the page, without the token."""
    email = email.strip()
    account = await queries.get_account(tx, caller.user_id)
    await _check_wish(tx, caller, account, email)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    wish = queries.EmailWish(caller.user_id, email_key_of(account.email), email)
    await queries.put_email_change(tx, wish, digest_of_key(token), VALID_SECONDS)
    body = _ASK.format(name=account.full_name, realm=realm.name, url=f"{url}/{token}")
    await queue_mail(tx, email, f"Your new address at {one_line(realm.name)}", body)


async def _check_wish(tx: Transaction, caller: Caller, account: queries.Account, email: str) -> None:
    if decode_settings(caller.realm_settings).email_changes_disabled and caller.role > Role.ADMINISTRATOR:
        raise Refusal("Email address changes are disabled in this organization.")
    if account.is_in_directory:
        raise Refusal("Your email address comes from your organization's directory, and is changed there.")
    if not is_email(email) or id_of_fake_email(email, caller.fake_domain) is not None:
        raise Refusal("Enter a valid email address.")
    await check_address_allowed(tx, caller.realm_id, email)
    holder = await queries.find_holder(tx, caller.realm_id, email_key_of(email))
    if holder not in (None, caller.user_id):
        raise Refusal("Email is already in use.")


async def confirm_change(tx: Transaction, realm: Realm, token: str) -> None:
    """Give the token's owner the address it was sent to."""
    wish = await queries.use_email_change(tx, realm.id, digest_of_key(token))
    target = (await lock_accounts(tx, realm.id, [wish.user_id])).get(wish.user_id) if wish else None
    if wish is None or target is None or not target.is_active or email_key_of(target.email) != wish.old_email_key:
        raise Refusal("This link is no longer good. Ask for another one.")
    await check_address_allowed(tx, realm.id, wish.new_email)
    try:
        await set_email(tx, target.id, wish.new_email)
    except asyncpg.UniqueViolationError as error:
        raise Refusal("Email is already in use.") from error
    if wish.new_email != target.email:
        to = await events.those_who_know(tx, realm.id, target.id)
        tell_address(tx, realm.id, to, target, wish.new_email)
    body = _TOLD.format(name=target.full_name, realm=realm.name, email=wish.new_email)
    await queue_mail(tx, target.email, f"Your address at {one_line(realm.name)} has changed", body)
    log.info("an address was changed by mail", user_id=target.id)
