"""GET /users/me/{stream_id}/topics: the topics of a channel, newest first."""

from typing import Any

import msgspec

from tertulia.conversations.channels.access import get_channel
from tertulia.conversations.channels.rules import ChannelId, no_such_channel
from tertulia.conversations.topics import queries
from tertulia.conversations.topics.rules import shown_topic
from tertulia.kernel.auth import Anyone
from tertulia.kernel.db import Reader
from tertulia.kernel.endpoint import Call, get
from tertulia.kernel.settings import Settings
from tertulia.organization.realms.routes import get_realm_of
from tertulia.organization.realms.settings import settings_of
from tertulia.organization.realms.web_access import is_open_to_web
from tertulia.people.users.spectators import check_open_to_web


@get("/users/me/{stream_id}/topics")
async def get_topics(
    caller: Anyone,
    call: Call,
    reader: Reader,
    server: Settings,
    *,
    stream_id: ChannelId,
    allow_empty_topic_name: bool = False,
) -> dict[str, Any]:
    """The topics of a channel you may read. Where the history is protected, those of messages you received,
    while you are subscribed."""
    if caller is None:
        realm = await get_realm_of(call, reader)
        settings = realm.settings
        check_open_to_web(realm, server)
        is_public = await queries.is_web_public(reader, realm.id, stream_id)
        if not is_open_to_web(server, settings, channel=is_public):
            raise no_such_channel(stream_id)
        shows_all = True
    else:
        channel = await get_channel(reader, caller, stream_id)
        settings = settings_of(caller)
        shows_all = channel.history_public_to_subscribers
    empty = shown_topic("", settings, allow_empty=allow_empty_topic_name)
    if caller is None or shows_all:
        found = await queries.list_topics(reader, stream_id, empty)
    else:
        found = await queries.list_received_topics(reader, stream_id, empty, caller.user_id)
    return {"topics": msgspec.Raw(found)}
