"""The two endpoints of a login by a passkey: a challenge is given out, and comes back signed.

Passkeys stand in for passwords that are kept here. Where a directory or a provider keeps them, it decides who still belongs to
the organization, and nobody goes around it.
"""

import msgspec

from tertulia.kernel.call import Call
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.routes import get_realm_of
from tertulia.organization.realms.settings import gone
from tertulia.people.factors.actions import clear_by_passkey
from tertulia.people.factors.passkeys.model import RequestOptions
from tertulia.people.factors.passkeys.party import party_of
from tertulia.people.factors.passkeys.queries import Bound
from tertulia.people.factors.passkeys.use import SIGN_IN, claim, offer_sign_in
from tertulia.people.logins.login import check_active
from tertulia.people.logins.queries import Account, get_account
from tertulia.people.sessions.actions import begin_session
from tertulia.people.sessions.origin import check_same_origin
from tertulia.people.sessions.routes import Session
from tertulia.people.users.assertion import Assertion


class Offered(msgspec.Struct):
    """The answer of POST /sessions/passkey/options."""

    public_key: RequestOptions


@post("/sessions/passkey/options", while_frozen=True)
async def begin_passkey_login(call: Call, tx: Transaction, settings: Settings) -> Offered:
    """What your browser asks its passkeys with: good once and for five minutes. It is the same for everybody."""
    check_same_origin(call, settings)
    realm = await get_realm_of(call, tx)
    check_passkeys_allowed(realm)
    return Offered(await offer_sign_in(tx, party_of(realm, call, settings), realm.id))


@post("/sessions/passkey", while_frozen=True)
async def log_in_by_passkey(call: Call, database: Database, settings: Settings, *, passkey: Assertion) -> Session:
    """Log in at a browser by a passkey that has asked you for a finger, a face or a PIN. It needs no second factor.

    `passkey` is what `navigator.credentials.get` returned, as JSON. Everything else is as with POST /sessions.
    """
    check_same_origin(call, settings)
    async with database.reader() as reader:
        realm = await get_realm_of(call, reader)
    check_passkeys_allowed(realm)
    claimed = await claim(database, Bound(realm.id, SIGN_IN), passkey.response.client_data, status=401)
    async with database.transaction() as tx:
        cleared = await clear_by_passkey(tx, party_of(realm, call, settings), claimed, passkey)
        account = await get_account(tx, cleared.user_id)
        check_active(account)
        check_kept_here(account)
        csrf_token = await begin_session(tx, call, settings, account, cleared, by_password=False)
    return Session(account.id, account.email, csrf_token)


def check_passkeys_allowed(realm: Realm) -> None:
    """Refuse where passwords are not kept here."""
    if not realm.is_active:
        raise Refusal(gone(realm.facts.notes), code="REALM_DEACTIVATED", status=401)
    if not realm.settings.password_auth_enabled:
        raise _not_here("This organization has no login by passkeys.")


def check_kept_here(account: Account) -> None:
    """Refuse people of the directory."""
    if account.is_in_directory and account.password_hash is None:
        raise _not_here("Log in with your password of the directory; the passkey is your second step.")


def _not_here(msg: str) -> Refusal:
    return Refusal(msg, code="PASSKEY_AUTH_DISABLED", status=401)
