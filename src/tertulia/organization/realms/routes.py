"""Endpoints of the realms feature."""

from html import escape
from typing import Any

from tertulia import __version__
from tertulia.kernel.auth import Caller
from tertulia.kernel.compat import with_old_keys
from tertulia.kernel.db import Reader
from tertulia.kernel.endpoint import Call, get
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.organization.realms import queries
from tertulia.organization.realms.limits import FEATURE_LEVEL
from tertulia.organization.realms.pictures.actions import pictures_of
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.web_access import is_open_to_web

# Every way to log in that clients know of, in the order of the protocol (server-settings.authentication-methods).
METHODS = (
    *("password", "dev", "email", "ldap", "remoteuser", "github", "azuread", "gitlab", "apple", "google", "saml"),
    "openid connect",
)


@get("/server_settings")
async def server_settings(call: Call, reader: Reader, settings: Settings) -> dict[str, Any]:
    """What a client needs to know before it logs in. No authentication.

    At the server's own address, if no organization lives there, the keys that begin with `realm_` are missing.
    """
    realm = await find_realm_of(call, reader)
    if realm is None and call.subdomain != "":
        raise no_such_realm()
    about_realm = {} if realm is None else await say_realm(realm, call, reader, settings)
    return with_old_keys(say_server(realm, settings) | about_realm)


def say_server(realm: Realm | None, settings: Settings) -> dict[str, Any]:
    """What the server is, and how people log in at this address."""
    methods = login_methods(realm, settings)
    return {
        "authentication_methods": methods,
        "external_authentication_methods": external_methods(realm, settings),
        **version_keys(),
        "push_notifications_enabled": False,
        "is_incompatible": False,
        "email_auth_enabled": methods["email"],
        "require_email_format_usernames": not methods["ldap"],
    }


async def say_realm(realm: Realm, call: Call, reader: Reader, settings: Settings) -> dict[str, Any]:
    """What everybody may know of an organization."""
    return {
        "realm_url": realm.facts.notes.moved_to or realm_url(realm, call, settings),
        "realm_name": realm.name,
        "realm_icon": (await pictures_of(reader, realm.id))["icon_url"],
        "realm_description": f"<p>{escape(realm.description)}</p>" if realm.description else "",
        "realm_web_public_access_enabled": await has_something_open(realm, reader, settings),
        "realm_invite_required": realm.settings.invite_required,
        "realm_default_language": realm.settings.default_language,
    }


async def has_something_open(realm: Realm, reader: Reader, settings: Settings) -> bool:
    """Whether somebody without an account finds something to read."""
    return is_open_to_web(settings, realm.settings) and await queries.has_web_public_channel(reader, realm.id)


def login_methods(realm: Realm | None, settings: Settings) -> dict[str, bool]:
    """Every way to log in that clients know of, and whether it is open: none where no organization is."""
    has_password = realm is not None and realm.settings.password_auth_enabled
    has_directory = realm is not None and bool(settings.ldap_url) and settings.ldap_realm == realm.subdomain
    is_open = {"password": has_password or has_directory, "email": has_password, "ldap": has_directory}
    is_open["openid connect"] = bool(external_methods(realm, settings))
    return {name: is_open.get(name, False) for name in METHODS}


def external_methods(realm: Realm | None, settings: Settings) -> list[dict[str, str | None]]:
    """Where else people of the organization may log in. Who has no account gets one there, where that is allowed."""
    found = [one for one in settings.oidc_providers if realm is not None and realm.subdomain in one.realms]
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
    realm = await find_realm_of(call, reader)
    if realm is None:
        raise no_such_realm()
    return realm


async def find_realm_of(call: Call, reader: Reader) -> Realm | None:
    """As `get_realm_of`, where there need not be one."""
    return None if call.subdomain is None else await queries.find_realm(reader, call.subdomain)


def no_such_realm() -> Refusal:
    """The refusal at an address without an organization."""
    return Refusal("There is no organization at this address.", code="NONEXISTENT_SUBDOMAIN", status=404)


def realm_url(realm: Realm | Caller, call: Call, settings: Settings) -> str:
    """The organization's address. In development it is the one the request came to, whatever port that is."""
    if settings.development and (host := call.header("host")):
        return f"{settings.external_scheme}://{host}"
    return settings.url_of(realm.subdomain)
