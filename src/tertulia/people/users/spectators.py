"""Readers without an account: in organizations with public access they see what is open to the web."""

from tertulia.kernel.auth import NOBODY, Caller, Role
from tertulia.kernel.call import Call
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import unauthorized
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.routes import get_realm_of
from tertulia.organization.realms.web_access import is_open_to_web
from tertulia.people.users.addresses import fake_domain
from tertulia.people.users.visibility.actions import UNKNOWN_AVATAR


async def spectator_at(call: Call, reader: Reader, settings: Settings, *, may: bool = True) -> Caller:
    """Somebody without an account, if the server and the organization let them in; 401 otherwise, or if they may not."""
    realm = await get_realm_of(call, reader)
    check_open_to_web(realm, settings, may=may)
    return Caller(
        user_id=NOBODY,
        realm_id=realm.id,
        key_id=0,
        email="",
        full_name="",
        role=Role.GUEST,
        bot_type=None,
        avatar_url=UNKNOWN_AVATAR,
        subdomain=realm.subdomain,
        realm=realm.facts,
        fake_domain=fake_domain(settings, realm.subdomain),
    )


def check_open_to_web(realm: Realm, settings: Settings, *, may: bool = True) -> None:
    """Refuse whoever has no account, where the server or the organization does not let them in."""
    if not (realm.is_active and is_open_to_web(settings, realm.settings) and may):
        raise unauthorized("Not logged in: this needs an email address and an API key.", realm.name)
