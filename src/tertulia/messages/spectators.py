"""Readers without an account: in organizations with public access they read what is said in web-public channels."""

from collections.abc import Sequence

from tertulia.kernel.auth import Caller, Role
from tertulia.kernel.call import Call
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import unauthorized
from tertulia.kernel.settings import Settings
from tertulia.narrows.rules import is_open_to_anybody, without_home
from tertulia.narrows.terms import Term
from tertulia.realms.routes import get_realm_of
from tertulia.realms.settings import decode_settings
from tertulia.users.addresses import fake_domain

NOBODY = 0
"""The user id of a reader without an account: nobody has it."""


async def spectator_of(call: Call, reader: Reader, settings: Settings, terms: Sequence[Term]) -> Caller:
    """A reader without an account, if the server, the organization and what they ask for allow one; 401 otherwise."""
    realm = await get_realm_of(call, reader)
    is_open = settings.web_public_streams_enabled and decode_settings(realm.settings).enable_spectator_access
    if not (realm.is_active and is_open) or not is_open_to_anybody(without_home(terms)):
        raise unauthorized("Not logged in: this needs an email address and an API key.", realm.name)
    return Caller(
        user_id=NOBODY,
        realm_id=realm.id,
        key_id=0,
        email="",
        full_name="",
        role=Role.GUEST,
        bot_type=None,
        avatar_version=1,
        subdomain=realm.subdomain,
        realm_settings=realm.settings,
        fake_domain=fake_domain(settings, realm.subdomain),
    )
