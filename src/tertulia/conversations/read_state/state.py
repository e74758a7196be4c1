"""The read state's part of POST /register."""

from typing import Any

from tertulia.conversations.read_state import queries
from tertulia.conversations.read_state.unread import group_unread
from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.limits import MAX_UNREAD_LISTED
from tertulia.organization.realms.settings import settings_of
from tertulia.people.users.queries import newest_message_id

MAX_RECENT = 1000


@provider("message")
async def newest_message(reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The newest message the caller has received."""
    return {"max_message_id": await newest_message_id(reader, caller.user_id)}


@provider("message", "update_message_flags")
async def unread_messages(reader: Reader, caller: Caller, wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """What the caller has not read."""
    unread = await queries.unread_messages(reader, caller.user_id, MAX_UNREAD_LISTED)
    shown = "" if wanted.options.understands("empty_topic_name") else settings_of(caller).empty_topic_display_name
    return {"unread_msgs": group_unread(unread, caller.user_id, empty_topic=shown)}


@provider("starred_messages")
async def starred_messages(
    reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings
) -> dict[str, Any]:
    """What the caller starred."""
    return {"starred_messages": await queries.starred_messages(reader, caller.user_id)}


@provider("recent_private_conversations")
async def recent_conversations(
    reader: Reader, caller: Caller, _wanted: StateRequest, _settings: Settings
) -> dict[str, Any]:
    """With whom the caller talked last, the newest first."""
    found = await queries.recent_conversations(reader, caller.user_id, MAX_RECENT)
    return {
        "recent_private_conversations": [
            {"user_ids": sorted(other for other in people if other != caller.user_id), "max_message_id": newest}
            for people, newest in found
        ]
    }
