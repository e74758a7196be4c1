"""Whose account is it? From a person at a provider to an account here.

The provider's own name for the person decides. Who comes for the first time is known by an address that the provider
has verified; who has no account gets one where everybody may join, or with an invitation: one to that address, or a link
for many that the browser brought along.
"""

import asyncpg
import structlog

from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.domains.actions import check_address_allowed
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.settings import gone
from tertulia.people.logins.identities import tie
from tertulia.people.logins.login import check_active
from tertulia.people.logins.names import presentable_name
from tertulia.people.logins.queries import Account, find_account, get_account
from tertulia.people.sessions import queries
from tertulia.people.sessions.oidc.flow import ProviderLogin
from tertulia.people.sessions.oidc.provider import Identity
from tertulia.people.users.actions import create_user
from tertulia.people.users.addresses import email_key_of
from tertulia.people.users.arrival import Arrival, Newcomer
from tertulia.people.users.queries import has_namesake
from tertulia.people.users.rules import is_email

log = structlog.get_logger()


async def account_of(
    database: Database, realm: Realm, person: Identity, arrival: Arrival, invitation: str | None = None
) -> Account:
    """The active account of a person; made at their first login, where that is allowed. `invitation` is its key."""
    if not realm.is_active:
        raise Refusal(gone(realm.facts.notes), code="REALM_DEACTIVATED", status=401)
    try:
        async with database.transaction() as tx:
            return await _find_or_make(tx, realm, person, arrival, invitation)
    except (Refusal, asyncpg.UniqueViolationError):
        # Made by another request at the same moment, or else it fails again.
        async with database.transaction() as tx:
            return await _find_or_make(tx, realm, person, arrival, invitation)


def login_of(person: Identity) -> ProviderLogin:
    """What is kept of a person's login."""
    return ProviderLogin(person.issuer, person.subject, person.session, person.issued, person.proved)


async def _find_or_make(
    tx: Transaction, realm: Realm, person: Identity, arrival: Arrival, invitation: str | None
) -> Account:
    known = await queries.find_by_identity(tx, realm.id, person.issuer, person.subject)
    if known is None:
        known = await _find_by_address(tx, realm, person) or await _make(tx, realm, person, arrival, invitation)
        await tie(tx, realm.id, person.issuer, person.subject, known.id, shares_people=person.shares_people)
    check_active(known)
    return known


async def _find_by_address(tx: Transaction, realm: Realm, person: Identity) -> Account | None:
    if not is_email(person.email):
        raise Refusal("The provider does not say your email address.", status=403)
    if not person.is_verified:
        raise Refusal("The provider has not verified that your email address is yours.", status=403)
    return await find_account(tx, realm.id, email_key_of(person.email))


async def _make(tx: Transaction, realm: Realm, person: Identity, arrival: Arrival, invitation: str | None) -> Account:
    rules = realm.settings
    try:
        await check_address_allowed(tx, realm.id, person.email)
        reception = await arrival.hold(tx, realm.id, Newcomer(person.email, invitation))
    except Refusal as refusal:
        raise Refusal(refusal.msg, status=403) from refusal
    if rules.invite_required and reception.inviter_id is None:
        raise Refusal("You have no account here, and need an invitation to get one.", status=403)
    name = presentable_name(person.full_name) or presentable_name(person.email.partition("@")[0]) or "Somebody"
    if rules.require_unique_names and await has_namesake(tx, realm.id, name, None):
        raise Refusal("Somebody here has your name already, and names are unique in this organization.", status=403)
    user_id = await create_user(tx, realm.id, person.email, name, reception.role)
    await arrival.welcome(tx, realm.id, user_id, reception)
    log.info("account made for a person of a provider", user_id=user_id, issuer=person.issuer)
    return await get_account(tx, user_id)
