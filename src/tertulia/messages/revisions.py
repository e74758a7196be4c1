"""What messages were before: the revisions that apply to each, in one statement, and how the API tells of them.

A revision belongs to a message, or to a topic that was renamed as a whole; then it applies to the messages that were in the
topic at that time. Revisions of one moment are one change: a new text and a new topic may come together.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import TypeVar

import msgspec

from tertulia.kernel.db import Reader
from tertulia.messages.model import EditEntry
from tertulia.realms.settings import RealmSettings
from tertulia.topics.rules import is_resolution, shown_topic

T = TypeVar("T")

# Renamed topics are few, and so are changed messages: both halves are looked up by an index.
_REVISIONS = """
with wanted as materialized (
    select id, topic_id, topic_since, seq from message where id = any($1::bigint[])
)
select message_id, user_id, changed_at, prev_content, prev_rendered, prev_topic, topic, prev_channel_id, channel_id
from (
    select message_revision.* from wanted join message_revision on message_revision.message_id = wanted.id
    union all
    select renamed.id, wanted.id, renamed.topic_id, renamed.last_seq, renamed.user_id, renamed.changed_at,
           prev_content, prev_rendered, prev_topic, topic, prev_channel_id, channel_id
    from wanted join message_revision as renamed
        on renamed.topic_id = wanted.topic_id and renamed.last_seq >= wanted.seq and renamed.id > wanted.topic_since
) as found
order by message_id, changed_at, id
"""


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One change of a message: what it was before, and where it went."""

    message_id: int
    user_id: int | None
    changed_at: datetime
    prev_content: str | None = None
    prev_rendered: str | None = None
    prev_topic: str | None = None
    topic: str | None = None
    prev_channel_id: int | None = None
    channel_id: int | None = None

    @property
    def timestamp(self) -> int:
        """When, in seconds, rounded as the database does it."""
        return round(self.changed_at.timestamp())

    @property
    def is_edit(self) -> bool:
        """Whether the text changed."""
        return self.prev_content is not None

    @property
    def is_move(self) -> bool:
        """Whether it went elsewhere; resolving a topic is no move."""
        if self.prev_channel_id is not None:
            return True
        return self.prev_topic is not None and self.topic is not None and not is_resolution(self.prev_topic, self.topic)


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What a message object says of its changes; keys that do not apply are left out."""

    last_edit_timestamp: int | msgspec.UnsetType = msgspec.UNSET
    last_moved_timestamp: int | msgspec.UnsetType = msgspec.UNSET
    edit_history: list[EditEntry] | msgspec.UnsetType = msgspec.UNSET


UNCHANGED = Changes()


async def revisions_of(reader: Reader, message_ids: Sequence[int]) -> dict[int, list[Revision]]:
    """The changes of messages, oldest first; messages that never changed are not among them."""
    found: defaultdict[int, list[Revision]] = defaultdict(list)
    rows = [Revision(**row) for row in await reader.fetch(_REVISIONS, message_ids)]
    for _, same in groupby(rows, key=lambda row: (row.message_id, row.changed_at)):
        one = _together(list(same))
        found[one.message_id].append(one)
    return found


async def changes_of(
    reader: Reader, message_ids: Sequence[int], settings: RealmSettings, *, allow_empty: bool
) -> dict[int, Changes]:
    """What the objects of these messages say of their changes, as the organization shows it; one statement for all."""
    found = await revisions_of(reader, message_ids)
    return {
        message_id: changes(revisions, settings, allow_empty=allow_empty) for message_id, revisions in found.items()
    }


def changes(revisions: Sequence[Revision], settings: RealmSettings, *, allow_empty: bool) -> Changes:
    """The keys of a message object (pure)."""
    edits = [one.timestamp for one in revisions if one.is_edit]
    moves = [one.timestamp for one in revisions if one.is_move]
    policy = settings.message_edit_history_visibility_policy
    shown = [entry for one in reversed(revisions) if (entry := _entry(one, settings, allow_empty)) is not None]
    return Changes(
        last_edit_timestamp=edits[-1] if edits else msgspec.UNSET,
        last_moved_timestamp=moves[-1] if moves else msgspec.UNSET,
        edit_history=shown if shown and policy != "none" else msgspec.UNSET,
    )


def _entry(one: Revision, settings: RealmSettings, allow_empty: bool) -> EditEntry | None:
    shows_content = settings.message_edit_history_visibility_policy == "all"
    has_moved = one.prev_topic is not None or one.prev_channel_id is not None
    if not (shows_content or has_moved):
        return None
    return EditEntry(
        user_id=one.user_id,
        timestamp=one.timestamp,
        prev_content=_known(one.prev_content if shows_content else None),
        prev_rendered_content=_known(one.prev_rendered if shows_content else None),
        prev_topic=_topic(one.prev_topic, settings, allow_empty),
        topic=_topic(one.topic, settings, allow_empty),
        prev_stream=_known(one.prev_channel_id),
        stream=_known(one.channel_id),
    )


def _known(value: T | None) -> T | msgspec.UnsetType:
    return msgspec.UNSET if value is None else value


def _topic(name: str | None, settings: RealmSettings, allow_empty: bool) -> str | msgspec.UnsetType:
    return msgspec.UNSET if name is None else shown_topic(name, settings, allow_empty=allow_empty)


def _together(same: Sequence[Revision]) -> Revision:
    """Rows of one moment as one revision: one has the text, another where it went."""
    merged = same[0]
    for other in same[1:]:
        known = {name: value for name, value in msgspec.structs.asdict(other).items() if value is not None}
        merged = msgspec.structs.replace(merged, **known)
    return merged
