"""GET /messages/{id}/history: the versions of a message, oldest first, from what each change left behind."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tertulia.edits.html_diff import html_diff
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.messages.access import Reached, access_message
from tertulia.messages.revisions import Revision, revisions_of
from tertulia.realms.settings import RealmSettings, decode_settings
from tertulia.topics.rules import shown_topic

_Text = str | msgspec.UnsetType


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """What a message was after a change; the first one is as it was sent."""

    timestamp: int
    user_id: int | None
    topic: str
    content: _Text = msgspec.UNSET
    rendered_content: _Text = msgspec.UNSET
    prev_topic: _Text = msgspec.UNSET
    prev_content: _Text = msgspec.UNSET
    prev_rendered_content: _Text = msgspec.UNSET
    content_html_diff: _Text = msgspec.UNSET
    prev_stream: int | msgspec.UnsetType = msgspec.UNSET
    stream: int | msgspec.UnsetType = msgspec.UNSET


async def history_of(database: Database, caller: Caller, message_id: int, *, allow_empty: bool) -> list[Version]:
    """All versions of a message within the caller's reach."""
    settings = decode_settings(caller.realm_settings)
    if settings.message_edit_history_visibility_policy == "none":
        raise Refusal("This organization does not show the history of messages.")
    async with database.reader() as reader:
        message = await access_message(reader, caller, message_id)
        revisions = (await revisions_of(reader, [message_id])).get(message_id, [])
    # Finding differences takes its time: nobody waits for it but who asked.
    return await asyncio.to_thread(versions, message, revisions, settings, allow_empty=allow_empty)


def versions(
    message: Reached, revisions: Sequence[Revision], settings: RealmSettings, *, allow_empty: bool
) -> list[Version]:
    """Walk back from what the message is now, then tell it from the beginning (pure)."""
    shows_content = settings.message_edit_history_visibility_policy == "all"

    def named(topic: str) -> str:
        return shown_topic(topic, settings, allow_empty=allow_empty) if message.topic is not None else ""

    topic, content, rendered = message.topic or "", message.content, message.rendered
    found: list[Version] = []
    for change in reversed(revisions):
        found.append(_version(change, (topic, content, rendered), named, shows_content=shows_content))
        topic = topic if change.prev_topic is None else change.prev_topic
        content = content if change.prev_content is None else change.prev_content
        rendered = rendered if change.prev_rendered is None else change.prev_rendered
    first = Version(
        timestamp=round(message.sent_at.timestamp()),
        user_id=message.sender_id,
        topic=named(topic),
        content=content if shows_content else msgspec.UNSET,
        rendered_content=rendered if shows_content else msgspec.UNSET,
    )
    kept = [version for version in found if shows_content or _has_moved(version)]
    return [first, *reversed(kept)]


def _version(
    change: Revision, now: tuple[str, str, str], named: Callable[[str], str], *, shows_content: bool
) -> Version:
    topic, content, rendered = now
    told: dict[str, Any] = {}
    if shows_content:
        told |= {"content": content, "rendered_content": rendered}
        if change.prev_content is not None and change.prev_rendered is not None:
            told |= {"prev_content": change.prev_content, "prev_rendered_content": change.prev_rendered}
            told["content_html_diff"] = html_diff(change.prev_rendered, rendered)
    if change.prev_topic is not None:
        told["prev_topic"] = named(change.prev_topic)
    if change.prev_channel_id is not None:
        told |= {"prev_stream": change.prev_channel_id, "stream": change.channel_id}
    return Version(timestamp=change.timestamp, user_id=change.user_id, topic=named(topic), **told)


def _has_moved(version: Version) -> bool:
    return version.prev_topic is not msgspec.UNSET or version.prev_stream is not msgspec.UNSET
