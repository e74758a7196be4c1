"""What messages were before: the revisions that apply to each, in one statement, and how the API tells of them.

A revision belongs to a message, or to a topic that was renamed as a whole; then it applies to the messages that were in the
topic at that time. Revisions of one moment are one change: a new text and a new topic may come together.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, TypeVar

import asyncpg
import msgspec

from tertulia.conversations.topics.rules import RESOLVED, shown_topic
from tertulia.kernel.db import Reader
from tertulia.messaging.reading.model import EditEntry
from tertulia.organization.realms.settings import RealmSettings

T = TypeVar("T")

MAX_SHOWN = 10
"""How many changes a message object tells: the newest. GET /messages/{id}/history has more of them."""
TOGETHER = 200
"""Messages whose changes are looked up at once: each may have a hundred, and others have their turn in between."""
MAX_SHOWN_CHARACTERS = 40_000
"""Of earlier texts in a message object, about; the newest change is always told."""

# Renamed topics are few, and so are changed messages: both halves are looked up by an index. `size` stands in for the texts
# until it is known which of them are told.
_FOUND = """
with wanted as materialized (
    select id, topic_id, topic_since, seq from message where id = any($1::bigint[])
), found as (
    select wanted.id as message_id, own.id as revision_id, user_id, changed_at, prev_content, prev_rendered, html_diff,
           prev_topic, topic, prev_channel_id, channel_id, size
    from wanted join message_revision as own on own.message_id = wanted.id
    union all
    select wanted.id, renamed.id, user_id, changed_at, prev_content, prev_rendered, html_diff,
           prev_topic, topic, prev_channel_id, channel_id, size
    from wanted join message_revision as renamed
        on renamed.topic_id = wanted.topic_id and renamed.last_seq >= wanted.seq and renamed.id > wanted.topic_since
), placed as (
    select *, row_number() over newest as place, sum(size) over newest - size as size_before,
        case when prev_content is not null then 'edit'
            when prev_channel_id is null and (topic = $4 || prev_topic or prev_topic = $4 || topic) then 'resolution'
            else 'move' end as kind
    from found window newest as (partition by message_id order by changed_at desc, revision_id desc)
)
"""
_COLUMNS = "message_id, revision_id, user_id, changed_at, kind, prev_topic, topic, prev_channel_id, channel_id"

# Rows of one moment are one change and at most two, so twice as many rows have all that is wanted.
_NEWEST = f"""
{_FOUND}
select {_COLUMNS}, prev_content, prev_rendered, html_diff
from (
    select *, row_number() over (partition by message_id order by place) as place_among_told
    from placed where $5 or kind <> 'edit'
) as told
where place_among_told <= 2 * $2 and (size_before <= $3 or place_among_told <= 2)
order by message_id, changed_at, revision_id
"""
_TOLD = f"""
{_FOUND}, ranked as (
    select *, row_number() over (partition by message_id, kind order by place) as place_in_kind from placed
)
select {_COLUMNS}, place <= 2 * $2 and (size_before <= $3 or place <= 2) as is_told,
       case when $5 and place <= 2 * $2 and (size_before <= $3 or place <= 2) then prev_content end as prev_content,
       case when $5 and place <= 2 * $2 and (size_before <= $3 or place <= 2) then prev_rendered end as prev_rendered
from ranked where place <= 2 * $2 or place_in_kind = 1
order by message_id, changed_at, revision_id
"""


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One change of a message: what it was before, and where it went."""

    message_id: int
    revision_id: int
    user_id: int | None
    changed_at: datetime
    is_edit: bool
    """Whether the text changed."""
    is_move: bool
    """Whether it went elsewhere; resolving a topic is no move."""
    is_told: bool = True
    """Whether it is among the newest; if not, only its time counts, and its texts were not read."""
    prev_content: str | None = None
    prev_rendered: str | None = None
    html_diff: str | None = None
    """The difference of its text to the next one's, if it was made already."""
    prev_topic: str | None = None
    topic: str | None = None
    prev_channel_id: int | None = None
    channel_id: int | None = None

    @property
    def timestamp(self) -> int:
        """When, in seconds, rounded as the database does it."""
        return round(self.changed_at.timestamp())


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What a message object says of its changes; keys that do not apply are left out."""

    last_edit_timestamp: int | msgspec.UnsetType = msgspec.UNSET
    last_moved_timestamp: int | msgspec.UnsetType = msgspec.UNSET
    edit_history: list[EditEntry] | msgspec.UnsetType = msgspec.UNSET


UNCHANGED = Changes()


async def newest_revisions(
    reader: Reader, message_id: int, limit: int, characters: int, *, texts: bool
) -> list[Revision]:
    """The newest changes of a message, oldest first: so many, fewer if their texts are very long; without texts, moves only."""
    rows = await reader.fetch(_NEWEST, [message_id], limit, characters, RESOLVED, texts)
    return _grouped(rows).get(message_id, [])[-limit:]


async def changes_of(
    reader: Reader, message_ids: Sequence[int], settings: RealmSettings, *, allow_empty: bool
) -> dict[int, Changes]:
    """What the objects of these messages say of their changes, as the organization shows it; one statement for so many."""
    shows_content = settings.message_edit_history_visibility_policy == "all"
    found: dict[int, Changes] = {}
    for start in range(0, len(message_ids), TOGETHER):
        some = message_ids[start : start + TOGETHER]
        rows = await reader.fetch(_TOLD, some, MAX_SHOWN, MAX_SHOWN_CHARACTERS, RESOLVED, shows_content)
        for message_id, revisions in _grouped(rows).items():
            found[message_id] = changes(revisions, settings, allow_empty=allow_empty)
    return found


def _grouped(rows: Sequence[asyncpg.Record]) -> dict[int, list[Revision]]:
    """The changes of each message, oldest first; messages that never changed are not among them."""
    found: defaultdict[int, list[Revision]] = defaultdict(list)
    for _, same in groupby(map(_revision, rows), key=lambda one: (one.message_id, one.changed_at)):
        one = _together(list(same))
        found[one.message_id].append(one)
    return found


def _revision(row: asyncpg.Record) -> Revision:
    known: dict[str, Any] = dict(row)
    kind = known.pop("kind")
    return Revision(**known, is_edit=kind == "edit", is_move=kind == "move")


def changes(revisions: Sequence[Revision], settings: RealmSettings, *, allow_empty: bool) -> Changes:
    """The keys of a message object (pure): the newest changes, and when the last of each kind was, however long ago."""
    edits = [one.timestamp for one in revisions if one.is_edit]
    moves = [one.timestamp for one in revisions if one.is_move]
    policy = settings.message_edit_history_visibility_policy
    told = [one for one in reversed(revisions) if one.is_told][:MAX_SHOWN]
    shown = [entry for one in told if (entry := _entry(one, settings, allow_empty)) is not None]
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
        for name in ("is_edit", "is_move", "is_told"):
            known[name] = known[name] or getattr(merged, name)
        known["revision_id"] = other.revision_id if other.is_edit else merged.revision_id
        merged = msgspec.structs.replace(merged, **known)
    return merged
