"""Endpoints of the realms feature."""

from html import escape
from typing import Any

from tertulia import __version__
from tertulia.compat import with_old_keys
from tertulia.kernel.db import Reader
from tertulia.kernel.endpoint import Call, get
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.realms import queries
from tertulia.realms.limits import FEATURE_LEVEL
from tertulia.realms.pictures import pictures_of
from tertulia.realms.queries import Realm
from tertulia.realms.settings import decode_settings

# Every way to log in that clients know of, in the order of the specification.
METHODS = (
    *("password", "dev", "email", "ldap", "remoteuser", "github", "azuread", "gitlab", "apple", "google", "saml"),
    "openid connect",
)


@get("/server_settings")
async def server_settings(call: Call, reader: Reader, settings: Settings) -> dict[str, Any]:
    """What a client needs to know before it logs in. No authentication."""
    realm = await get_realm_of(call, reader)
    methods = login_methods(realm, settings)
    url = realm_url(realm, call, settings)
    reply = {
        "authentication_methods": methods,
        "external_authentication_methods": external_methods(realm, settings),
        **version_keys(),
        "push_notifications_enabled": False,
        "is_incompatible": False,
        "email_auth_enabled": methods["email"],
        "require_email_format_usernames": not methods["ldap"],
        "realm_url": url,
        "realm_name": realm.name,
        "realm_icon": (await pictures_of(reader, realm.id))["icon_url"],
        "realm_description": f"<p>{escape(realm.description)}</p>" if realm.description else "",
        "realm_web_public_access_enabled": (
            settings.web_public_streams_enabled and decode_settings(realm.settings).enable_spectator_access
        ),
    }
    return with_old_keys(reply)


def login_methods(realm: Realm, settings: Settings) -> dict[str, bool]:
    """Every way to log in that clients know of, and whether it is open."""
    has_password = decode_settings(realm.settings).password_auth_enabled
    has_directory = bool(settings.ldap_url) and settings.ldap_realm == realm.subdomain
    is_open = {"password": has_password or has_directory, "email": has_password, "ldap": has_directory}
    is_open["openid connect"] = bool(external_methods(realm, settings))
    return {name: is_open.get(name, False) for name in METHODS}


def external_methods(realm: Realm, settings: Settings) -> list[dict[str, str | None]]:
    """Where else people of the organization may log in. Who has no account gets one there, where that is allowed."""
    found = [provider for provider in settings.oidc_providers if realm.subdomain in provider.realms]
    return [
        {
            "name": f"oidc:{provider.name}",
            "display_name": provider.display_name,
            "display_icon": provider.display_icon,
            "login_url": f"/accounts/login/oidc/{provider.name}",
            "signup_url": f"/accounts/login/oidc/{provider.name}",
        }
        for provider in found
    ]


def version_keys() -> dict[str, Any]:
    """Which version of the service this is."""
    return {
        "service_version": __version__,
        "service_merge_base": __version__,
        "service_feature_level": FEATURE_LEVEL,
    }


async def get_realm_of(call: Call, reader: Reader) -> Realm:
    """The organization at the address a request was sent to."""
    realm = await queries.find_realm(reader, call.subdomain) if call.subdomain is not None else None
    if realm is None:
        raise Refusal("There is no organization at this address.", code="NONEXISTENT_SUBDOMAIN", status=404)
    return realm


def realm_url(realm: Realm, call: Call, settings: Settings) -> str:
    """The organization's address. In development it is the one the request came to, whatever port that is."""
    if settings.development and (host := call.header("host")):
        return f"{settings.external_scheme}://{host}"
    return settings.url_of(realm.subdomain)
