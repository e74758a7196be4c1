"""Endpoints of changing messages."""

import msgspec

from tertulia.conversations.channels.rules import ChannelId
from tertulia.files.uploads.model import AttachmentRecord
from tertulia.kernel.auth import Administrator, Person
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import alias, delete, get, patch, post
from tertulia.messaging.editing.actions import Editing, change_message
from tertulia.messaging.editing.deletion import delete_message, delete_topic
from tertulia.messaging.editing.history.actions import Version, history_of
from tertulia.messaging.editing.history.differences import Differences
from tertulia.messaging.editing.model import EditRequest, Propagation
from tertulia.messaging.editing.previews.actions import remove_preview


class Edited(msgspec.Struct):
    """The answer of PATCH /messages/{message_id}."""

    detached_uploads: list[AttachmentRecord]
    """Files that no message refers to any more."""


class History(msgspec.Struct):
    """The answer of GET /messages/{message_id}/history."""

    message_history: list[Version]


class Deleted(msgspec.Struct):
    """The answer of deleting a topic."""

    complete: bool
    """False: there is more; repeat the request."""


@patch("/messages/{message_id}")
async def edit_message(
    caller: Person,
    editing: Editing,
    *,
    message_id: int,
    content: str | None = None,
    topic: str | None = alias("subject"),
    stream_id: ChannelId | None = None,
    propagate_mode: Propagation = "change_one",
    send_notification_to_old_thread: bool = False,
    send_notification_to_new_thread: bool = True,
    prev_content_sha256: str | None = None,
) -> Edited:
    """Change your message's content; move messages to another topic or channel."""
    request = EditRequest(
        content=content,
        topic=topic,
        channel_id=stream_id,
        mode=propagate_mode,
        tell_old=send_notification_to_old_thread,
        tell_new=send_notification_to_new_thread,
        prev_content_sha256=prev_content_sha256,
    )
    return Edited(await change_message(editing, caller, message_id, request))


@delete("/messages/{message_id}")
async def remove_message(caller: Person, tx: Transaction, *, message_id: int) -> None:
    """Delete a message for everybody."""
    await delete_message(tx, caller, message_id)


@delete("/messages/{message_id}/link_previews")
async def remove_link_preview(caller: Person, tx: Transaction, *, message_id: int, url: str) -> None:
    """Take the preview of a link from below your message, for good. `url` is the link's address, as in the message's HTML."""
    await remove_preview(tx, caller, message_id, url)


@post("/streams/{stream_id}/delete_topic")
async def remove_topic(caller: Administrator, database: Database, *, stream_id: ChannelId, topic_name: str) -> Deleted:
    """Delete the messages of a topic, in batches, newest first: repeat it until `complete` is true."""
    return Deleted(await delete_topic(database, caller, stream_id, topic_name))


@get("/messages/{message_id}/history")
async def get_history(
    caller: Person,
    database: Database,
    differences: Differences,
    *,
    message_id: int,
    allow_empty_topic_name: bool = False,
) -> History:
    """The newest 100 versions of a message, oldest first, as far as the organization shows edit history."""
    return History(await history_of(database, differences, caller, message_id, allow_empty=allow_empty_topic_name))
