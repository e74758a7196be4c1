"""Logging in with a password: the one of the account, or the one of the directory.

Every attempt costs one password check, whether or not there is such a user, and is counted before it is made.
"""

import asyncpg
import msgspec
import structlog

from tertulia.kernel.auth import Caller
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.mail import mails_leave
from tertulia.kernel.settings import Settings
from tertulia.organization.audit_log import Act, Proved, note, user
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.routes import realm_url
from tertulia.organization.realms.settings import gone
from tertulia.people.factors import actions as factors
from tertulia.people.factors.actions import (
    NO_STEP,
    REQUIRED,
    SETUP_REQUIRED,
    Cleared,
    CodeNeeded,
    SecondStep,
    Setup,
    Somebody,
)
from tertulia.people.factors.passkeys.party import Party
from tertulia.people.logins import queries
from tertulia.people.logins.attempts import Attempt, Target, attempts_of, note_failure
from tertulia.people.logins.directory import DirectoryPerson, LdapDirectory, is_id
from tertulia.people.logins.identities import tie
from tertulia.people.logins.keys import fetch_key
from tertulia.people.logins.names import clean_username, failure_key_of, own_failure_key, presentable_name
from tertulia.people.logins.places import Origin, note_login, origin_of
from tertulia.people.logins.queries import Account
from tertulia.people.users.actions import create_user
from tertulia.people.users.addresses import email_key_of
from tertulia.people.users.arrival import Arrival, Newcomer
from tertulia.people.users.authentication.holding import hold_access
from tertulia.people.users.authentication.revocation import end_keys_by_password, end_sessions
from tertulia.people.users.password_words import words_of
from tertulia.people.users.passwords import MUST_RESET, check_strength, hash_password, is_outdated, is_password
from tertulia.people.users.queries import has_namesake
from tertulia.people.users.rules import is_email

log = structlog.get_logger()


class LoggedIn(msgspec.Struct, frozen=True):
    """Who somebody is, and that nothing more is needed to let them in."""

    account: Account
    cleared: Cleared


class PasswordLogin:
    """Finds out who somebody is by their password."""

    def __init__(self, database: Database, settings: Settings, arrival: Arrival | None = None) -> None:
        self._arrival = arrival or Arrival()
        self._database = database
        self._settings = settings
        self._attempts = attempts_of(database, settings)
        self._directory = LdapDirectory(settings) if settings.ldap_url else None

    async def log_in(
        self, realm: Realm, username: str, password: str, origin: Origin, step: SecondStep = NO_STEP
    ) -> LoggedIn:
        """Whose user name and password these are, and the second step if they have a factor; refuses everybody else."""
        directory = self._directory_of(realm)
        check_login_allowed(realm, has_directory=directory is not None)
        username = clean_username(username, has_directory=directory is not None)
        account = await self._find_local(realm, username)
        target = await self._target(realm, username, account, origin)
        if account is not None:
            await self._check_open(account, target)
        # No connection is held while the password is being checked: that takes long, on purpose.
        async with self._attempts.attempt(target) as attempt:
            found = account if await self._is_own_password(account, password) else None
            if found is None and directory is not None:
                person = await directory.find(username, password)
                found = await self._account_of(realm, directory, person, username) if person else None
            if found is None:
                raise Refusal("Wrong user name or password.", code="AUTHENTICATION_FAILED", status=401)
            cleared = await self._clear(realm, found, step, attempt)
            attempt.is_right = True
        check_active(found)
        if found is account and found.password_hash is not None and is_outdated(found.password_hash, self._settings):
            found = await self._hash_anew(found, password)
        return LoggedIn(found, cleared)

    async def _check_open(self, account: Account, target: Target) -> None:
        """Refuse an account that nobody logs in to, whatever the password is."""
        try:
            check_active(account)
            check_usable(account, self._settings)
        except Refusal as refusal:
            async with self._database.transaction() as tx:
                note_failure(tx, target, refusal.code.lower())
            raise

    async def _hash_anew(self, account: Account, password: str) -> Account:
        """Store a password that was just proven at today's cost. Nothing that it opened ends."""
        stored = await hash_password(password, self._settings)
        async with self._database.transaction() as tx:
            await queries.rehash_password(tx, account.id, account.password_hash, stored)
            now = await queries.get_account(tx, account.id)
        # Another login with the same password may have been quicker; with another one it was changed.
        is_same = now.password_hash == stored or await is_password(now.password_hash, password, self._settings)
        return now if is_same else account

    async def _clear(self, realm: Realm, account: Account, step: SecondStep, attempt: Attempt) -> Cleared:
        claimed = await factors.claim_step(self._database, realm, account.id, step)
        try:
            async with self._database.transaction() as tx:
                return await factors.clear(tx, realm, somebody(account), step, claimed)
        except CodeNeeded:
            attempt.is_open = True
            raise

    async def offer_passkeys(self, realm: Realm, party: Party, needed: CodeNeeded) -> None:
        """Say in the refusal of a login whose password is right that a passkey would do, if there is one."""
        if needed.code == REQUIRED:
            async with self._database.transaction() as tx:
                await factors.offer_passkeys(tx, realm, party, needed)

    async def clear_confirmed(self, realm: Realm, account: Account, code: str) -> Cleared:
        """Let somebody in whom a provider has confirmed, with a code of their second factor. Wrong ones count."""
        target = Target(realm.id, own_failure_key(account.id), "provider", is_known=True, user_id=account.id)
        async with self._attempts.attempt(target) as attempt:
            cleared = await self._clear(realm, account, SecondStep(code), attempt)
            attempt.is_right = True
        return cleared

    async def set_up_factor(self, realm: Realm, username: str, password: str, origin: Origin) -> Setup:
        """A secret for who has to have a second factor to log in, and has none. A login with its code confirms it."""
        try:
            await self.log_in(realm, username, password, origin)
        except CodeNeeded as needed:
            if needed.code != SETUP_REQUIRED:
                raise
            found = needed.user_id
        else:
            raise Refusal("You can log in, and set up a second factor in your settings.")
        async with self._database.transaction() as tx:
            return await factors.begin_setup(tx, realm, somebody(await queries.get_account(tx, found)))

    async def _target(self, realm: Realm, username: str, account: Account | None, origin: Origin) -> Target:
        """The same work for names that nobody has."""
        async with self._database.reader() as reader:
            user_id = account.id if account else 0
            if account is None and self._directory_of(realm) is not None:
                user_id = await queries.find_by_username(reader, realm.id, username) or 0
            place, is_known = await origin.place(reader, user_id)
        return Target(realm.id, failure_key_of(username), place, is_known, user_id or None)

    async def fetch_key(self, realm: Realm, username: str, password: str, call: Call) -> tuple[str, Account]:
        """A new key for who knows the password."""
        origin = origin_of(call, self._settings)
        try:
            account = (await self.log_in(realm, username, password, origin)).account
        except CodeNeeded as needed:
            raise key_page_refusal(f"{realm_url(realm, call, self._settings)}/#settings/devices") from needed
        async with self._database.transaction() as tx:
            key = await fetch_key(tx, account, call.client)
            if key is not None:
                note(tx, realm.id, Act.LOGIN_SUCCEEDED, user(account.id), Proved(account.id))
                await queries.note_key_address(tx, digest_of_key(key), call.peer)
                await note_login(tx, account.id, origin.network)
        if key is None:  # the account was turned off, or its password changed, while we looked
            raise Refusal("Wrong user name or password.", code="AUTHENTICATION_FAILED", status=401)
        return key, account

    async def change_password(
        self, caller: Caller, old: str, new: str, credential: str, *, keep_session: bytes | None = None
    ) -> None:
        """Give the caller another password, as they know the old one. All browsers are logged out but one, and keys end
        that were got by the old password.

        In transactions of its own: call it while holding none, before anything else is changed.
        """
        async with self._database.reader() as reader:
            account = await queries.get_account(reader, caller.user_id)
            words = await words_of(reader, caller.realm_id, self._settings)
        if account.is_in_directory and account.password_hash is None:
            raise Refusal("Your password is kept in the directory of your organization: change it there.")
        await self.check_own_password(caller, account, old, credential)
        await check_strength(new, words, account.email, account.full_name)
        stored = await hash_password(new, self._settings)
        async with self._database.transaction() as tx:
            await hold_access(tx, caller)
            if not await queries.replace_password(tx, account.id, account.password_hash, stored):
                raise Refusal("Wrong password!")  # it was changed at the same time
            await end_sessions(tx, account.id, keep_session)
            await end_keys_by_password(tx, account.id)
            note(tx, caller.realm_id, Act.PASSWORD_CHANGED, user(account.id))

    def has_password(self, caller: Caller, account: Account) -> bool:
        """Whether there is a password that the caller could know: the account's, or one in the directory."""
        in_directory = account.is_in_directory and self._directory is not None
        return account.password_hash is not None or (in_directory and self._directory_of(caller) is not None)

    async def check_own_password(self, caller: Caller, account: Account, password: str, credential: str) -> None:
        """Refuse a wrong password of somebody who is logged in by that credential."""
        own = own_failure_key(account.id)
        target = Target(caller.realm_id, own, credential, is_known=True, user_id=account.id, failure=Act.PROOF_FAILED)
        async with self._attempts.attempt(target) as attempt:
            if not await self._is_own_password_now(account, password) and not await self._is_in_directory(
                caller, account, password
            ):
                raise Refusal("Wrong password!")
            attempt.is_right = True

    async def _is_own_password_now(self, account: Account, password: str) -> bool:
        """Whether it is the password that the account has after all that waiting for a thread: it may have been changed."""
        if not await self._is_own_password(account, password):
            return False
        async with self._database.reader() as reader:
            now = await queries.get_account(reader, account.id)
        # The same password may have been hashed anew, at today's cost.
        return now.password_hash == account.password_hash or await self._is_own_password(now, password)

    async def _is_in_directory(self, caller: Caller, account: Account, password: str) -> bool:
        """Whether the directory takes the password for this very person, by the name they logged in with."""
        directory = self._directory_of(caller)
        if directory is None or not account.is_in_directory or account.password_hash is not None:
            return False
        async with self._database.reader() as reader:
            identity = await queries.find_identity(reader, account.id)
        if identity is None:
            return False
        person = await directory.find(identity.username or account.email, password)
        return person is not None and person.id == identity.subject

    async def _find_local(self, realm: Realm, username: str) -> Account | None:
        """The account whose own password could be meant."""
        if not realm.settings.password_auth_enabled or not is_email(username):
            return None
        async with self._database.reader() as reader:
            account = await queries.find_account(reader, realm.id, email_key_of(username))
        is_elsewhere = self._directory_of(realm) is not None and account is not None and account.password_hash is None
        return None if is_elsewhere else account

    async def _is_own_password(self, account: Account | None, password: str) -> bool:
        return await is_password(account.password_hash if account else None, password, self._settings)

    def _directory_of(self, realm: Realm | Caller) -> LdapDirectory | None:
        return self._directory if self._directory is not None and self._directory.serves(realm.subdomain) else None

    async def _account_of(
        self, realm: Realm, directory: LdapDirectory, person: DirectoryPerson, username: str
    ) -> Account:
        """The account of a person of the directory; made at their first login."""
        if not is_email(person.email):
            log.error("the directory has no email address of a person", id=person.id)
            raise Refusal("The directory of your organization does not say your email address.")
        if not is_id(person.id):
            log.error("the directory has an id of a person that is too long", email=person.email)
            raise Refusal("The directory of your organization knows you by an id that is too long. Ask the operator.")
        async with self._database.reader() as reader:
            is_known = await queries.find_by_identity(reader, realm.id, person.id) is not None
        comes = Coming(person, username, None if is_known else await directory.role_of(person))
        shares_people = self._settings.ldap_shares_people
        try:
            async with self._database.transaction() as tx:
                return await _find_or_make(tx, realm, comes, self._arrival, shares_people=shares_people)
        except (Refusal, asyncpg.UniqueViolationError):
            # Made by another request at the same moment, or else it fails again.
            async with self._database.transaction() as tx:
                return await _find_or_make(tx, realm, comes, self._arrival, shares_people=shares_people)


class Coming(msgspec.Struct, frozen=True):
    """A person of the directory who logs in."""

    person: DirectoryPerson
    username: str
    role: int | None
    """That the directory gives who comes for the first time. Later it is compared (people/directories/)."""


async def _find_or_make(
    tx: Transaction, realm: Realm, comes: Coming, arrival: Arrival, *, shares_people: bool
) -> Account:
    person, username = comes.person, comes.username
    known = await queries.find_by_identity(tx, realm.id, person.id)
    if known is not None:
        await queries.note_username(tx, realm.id, person.id, username)
        return known
    account = await queries.find_account(tx, realm.id, email_key_of(person.email))
    if account is None:
        name = presentable_name(person.full_name) or presentable_name(person.email.partition("@")[0]) or "Somebody"
        if realm.settings.require_unique_names and await has_namesake(tx, realm.id, name, None):
            raise Refusal("Somebody here has your name already, and names are unique in this organization.", status=403)
        reception = await arrival.hold(tx, realm.id, Newcomer(person.email))
        role = reception.role if comes.role is None else comes.role
        user_id = await create_user(tx, realm.id, person.email, name, role)
        await arrival.welcome(tx, realm.id, user_id, reception)
        log.info("account made for a person of the directory", user_id=user_id)
    else:
        user_id = account.id
    await tie(tx, realm.id, queries.LDAP, person.id, user_id, shares_people=shares_people)
    await queries.note_username(tx, realm.id, person.id, username)
    return await queries.get_account(tx, user_id)


def somebody(account: Account) -> Somebody:
    """The account as far as its second factor is concerned."""
    return Somebody(account.id, account.email, account.full_name)


def key_page_refusal(page: str) -> Refusal:
    """A program that brings a password where that is not enough: it gets a key from the person."""
    msg = f"A password is not enough for this account, which has a second factor: make a key for this program at {page}"
    return Refusal(msg, code="SECOND_FACTOR_REQUIRED", status=401, key_page=page)


def check_login_allowed(realm: Realm, *, has_directory: bool) -> None:
    """Refuse logins where there are none."""
    if not realm.is_active:
        raise Refusal(gone(realm.facts.notes), code="REALM_DEACTIVATED", status=401)
    if not (realm.settings.password_auth_enabled or has_directory):
        raise Refusal("This organization has no password login.", code="PASSWORD_AUTH_DISABLED", status=401)


def check_active(account: Account) -> None:
    """Refuse accounts that are turned off."""
    if not account.is_active:
        raise Refusal("This account is deactivated.", code="USER_DEACTIVATED", status=401)


def check_usable(account: Account, settings: Settings) -> None:
    """Refuse accounts whose password is no longer good, whatever it is."""
    if account.password_hash == MUST_RESET:
        way = _how_to_choose_another(settings)
        raise Refusal(f"Your password is no longer good. {way}", code="PASSWORD_RESET_REQUIRED", status=401)


def _how_to_choose_another(settings: Settings) -> str:
    """What somebody can do who has neither a password nor a link that is good."""
    if mails_leave(settings):
        return "Choose another one by a mail to your address: ask for it where you log in."
    return "This server does not send mail: ask whoever runs it for a link to choose another one."
