"""Readers without an account: in organizations with public access they see what is open to the web."""

from tertulia.kernel.auth import NOBODY, Caller, Role
from tertulia.kernel.call import Call
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import unauthorized
from tertulia.kernel.settings import Settings
from tertulia.realms.routes import get_realm_of
from tertulia.realms.settings import decode_settings
from tertulia.users.addresses import fake_domain
from tertulia.users.visibility import UNKNOWN_AVATAR


async def spectator_at(call: Call, reader: Reader, settings: Settings, *, may: bool = True) -> Caller:
    """Somebody without an account, if the server and the organization let them in; 401 otherwise, or if they may not."""
    realm = await get_realm_of(call, reader)
    is_open = settings.web_public_streams_enabled and decode_settings(realm.settings).enable_spectator_access
    if not (realm.is_active and is_open and may):
        raise unauthorized("Not logged in: this needs an email address and an API key.", realm.name)
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
        realm_settings=realm.settings,
        fake_domain=fake_domain(settings, realm.subdomain),
    )
