"""The read state's part of POST /register."""

from typing import Any

from tertulia.events.register import Wanted, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.reads import queries
from tertulia.reads.unread import group_unread
from tertulia.realms.limits import MAX_UNREAD_LISTED
from tertulia.realms.settings import decode_settings

MAX_RECENT = 1000


@provider("message")
async def newest_message(reader: Reader, caller: Caller, _wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """The newest message the caller has received."""
    return {"max_message_id": await queries.newest_message_id(reader, caller.user_id)}


@provider("message", "update_message_flags")
async def unread_messages(reader: Reader, caller: Caller, wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """What the caller has not read."""
    unread = await queries.unread_messages(reader, caller.user_id, MAX_UNREAD_LISTED)
    shown = (
        ""
        if wanted.options.capabilities.empty_topic_name
        else decode_settings(caller.realm_settings).empty_topic_display_name
    )
    return {"unread_msgs": group_unread(unread, caller.user_id, empty_topic=shown)}


@provider("starred_messages")
async def starred_messages(reader: Reader, caller: Caller, _wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """What the caller starred."""
    return {"starred_messages": await queries.starred_messages(reader, caller.user_id)}


@provider("recent_private_conversations")
async def recent_conversations(reader: Reader, caller: Caller, _wanted: Wanted, _settings: Settings) -> dict[str, Any]:
    """With whom the caller talked last, the newest first."""
    found = await queries.recent_conversations(reader, caller.user_id, MAX_RECENT)
    return {
        "recent_private_conversations": [
            {"user_ids": sorted(other for other in people if other != caller.user_id), "max_message_id": newest}
            for people, newest in found
        ]
    }
