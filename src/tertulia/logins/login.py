"""Logging in with a password: the one of the account, or the one of the directory.

Every attempt costs one password check, whether or not there is such a user, and is counted before it is made.
"""

import asyncpg
import structlog

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key, new_api_key
from tertulia.kernel.limits import parse_rates
from tertulia.kernel.settings import Settings
from tertulia.logins import queries
from tertulia.logins.attempts import Attempts
from tertulia.logins.directory import DirectoryPerson, LdapDirectory
from tertulia.logins.names import clean_username, failure_key_of, presentable_name
from tertulia.logins.queries import Account
from tertulia.realms.queries import Realm
from tertulia.realms.settings import decode_settings
from tertulia.users.actions import create_user
from tertulia.users.arrival import Arrival, Newcomer
from tertulia.users.passwords import MUST_RESET, check_strength, hash_password, is_password
from tertulia.users.queries import email_key_of
from tertulia.users.rules import is_email

log = structlog.get_logger()


class PasswordLogin:
    """Finds out who somebody is by their password."""

    def __init__(self, database: Database, settings: Settings, arrival: Arrival | None = None) -> None:
        self._arrival = arrival or Arrival()
        [limit] = parse_rates(settings.login_failures)
        self._database = database
        self._attempts = Attempts(database, limit)
        self._directory = LdapDirectory(settings) if settings.ldap_url else None

    async def log_in(self, realm: Realm, username: str, password: str) -> Account:
        """Whose user name and password these are; refuses everybody else."""
        directory = self._directory_of(realm)
        check_login_allowed(realm, has_directory=directory is not None)
        username = clean_username(username, has_directory=directory is not None)
        account = await self._find_local(realm, username)
        if account is not None:
            check_active(account)
            check_usable(account)
        # No connection is held while the password is being checked: that takes long, on purpose.
        async with self._attempts.attempt(realm.id, failure_key_of(username)) as attempt:
            found = account if await self._is_own_password(account, password) else None
            if found is None and directory is not None:
                person = await directory.find(username, password)
                found = await self._account_of(realm, person) if person else None
            if found is None:
                raise Refusal("Wrong user name or password.", code="AUTHENTICATION_FAILED", status=401)
            attempt.is_right = True
        check_active(found)
        return found

    async def fetch_key(self, realm: Realm, username: str, password: str, label: str) -> tuple[str, Account]:
        """A new key for who knows the password."""
        account = await self.log_in(realm, username, password)
        key = new_api_key()
        async with self._database.transaction() as tx:
            made = await queries.insert_key(tx, account.id, digest_of_key(key), label[:100], account.password_hash)
        if not made:  # the account was turned off, or its password changed, while we looked
            raise Refusal("Wrong user name or password.", code="AUTHENTICATION_FAILED", status=401)
        return key, account

    async def change_password(self, caller: Caller, old: str, new: str, *, keep_session: bytes | None = None) -> None:
        """Give the caller another password, as they know the old one. All browsers are logged out but one.

        In transactions of its own: call it while holding none, before anything else is changed.
        """
        async with self._database.reader() as reader:
            account = await queries.get_account(reader, caller.user_id)
        if account.is_in_directory and account.password_hash is None:
            raise Refusal("Your password is kept in the directory of your organization: change it there.")
        async with self._attempts.attempt(caller.realm_id, failure_key_of(account.email)) as attempt:
            if not await self._is_own_password(account, old):
                raise Refusal("Wrong password!")
            attempt.is_right = True
        await check_strength(new, account.email, account.full_name)
        stored = await hash_password(new)
        async with self._database.transaction() as tx:
            if not await queries.replace_password(tx, account.id, account.password_hash, stored):
                raise Refusal("Wrong password!")  # it was changed at the same time
            await queries.end_sessions(tx, account.id, keep_session)

    async def _find_local(self, realm: Realm, username: str) -> Account | None:
        """The account whose own password could be meant."""
        if not decode_settings(realm.settings).password_auth_enabled or not is_email(username):
            return None
        async with self._database.reader() as reader:
            account = await queries.find_account(reader, realm.id, email_key_of(username))
        is_elsewhere = self._directory_of(realm) is not None and account is not None and account.password_hash is None
        return None if is_elsewhere else account

    async def _is_own_password(self, account: Account | None, password: str) -> bool:
        return await is_password(account.password_hash if account else None, password)

    def _directory_of(self, realm: Realm) -> LdapDirectory | None:
        return self._directory if self._directory is not None and self._directory.serves(realm.subdomain) else None

    async def _account_of(self, realm: Realm, person: DirectoryPerson) -> Account:
        """The account of a person of the directory; made at their first login."""
        if not is_email(person.email):
            log.error("the directory has no email address of a person", id=person.id)
            raise Refusal("The directory of your organization does not say your email address.")
        try:
            async with self._database.transaction() as tx:
                return await _find_or_make(tx, realm, person, self._arrival)
        except (Refusal, asyncpg.UniqueViolationError):
            # Made by another request at the same moment, or else it fails again.
            async with self._database.transaction() as tx:
                return await _find_or_make(tx, realm, person, self._arrival)


async def _find_or_make(tx: Transaction, realm: Realm, person: DirectoryPerson, arrival: Arrival) -> Account:
    known = await queries.find_by_identity(tx, realm.id, person.id)
    if known is not None:
        return known
    account = await queries.find_account(tx, realm.id, email_key_of(person.email))
    if account is None:
        name = presentable_name(person.full_name) or presentable_name(person.email.partition("@")[0]) or "Somebody"
        reception = await arrival.hold(tx, realm.id, Newcomer(person.email))
        user_id = await create_user(tx, realm.id, person.email, name, reception.role)
        await arrival.welcome(tx, realm.id, user_id, reception)
        log.info("account made for a person of the directory", user_id=user_id)
    else:
        user_id = account.id
    await queries.insert_identity(tx, realm.id, person.id, user_id)
    return await queries.get_account(tx, user_id)


def check_login_allowed(realm: Realm, *, has_directory: bool) -> None:
    """Refuse logins where there are none."""
    if not realm.is_active:
        raise Refusal("This organization has been deactivated.", code="REALM_DEACTIVATED", status=401)
    if not (decode_settings(realm.settings).password_auth_enabled or has_directory):
        raise Refusal("This organization has no password login.", code="PASSWORD_AUTH_DISABLED", status=401)


def check_active(account: Account) -> None:
    """Refuse accounts that are turned off."""
    if not account.is_active:
        raise Refusal("This account is deactivated.", code="USER_DEACTIVATED", status=401)


def check_usable(account: Account) -> None:
    """Refuse accounts whose password is no longer good, whatever it is."""
    if account.password_hash == MUST_RESET:
        raise Refusal(
            "Your password is no longer good. Choose another one by a mail to your address.",
            code="PASSWORD_RESET_REQUIRED",
            status=401,
        )
