"""The realm's part of POST /register."""

import time
from typing import Any

from tertulia.emoji.published import table_file
from tertulia.events.register import Wanted, provider
from tertulia.groups.rights import permission_values
from tertulia.groups.settings import CHANNEL_SETTINGS, GROUP_SETTINGS, REALM_SETTINGS, published
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.realms import limits, queries
from tertulia.realms.aliases import with_aliases
from tertulia.realms.changes import OLD_NAMES
from tertulia.realms.domains import domains_of
from tertulia.realms.routes import ICON, version_keys
from tertulia.realms.settings import RealmSettings, decode_settings

_STARTED = int(time.time())

LIMITS: dict[str, Any] = {
    "max_message_length": limits.MAX_MESSAGE_LENGTH,
    "max_topic_length": limits.MAX_TOPIC_LENGTH,
    "max_stream_name_length": limits.MAX_CHANNEL_NAME_LENGTH,
    "max_stream_description_length": limits.MAX_CHANNEL_DESCRIPTION_LENGTH,
    "max_channel_folder_name_length": limits.MAX_CHANNEL_FOLDER_NAME_LENGTH,
    "max_channel_folder_description_length": limits.MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH,
    "max_reminder_note_length": 1000,
    "max_bulk_new_subscription_messages": 100,
    "max_file_upload_size_mib": 100,
    "max_avatar_file_size_mib": 5,
    "max_icon_file_size_mib": 5,
    "max_logo_file_size_mib": 5,
    "password_min_length": limits.PASSWORD_MIN_LENGTH,
    "password_max_length": limits.PASSWORD_MAX_LENGTH,
    "password_min_guesses": limits.PASSWORD_MIN_GUESSES,
    "server_typing_started_wait_period_milliseconds": limits.TYPING_STARTED_WAIT_MS,
    "server_typing_stopped_wait_period_milliseconds": limits.TYPING_STOPPED_WAIT_MS,
    "server_typing_started_expiry_period_milliseconds": limits.TYPING_EXPIRY_MS,
    "server_presence_ping_interval_seconds": limits.PRESENCE_PING_SECONDS,
    "server_presence_offline_threshold_seconds": limits.PRESENCE_OFFLINE_SECONDS,
    "event_queue_longpoll_timeout_seconds": limits.LONGPOLL_TIMEOUT_SECONDS,
    "server_generation": _STARTED,
    "server_inline_image_preview": True,
    "server_inline_url_embed_preview": True,
    "server_avatar_changes_disabled": False,
    "server_name_changes_disabled": False,
    "server_needs_upgrade": False,
}


@provider()
async def version(_reader: Reader, _caller: Caller, _wanted: Wanted, settings: Settings) -> dict[str, Any]:
    """Always there: which server this is."""
    return with_aliases(version_keys(), enabled=settings.compat_aliases)


@provider("realm")
async def realm(reader: Reader, caller: Caller, _wanted: Wanted, settings: Settings) -> dict[str, Any]:
    """The organization's settings and the server's limits."""
    row = await queries.get_realm(reader, caller.realm_id)
    rights = await permission_values(reader, caller.realm_id)
    chosen = decode_settings(row.settings)
    url = settings.url_of(row.subdomain)
    about = {
        "name": row.name,
        "description": row.description,
        "url": url,
        "uri": url,
        "uuid": row.uuid,
        "date_created": row.created,
        "icon_url": ICON,
        "icon_source": "U",
        "email_auth_enabled": chosen.password_auth_enabled,
        **{old: answer(chosen) for old, answer in OLD_NAMES.values()},
    }
    stored = {name: getattr(chosen, name) for name in RealmSettings.__struct_fields__}
    prefixed = {f"realm_{name}": value for name, value in (stored | about | rights).items()}
    permissions = {
        "realm": published(REALM_SETTINGS, ""),
        "stream": published(CHANNEL_SETTINGS, "channel_creator"),
        "group": published(GROUP_SETTINGS, "group_creator"),
    }
    return (
        LIMITS
        | {"server_supported_permission_settings": permissions}
        | {"development_environment": settings.development, "server_emoji_data_url": url + table_file()[0]}
        | {"server_web_public_streams_enabled": settings.web_public_streams_enabled}
        | prefixed
    )


@provider("realm_domains")
async def realm_domains(reader: Reader, caller: Caller, _wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """Where the addresses of people are."""
    return {"realm_domains": await domains_of(reader, caller.realm_id)}
