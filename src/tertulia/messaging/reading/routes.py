"""Endpoints that read messages."""

from typing import Annotated

import msgspec

from tertulia.kernel.auth import Anyone, Caller, Person
from tertulia.kernel.compat import emoji_type_for, old_text_keys
from tertulia.kernel.db import Reader
from tertulia.kernel.endpoint import Call, get
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.messaging.narrows.rules import without_home
from tertulia.messaging.narrows.terms import GivenNarrow, Narrow
from tertulia.messaging.reading.access import access_message
from tertulia.messaging.reading.fetch import Fetched, SearchMatch, fetch, fetch_these, find_matches
from tertulia.messaging.reading.load import Look, load
from tertulia.messaging.reading.model import MessageRecord
from tertulia.messaging.reading.spectators import spectator_of
from tertulia.messaging.reading.windows import Window
from tertulia.organization.custom_emoji.model import EXTRA
from tertulia.organization.realms.limits import MAX_FETCHED_MESSAGES

Count = Annotated[int, msgspec.Meta(ge=0)]
MessageIds = Annotated[list[int], msgspec.Meta(max_length=MAX_FETCHED_MESSAGES)]
MAX_MATCHED = 10_000
"""Twice what GET /messages gives at once: a client asks about all that it holds."""
MatchedIds = Annotated[list[int], msgspec.Meta(max_length=MAX_MATCHED)]


class OneMessage(msgspec.Struct):
    """The answer of GET /messages/{message_id}."""

    message: MessageRecord
    raw_content: str | msgspec.UnsetType = msgspec.UNSET


@get("/messages")
async def get_messages(
    caller: Anyone,
    call: Call,
    reader: Reader,
    settings: Settings,
    *,
    anchor: str | None = None,
    anchor_date: str | None = None,
    include_anchor: bool | None = None,
    num_before: Count | None = None,
    num_after: Count | None = None,
    narrow: Narrow | None = None,
    message_ids: MessageIds | None = None,
    client_gravatar: bool = True,  # noqa: ARG001 (avatars are ours: there is none to leave out)
    apply_markdown: bool = True,
    use_first_unread_anchor: bool | None = None,
    allow_empty_topic_name: bool = False,
) -> Fetched:
    """Fetch messages around an anchor (a message ID, `newest`, `oldest`, `first_unread`, or `date` with `anchor_date`),
    or those with given IDs.

    An answer that would be larger than about 10 MiB ends earlier, on each side of the anchor: `found_oldest` and `found_newest`
    say where there is more. Given messages that are too long together are refused.

    Open to everybody in organizations with public access, for narrows with `channels:web-public`.
    """
    if caller is None:
        reading: Caller = await spectator_of(call, reader, settings, narrow or [])
        narrow = without_home(narrow or [])
    else:
        reading = caller
    look = look_of(call, apply_markdown=apply_markdown, allow_empty_topic_name=allow_empty_topic_name)
    if message_ids is not None:
        of_windows = (anchor, num_before, num_after, include_anchor, use_first_unread_anchor)
        if any(value is not None for value in of_windows):
            raise mixed_up()
        return await fetch_these(reader, reading, narrow, message_ids, look)
    if use_first_unread_anchor:
        anchor = "first_unread"
    if anchor is None:
        raise Refusal("Missing 'anchor' argument.")
    window = Window(anchor, num_before or 0, num_after or 0, include_anchor is not False, anchor_date)
    return await fetch(reader, reading, narrow or [], window, look)


class Matched(msgspec.Struct):
    """The answer of GET /messages/matches_narrow."""

    messages: dict[str, SearchMatch]


@get("/messages/matches_narrow")
async def get_matches(caller: Person, reader: Reader, *, msg_ids: MatchedIds, narrow: GivenNarrow) -> Matched:
    """Which of the given messages match a narrow; those that do not, or that you did not receive, are left out."""
    return Matched(await find_matches(reader, caller, narrow, msg_ids))


@get("/messages/{message_id}")
async def get_message(
    caller: Person,
    call: Call,
    reader: Reader,
    *,
    message_id: int,
    apply_markdown: bool = True,
    allow_empty_topic_name: bool = False,
) -> OneMessage:
    """One message. `raw_content` is its text as it was written."""
    reached = await access_message(reader, caller, message_id)
    look = look_of(call, apply_markdown=apply_markdown, allow_empty_topic_name=allow_empty_topic_name)
    [message] = (await load(reader, caller, [message_id], look)).messages
    return OneMessage(message, **old_text_keys(reached.content))


def look_of(call: Call, *, apply_markdown: bool, allow_empty_topic_name: bool) -> Look:
    """How the caller's program wants messages to look."""
    return Look(apply_markdown, allow_empty_topic_name, extra_emoji_type=emoji_type_for(EXTRA, call.client))


def mixed_up() -> Refusal:
    """Given messages are fetched, or a window: not both."""
    names = ["num_before", "num_after", "anchor", "message_ids", "include_anchor", "use_first_unread_anchor"]
    return Refusal(f"Unsupported parameter combination: {', '.join(names)}")
