"""The topics' part of POST /register: what the caller decided about them."""

from typing import Any

import msgspec

from tertulia.conversations.topics import queries
from tertulia.events.queues.initial_state import StateRequest, provider
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.settings import settings_of


@provider("user_topic")
async def user_topics(reader: Reader, caller: Caller, wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """All policies of the caller."""
    empty = _empty_topic(caller, wanted)
    found = await queries.user_topics(reader, caller.user_id)
    shown = [msgspec.structs.replace(one, topic_name=one.topic_name or empty) for one in found]
    return {"user_topics": shown}


@provider("muted_topics")
async def muted_topics(reader: Reader, caller: Caller, wanted: StateRequest, _settings: Settings) -> dict[str, Any]:
    """The older form; left out for clients that ask for both."""
    if not wanted.options.old_names or (wanted.fetch is not None and "user_topic" in wanted.fetch):
        return {}
    empty = _empty_topic(caller, wanted)
    found = await queries.muted_topics(reader, caller.user_id)
    return {"muted_topics": [(channel, topic or empty, since) for channel, topic, since in found]}


def _empty_topic(caller: Caller, wanted: StateRequest) -> str:
    if wanted.options.understands("empty_topic_name"):
        return ""
    return settings_of(caller).empty_topic_display_name
