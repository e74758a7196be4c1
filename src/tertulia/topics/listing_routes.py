"""GET /users/me/{stream_id}/topics: the topics of a channel, newest first."""

from typing import Any

from tertulia.channels.access import get_channel
from tertulia.channels.rules import no_such_channel
from tertulia.kernel.auth import Anyone
from tertulia.kernel.db import Reader
from tertulia.kernel.endpoint import Call, get
from tertulia.kernel.errors import unauthorized
from tertulia.kernel.settings import Settings
from tertulia.realms.routes import get_realm_of
from tertulia.realms.settings import decode_settings
from tertulia.topics import queries
from tertulia.topics.rules import shown_topic


@get("/users/me/{stream_id}/topics")
async def get_topics(
    caller: Anyone,
    call: Call,
    reader: Reader,
    server: Settings,
    *,
    stream_id: int,
    allow_empty_topic_name: bool = False,
) -> dict[str, Any]:
    """The topics of a channel you may read. Where the history is protected, those of messages you received,
    while you are subscribed."""
    if caller is None:
        realm = await get_realm_of(call, reader)
        settings = decode_settings(realm.settings)
        if not (realm.is_active and server.web_public_streams_enabled and settings.enable_spectator_access):
            raise unauthorized("Log in to read this.", realm.name)
        if not await queries.is_open_to_the_web(reader, realm.id, stream_id):
            raise no_such_channel(stream_id)
        found = await queries.list_topics(reader, stream_id)
    else:
        channel = await get_channel(reader, caller, stream_id)
        settings = decode_settings(caller.realm_settings)
        if channel.history_public_to_subscribers:
            found = await queries.list_topics(reader, stream_id)
        else:
            found = await queries.list_received_topics(reader, stream_id, caller.user_id)
    topics = [
        {"name": shown_topic(name, settings, allow_empty=allow_empty_topic_name), "max_id": newest}
        for name, newest in found
    ]
    return {"topics": topics}
