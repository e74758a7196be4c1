"""The realm's part of POST /register."""

from typing import Any

from tertulia.content.emoji.published import table_file
from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.compat import with_old_keys
from tertulia.kernel.db import Reader
from tertulia.kernel.joined import together
from tertulia.kernel.mail import mails_leave
from tertulia.kernel.settings import Settings
from tertulia.organization.groups.rights import permission_values
from tertulia.organization.groups.settings import CHANNEL_SETTINGS, GROUP_SETTINGS, REALM_SETTINGS, published
from tertulia.organization.realms import queries
from tertulia.organization.realms.changing.actions import mirrors
from tertulia.organization.realms.domains.actions import domains_of
from tertulia.organization.realms.pictures.actions import pictures_of
from tertulia.organization.realms.published import ORGANIZATION, SERVER
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.routes import login_methods, version_keys
from tertulia.organization.realms.settings import RealmSettings

PERMISSIONS = {
    "realm": published(REALM_SETTINGS, ""),
    "stream": published(CHANNEL_SETTINGS, "channel_creator"),
    "group": published(GROUP_SETTINGS, "group_creator"),
}


@provider()
async def version(_reader: Reader, _caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """Always there: which server this is."""
    return with_old_keys(version_keys())


@provider("realm")
async def realm(reader: Reader, caller: Caller, _wanted: StateRequest, settings: Settings) -> dict[str, Any]:
    """The organization's settings and the server's limits."""
    row, (rights, policies), pictures = await together(
        queries.get_realm(reader, caller.realm_id),
        permission_values(reader, caller.realm_id),
        pictures_of(reader, caller.realm_id),
    )
    chosen = row.settings
    stored = {name: getattr(chosen, name) for name in RealmSettings.__struct_fields__}
    parts = stored | ORGANIZATION | _about(row, chosen, settings) | pictures | mirrors(chosen) | rights | policies
    server = {
        "server_supported_permission_settings": PERMISSIONS,
        "development_environment": settings.development,
        "server_emoji_data_url": settings.url_of(row.subdomain) + table_file()[0],
        "server_inline_url_embed_preview": settings.link_previews,
        "server_web_public_streams_enabled": settings.web_public_streams_enabled,
        "settings_send_digest_emails": mails_leave(settings),
        "server_jitsi_server_url": settings.jitsi_server_url.rstrip("/") or None,
    }
    return with_old_keys(SERVER | server | {f"realm_{name}": value for name, value in parts.items()})


def _about(row: Realm, chosen: RealmSettings, settings: Settings) -> dict[str, Any]:
    methods = login_methods(row, settings)
    return {
        "name": row.name,
        "description": row.description,
        "url": settings.url_of(row.subdomain),
        "uuid": row.uuid,
        "date_created": row.created,
        "email_auth_enabled": chosen.password_auth_enabled,
        "authentication_methods": {
            name: {"enabled": enabled, "available": enabled} for name, enabled in methods.items()
        },
    }


@provider("realm_domains")
async def realm_domains(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """Where the addresses of people are; nothing for the public."""
    return {"realm_domains": [] if caller.is_nobody else await domains_of(reader, caller.realm_id)}
