"""Endpoints of changing messages."""

import msgspec

from tertulia.edits.actions import change_message
from tertulia.edits.deletion import delete_message, delete_topic
from tertulia.edits.history import Version, history_of
from tertulia.edits.model import Propagation, Wish
from tertulia.kernel.auth import Administrator, Person
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import alias, delete, get, patch, post
from tertulia.messages.actions import Sending
from tertulia.uploads.model import AttachmentRecord


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
    database: Database,
    sending: Sending,
    *,
    message_id: int,
    content: str | None = None,
    topic: str | None = alias("subject"),
    stream_id: int | None = None,
    propagate_mode: Propagation = "change_one",
    send_notification_to_old_thread: bool = False,
    send_notification_to_new_thread: bool = True,
    prev_content_sha256: str | None = None,
) -> Edited:
    """Change your message's content; move messages to another topic or channel."""
    wish = Wish(
        content=content,
        topic=topic,
        channel_id=stream_id,
        mode=propagate_mode,
        tell_old=send_notification_to_old_thread,
        tell_new=send_notification_to_new_thread,
        prev_content_sha256=prev_content_sha256,
    )
    return Edited(await change_message(database, sending.composer, caller, message_id, wish))


@delete("/messages/{message_id}")
async def remove_message(caller: Person, tx: Transaction, *, message_id: int) -> None:
    """Delete a message for everybody."""
    await delete_message(tx, caller, message_id)


@post("/streams/{stream_id}/delete_topic")
async def remove_topic(caller: Administrator, database: Database, *, stream_id: int, topic_name: str) -> Deleted:
    """Delete the messages of a topic, in portions, newest first."""
    return Deleted(await delete_topic(database, caller, stream_id, topic_name))


@get("/messages/{message_id}/history")
async def get_history(
    caller: Person, database: Database, *, message_id: int, allow_empty_topic_name: bool = False
) -> History:
    """What a message was, oldest version first, as far as the organization shows it."""
    return History(await history_of(database, caller, message_id, allow_empty=allow_empty_topic_name))
