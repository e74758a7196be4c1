"""A new address of one's own: a token is sent there and another one to the old address, and it counts once both came back.

The last request counts, for a day, and only as long as the account has the address and the password it had when the request was
made. Both addresses are told of the change when it happened. Who no longer reads mail at the old address asks an owner of the
organization, who may change it for them.
"""

import secrets

import asyncpg
import structlog

from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.db import Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.mail import one_line, queue_mail
from tertulia.organization.audit_log import Act, Proved, note, user
from tertulia.organization.notices.queries import language_of
from tertulia.organization.realms.domains.actions import check_address_allowed
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.settings import RealmSettings, settings_of
from tertulia.people.logins import queries
from tertulia.people.logins.words import words_of
from tertulia.people.users import events
from tertulia.people.users.actions import tell_address
from tertulia.people.users.addresses import email_key_of, id_of_fake_email
from tertulia.people.users.authentication.holding import hold_access
from tertulia.people.users.authentication.queries import delete_email_change
from tertulia.people.users.queries import lock_accounts, set_email
from tertulia.people.users.rules import is_email

log = structlog.get_logger()

VALID_SECONDS = 86400
TOKEN_BYTES = 32


async def ask_for_change(tx: Transaction, caller: Caller, realm: Realm, email: str, url: str) -> None:
    """Send a token to the new address and one to the old; `url` is the page, without the token."""
    email = email.strip()
    await hold_access(tx, caller)
    account = await queries.get_account(tx, caller.user_id)
    await _check_wish(tx, caller, account, email)
    token, old_token = secrets.token_urlsafe(TOKEN_BYTES), secrets.token_urlsafe(TOKEN_BYTES)
    request = queries.EmailChangeRequest(caller.user_id, email_key_of(account.email), email)
    await queries.put_email_change(tx, request, digest_of_key(token), digest_of_key(old_token), VALID_SECONDS)
    note(tx, realm.id, Act.USER_EMAIL_CHANGE_ASKED, user(account.id), email=(account.email, email))
    name, organization = one_line(account.full_name), one_line(realm.name)
    words = words_of(account.language)
    subject = words.new_address_subject.format(realm=organization)
    await queue_mail(tx, email, subject, words.new_address.format(name=name, realm=organization, url=f"{url}/{token}"))
    asked = words.old_address.format(name=name, realm=organization, email=email, url=f"{url}/{old_token}")
    await queue_mail(tx, account.email, subject, asked)


async def _check_wish(tx: Transaction, caller: Caller, account: queries.Account, email: str) -> None:
    _check_changeable(settings_of(caller), caller.role)
    if account.is_in_directory:
        raise Refusal("Your email address comes from your organization's directory, and is changed there.")
    if not is_email(email) or id_of_fake_email(email, caller.fake_domain) is not None:
        raise Refusal("Enter a valid email address.")
    await check_address_allowed(tx, caller.realm_id, email)
    holder = await queries.find_holder(tx, caller.realm_id, email_key_of(email))
    if holder not in (None, caller.user_id):
        raise Refusal("Email is already in use.")


def _check_changeable(settings: RealmSettings, role: int) -> None:
    if settings.email_changes_disabled and role > Role.ADMINISTRATOR:
        raise Refusal("Email address changes are disabled in this organization.")


async def confirm_change(tx: Transaction, realm: Realm, token: str) -> bool:
    """One of the two addresses agrees; returns whether that was the last one, and the account has the new address."""
    wisher = await queries.find_wisher(tx, realm.id, digest_of_key(token))
    # The account first, as by everybody who changes it: a new password ends the wish.
    target = (await lock_accounts(tx, realm.id, [wisher])).get(wisher) if wisher is not None else None
    agreement = await queries.agree_to_email_change(tx, realm.id, digest_of_key(token))
    request = agreement.request if agreement else None
    if request is None or target is None or not target.is_active or email_key_of(target.email) != request.old_email_key:
        raise Refusal("This link is no longer good. Ask for another one.")
    _check_changeable(realm.settings, target.role)
    await check_address_allowed(tx, realm.id, request.new_email)
    if agreement is None or not agreement.is_complete:
        return False
    await delete_email_change(tx, target.id)
    try:
        await set_email(tx, target.id, request.new_email)
    except asyncpg.UniqueViolationError as error:
        raise Refusal("Email is already in use.") from error
    if request.new_email != target.email:
        to = await events.those_who_know(tx, realm.id, target.id)
        tell_address(tx, realm.id, to, target, request.new_email)
        emails = (target.email, request.new_email)
        note(tx, realm.id, Act.USER_EMAIL_CHANGED, user(target.id), Proved(target.id), email=emails)
    words, organization = words_of(await language_of(tx, target.id)), one_line(realm.name)
    body = words.address_changed.format(name=one_line(target.full_name), realm=organization, email=request.new_email)
    for email in (target.email, request.new_email):
        await queue_mail(tx, email, words.address_changed_subject.format(realm=organization), body)
    log.info("an address was changed by mail", user_id=target.id)
    return True
