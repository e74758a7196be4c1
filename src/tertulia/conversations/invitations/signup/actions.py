"""Signing up: by a key from a mail, after telling one's address if the invitation does not name it."""

import secrets

import structlog

from tertulia.conversations.invitations import queries
from tertulia.conversations.invitations.arrival import find_good_terms
from tertulia.conversations.invitations.mails import join_url, send_key, send_known
from tertulia.conversations.invitations.model import Terms
from tertulia.conversations.invitations.rules import KEY_BYTES, bad_key
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.domains.actions import check_address_allowed
from tertulia.organization.realms.queries import Realm
from tertulia.people.logins.login import check_login_allowed
from tertulia.people.logins.queries import Account, find_holder, get_account
from tertulia.people.users.actions import create_user
from tertulia.people.users.addresses import email_key_of, fake_domain, id_of_fake_email
from tertulia.people.users.arrival import Arrival, Newcomer
from tertulia.people.users.password_words import words_of
from tertulia.people.users.passwords import check_strength, hash_password
from tertulia.people.users.queries import has_namesake
from tertulia.people.users.rules import clean_full_name, is_email

log = structlog.get_logger()

VALID_SECONDS = 86400


async def get_terms(reader: Reader, realm: Realm, key: str) -> Terms:
    """What a key stands for; refuses one that is not good."""
    terms = await find_good_terms(reader, realm.id, key) if realm.is_active else None
    if terms is None:
        raise bad_key()
    return terms


def check_joinable(realm: Realm) -> None:
    """Refuse where nobody gets an account without an invitation."""
    check_login_allowed(realm, has_directory=False)
    if realm.settings.invite_required:
        raise Refusal("You need an invitation to join this organization.")


def clean_address(realm: Realm, settings: Settings, email: str) -> str:
    """An address that an account could have."""
    email = email.strip()
    if not is_email(email) or id_of_fake_email(email, fake_domain(settings, realm.subdomain)) is not None:
        raise Refusal("Enter a valid email address.")
    return email


async def find_invitation(reader: Reader, realm: Realm, email: str, key: str | None) -> int | None:
    """The link for many that somebody wants to join by; None: everybody may. Refuses who may not join."""
    invitation_id: int | None = None
    if key is None:
        check_joinable(realm)
    else:
        check_login_allowed(realm, has_directory=False)
        terms = await get_terms(reader, realm, key)
        if terms.email is not None:
            raise bad_key()
        invitation_id = terms.invitation_id
    await check_address_allowed(reader, realm.id, email)
    return invitation_id


async def ask_for_key(tx: Transaction, realm: Realm, email: str, key: str | None, base: str) -> None:
    """Send a key to an address, for who wants to join by a link for many (its key), or where everybody may.

    The answer is the same if the address has an account: only its owner learns that, by the mail.
    """
    invitation_id = await find_invitation(tx, realm, email, key)
    if await find_holder(tx, realm.id, email_key_of(email)) is not None:
        await send_known(tx, realm, email, base)
        return
    if invitation_id is not None and not await queries.hold_link(tx, invitation_id):
        raise bad_key()  # taken back while we looked
    sent = secrets.token_urlsafe(KEY_BYTES)
    await queries.insert_signup(tx, realm.id, email, digest_of_key(sent), invitation_id, VALID_SECONDS)
    await send_key(tx, realm, email, join_url(base, sent))


async def check_answer(
    database: Database, settings: Settings, realm: Realm, key: str, full_name: str, password: str
) -> tuple[str, str]:
    """The name and the hash of the password for a new account; refuses what cannot be one."""
    check_login_allowed(realm, has_directory=False)
    async with database.reader() as reader:
        terms = await get_terms(reader, realm, key)
        words = await words_of(reader, realm.id, settings)
    if terms.email is None:
        raise Refusal("This link is for many people: tell your email address first, by POST /signups.")
    name = clean_full_name(full_name)
    await check_strength(password, words, terms.email, name)
    return name, await hash_password(password, settings)


async def accept(
    tx: Transaction, realm: Realm, arrival: Arrival, key: str, full_name: str, password_hash: str, language: str | None
) -> Account:
    """Make the account a key stands for, in the language that its holder asks for. Of two who bring the same key one gets it."""
    terms = await get_terms(tx, realm, key)
    if terms.email is None:
        raise bad_key()
    await check_address_allowed(tx, realm.id, terms.email)
    unique = realm.settings.require_unique_names
    if unique and await has_namesake(tx, realm.id, full_name, None):
        raise Refusal("Somebody here has this name already, and names are unique in this organization.")
    reception = await arrival.hold(tx, realm.id, Newcomer(terms.email, key))
    try:
        user_id = await create_user(
            tx, realm.id, terms.email, full_name, reception.role, password_hash=password_hash, language=language
        )
    except Refusal as refusal:  # the address has an account by now
        raise bad_key() from refusal
    await arrival.welcome(tx, realm.id, user_id, reception)
    log.info("somebody signed up", user_id=user_id, invitation=reception.invitation_id)
    return await get_account(tx, user_id)
