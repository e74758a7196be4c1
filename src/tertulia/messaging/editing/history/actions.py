"""GET /messages/{id}/history: the newest versions of a message, oldest first, from what each change left behind."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from tertulia.conversations.topics.rules import shown_topic
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.messaging.editing.history.differences import Differences, Step
from tertulia.messaging.reading.access import Reached, access_message
from tertulia.messaging.reading.revisions import Revision, newest_revisions
from tertulia.organization.realms.settings import RealmSettings, settings_of

MAX_VERSIONS = 100
MAX_CHARACTERS = 300_000
"""Of earlier texts in a history, about: each is told up to three times, so an answer has about a million at most."""

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


async def history_of(
    database: Database, differences: Differences, caller: Caller, message_id: int, *, allow_empty: bool
) -> list[Version]:
    """The newest versions of a message within the caller's reach."""
    settings = settings_of(caller)
    if settings.message_edit_history_visibility_policy == "none":
        raise Refusal("This organization does not show the history of messages.")
    texts = settings.message_edit_history_visibility_policy == "all"
    async with database.reader() as reader:
        message = await access_message(reader, caller, message_id)
        revisions = await newest_revisions(reader, message_id, MAX_VERSIONS, MAX_CHARACTERS, texts=texts)
    marked = await differences.of(_steps(message, revisions)) if texts else {}
    found = versions(message, revisions, settings, marked, allow_empty=allow_empty)
    # If there were more changes than that, the first one found is not what was sent.
    return found[1:] if len(revisions) >= MAX_VERSIONS or _is_cut(revisions) else found


def _is_cut(revisions: Sequence[Revision]) -> bool:
    """Whether older changes may have been left out because the texts are long."""
    characters = sum(len(one.prev_content or "") + len(one.prev_rendered or "") for one in revisions)
    return characters > MAX_CHARACTERS and len(revisions) > 1


def _steps(message: Reached, revisions: Sequence[Revision]) -> list[Step]:
    """From each text to the next, oldest first."""
    edits = [one for one in revisions if one.prev_rendered is not None]
    texts = [one.prev_rendered or "" for one in edits] + [message.rendered]
    return [
        Step(one.revision_id, before, after, one.html_diff)
        for one, before, after in zip(edits, texts, texts[1:], strict=False)
    ]


def versions(
    message: Reached,
    revisions: Sequence[Revision],
    settings: RealmSettings,
    marked: Mapping[int, str],
    *,
    allow_empty: bool,
) -> list[Version]:
    """Walk back from what the message is now, then tell it from the beginning (pure); the first is as it was before all."""
    shows_content = settings.message_edit_history_visibility_policy == "all"

    def named(topic: str) -> str:
        return shown_topic(topic, settings, allow_empty=allow_empty) if message.topic is not None else ""

    topic, content, rendered = message.topic or "", message.content, message.rendered
    found: list[Version] = []
    for change in reversed(revisions):
        difference = marked.get(change.revision_id)
        found.append(_version(change, (topic, content, rendered), named, difference, shows_content=shows_content))
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
    change: Revision,
    now: tuple[str, str, str],
    named: Callable[[str], str],
    difference: str | None,
    *,
    shows_content: bool,
) -> Version:
    topic, content, rendered = now
    told: dict[str, Any] = {}
    if shows_content:
        told |= {"content": content, "rendered_content": rendered}
        if change.prev_content is not None and change.prev_rendered is not None:
            told |= {"prev_content": change.prev_content, "prev_rendered_content": change.prev_rendered}
            told["content_html_diff"] = difference
    if change.prev_topic is not None:
        told["prev_topic"] = named(change.prev_topic)
    if change.prev_channel_id is not None:
        told |= {"prev_stream": change.prev_channel_id, "stream": change.channel_id}
    return Version(timestamp=change.timestamp, user_id=change.user_id, topic=named(topic), **told)


def _has_moved(version: Version) -> bool:
    return version.prev_topic is not msgspec.UNSET or version.prev_stream is not msgspec.UNSET
