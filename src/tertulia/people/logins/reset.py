"""A forgotten password: a token is sent to the account's address, and whoever has it sets a new password, once.

Asking does the same work, and has the same answer, for every address. A new password that came this way ends everything
that the old one may have opened: browsers, API keys, other tokens.
"""

import secrets

import structlog

from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.mail import one_line, queue_mail
from tertulia.kernel.settings import Settings
from tertulia.organization.audit_log import Act, Proved, note, user
from tertulia.organization.realms.queries import Realm
from tertulia.people.logins import queries
from tertulia.people.logins.names import failure_key_of
from tertulia.people.logins.queries import Account
from tertulia.people.logins.words import words_of as mail_words
from tertulia.people.users.addresses import email_key_of
from tertulia.people.users.authentication.revocation import end_keys, end_sessions
from tertulia.people.users.password_words import words_of
from tertulia.people.users.passwords import MUST_RESET, check_strength, hash_password

log = structlog.get_logger()

VALID_SECONDS = 86400
TOKEN_BYTES = 32


async def ask_for_reset(tx: Transaction, realm: Realm, email: str, url: str) -> None:
    """Send a token to the person with this address, if there is one; `url` is the page, without the token."""
    account = await queries.find_account(tx, realm.id, email_key_of(email))
    token = secrets.token_urlsafe(TOKEN_BYTES)
    # For an address that nobody has as well: the same work.
    note(tx, realm.id, Act.PASSWORD_RESET_ASKED, None if account is None else user(account.id))
    if account is None or not _may_reset(account):
        await queue_mail(tx, None, "", "")
        return
    email_key = email_key_of(account.email)
    await queries.insert_reset(tx, account.id, email_key, digest_of_key(token), VALID_SECONDS)
    words, organization = mail_words(account.language), one_line(realm.name)
    body = words.reset.format(name=one_line(account.full_name), realm=organization, url=f"{url}/{token}")
    await queue_mail(tx, account.email, words.reset_subject.format(realm=organization), body)


async def is_sent(reader: Reader, realm: Realm, email: str) -> bool:
    """Whether who asks for a token for this address gets a mail."""
    account = await queries.find_account(reader, realm.id, email_key_of(email))
    return account is not None and _may_reset(account)


async def use_token(database: Database, settings: Settings, realm: Realm, token: str, password: str) -> None:
    """Set the password of the token's owner."""
    digest = digest_of_key(token)
    async with database.reader() as reader:
        account = await queries.find_reset_owner(reader, realm.id, digest)
        words = await words_of(reader, realm.id, settings)
    if account is None:
        raise Spent
    await check_strength(password, words, account.email, account.full_name)
    stored = await hash_password(password, settings)
    async with database.transaction() as tx:
        user_id = await queries.use_reset(tx, realm.id, digest)
        if user_id is None:
            raise Spent
        await set_password(tx, user_id, stored)
        # Who reads the account's mail is its owner: whoever guessed before does not keep them out.
        await queries.clear_failures(tx, realm.id, failure_key_of(account.email))
        note(tx, realm.id, Act.PASSWORD_RESET, user(user_id), Proved(user_id))
    log.info("a password was replaced by mail", user_id=user_id)


class Spent(Refusal):
    """The token was used, is too old, or never was one."""

    def __init__(self) -> None:
        super().__init__("This link is no longer good. Ask for another one.")


async def set_password(tx: Transaction, user_id: int, stored: str, *, keep_keys: bool = False) -> None:
    """Store a hashed password; browsers are logged out, keys and tokens end."""
    await queries.set_password(tx, user_id, stored)
    await end_sessions(tx, user_id)
    if not keep_keys:
        await end_keys(tx, user_id)


async def set_by_hand(
    tx: Transaction, realm_id: int, email: str, password: str, settings: Settings, *, keep_keys: bool
) -> None:
    """Set a password as the operator, who may choose no weaker one than its owner could."""
    account = await _get_account(tx, realm_id, email)
    await check_strength(password, await words_of(tx, realm_id, settings), account.email, account.full_name)
    await _replace(tx, realm_id, account, await hash_password(password, settings), keep_keys=keep_keys)


async def end_by_hand(tx: Transaction, realm_id: int, email: str, *, keep_keys: bool) -> Account:
    """End a password as the operator: its owner has to ask for a mail."""
    account = await _get_account(tx, realm_id, email)
    await _replace(tx, realm_id, account, MUST_RESET, keep_keys=keep_keys)
    return account


async def _get_account(tx: Transaction, realm_id: int, email: str) -> Account:
    account = await queries.find_account(tx, realm_id, email_key_of(email))
    if account is None:
        raise Refusal("Nobody in this organization has that address.")
    return account


async def _replace(tx: Transaction, realm_id: int, account: Account, stored: str, *, keep_keys: bool) -> None:
    await set_password(tx, account.id, stored, keep_keys=keep_keys)
    note(tx, realm_id, Act.PASSWORD_RESET, user(account.id))


async def link_by_hand(tx: Transaction, realm_id: int, email: str, url: str, *, keep_keys: bool) -> str:
    """A link for a new password, for the operator to hand over; the old one ends now. `url` is the page, without a token."""
    account = await end_by_hand(tx, realm_id, email, keep_keys=keep_keys)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    await queries.insert_reset(tx, account.id, email_key_of(account.email), digest_of_key(token), VALID_SECONDS)
    return f"{url}/{token}"


async def forget_old_tokens(database: Database) -> int:
    """Delete tokens that are no longer valid; returns how many."""
    async with database.transaction() as tx:
        return await queries.delete_old_tokens(tx)


def _may_reset(account: Account) -> bool:
    """People of the directory have their password there: one here would outlive their account there."""
    return account.is_active and not account.is_in_directory
