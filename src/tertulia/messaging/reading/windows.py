"""Windows: the ids of a narrow around an anchor, and what was found at its ends (contract: narrow.md 9)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import Refusal
from tertulia.messaging.narrows import queries
from tertulia.messaging.narrows.conditions import Condition, IsHidden, IsUnread, SentSince
from tertulia.messaging.narrows.model import Narrowed
from tertulia.messaging.narrows.resolve import resolve
from tertulia.messaging.narrows.scopes import Scope
from tertulia.messaging.narrows.statements import ids_among, ids_from
from tertulia.messaging.narrows.terms import Term
from tertulia.messaging.reading.access import Reached, find_message
from tertulia.organization.realms.limits import MAX_FETCHED_MESSAGES

NEWEST = 10_000_000_000_000_000
"""The anchor past every message; clients know this number."""
BEGUN_SECONDS = 1.0
"""How long words are looked for that may be only begun. What such a search takes goes with the words that begin so in all
organizations together, and anybody can make up millions of them (0183); then whole words are found."""
_ID = re.compile(r"-?[0-9]{1,19}")


class Window(msgspec.Struct, frozen=True):
    """How much of the messages around an anchor is wanted."""

    anchor: str
    num_before: int
    num_after: int
    include_anchor: bool = True
    anchor_date: str | None = None


class FoundWindow(msgspec.Struct, frozen=True):
    """The ids of a window, ascending."""

    ids: list[int]
    anchor: int
    found_anchor: bool
    found_oldest: bool
    found_newest: bool


def check_window(window: Window) -> None:
    """Refuse windows that are too large or have a hole."""
    if window.num_before + window.num_after > MAX_FETCHED_MESSAGES:
        raise Refusal(f"Too many messages requested (maximum {MAX_FETCHED_MESSAGES}).")
    if not window.include_anchor and window.num_before and window.num_after:
        raise Refusal("The anchor can be left out only at an end of the range.")


async def narrow_down(reader: Reader, caller: Caller, terms: Sequence[Term]) -> Narrowed:
    """What a narrow means to the caller."""

    async def find(message_id: int) -> Reached | None:
        return await find_message(reader, caller, message_id)

    return await resolve(reader, caller, terms, find)


async def find_window(reader: Reader, narrow: Narrowed, window: Window) -> FoundWindow:
    """The messages of a narrow around an anchor."""
    anchor = await anchor_of(reader, narrow, window)
    if anchor is None:
        return FoundWindow([], NEWEST, found_anchor=False, found_oldest=False, found_newest=False)
    if narrow.is_empty:
        return FoundWindow([], anchor, found_anchor=False, found_oldest=True, found_newest=True)
    if anchor == NEWEST and window.num_before:
        window = msgspec.structs.replace(window, num_after=0)
    before, after = await _ids(reader, narrow, anchor, window)
    ids = [*before, *after]
    return FoundWindow(
        ids,
        anchor,
        found_anchor=anchor in ids,
        found_oldest=anchor == 0 or sum(id < anchor for id in ids) < window.num_before,
        found_newest=anchor == NEWEST or sum(id > anchor for id in ids) < window.num_after,
    )


async def find_among(reader: Reader, narrow: Narrowed, ids: Sequence[int]) -> list[int]:
    """Those of the messages that are in the narrow, ascending."""
    possible = sorted({id for id in ids if 0 < id < 2**63})
    if narrow.is_empty or not possible:
        return []
    statement = ids_among(narrow, possible)
    return [row["id"] for row in await reader.fetch_shaped(statement.sql, *statement.arguments)]


def everything_reached(caller: Caller) -> Narrowed:
    """All messages the caller may read, received or not. Only for asking about given messages."""
    return Narrowed(user_id=caller.user_id, realm_id=caller.realm_id, scope=Scope.REACHED)


async def anchor_of(reader: Reader, narrow: Narrowed, window: Window) -> int | None:
    """The number an anchor stands for; None: there is no message a date could stand for."""
    anchor = window.anchor
    if anchor == "newest":
        return NEWEST
    if anchor == "oldest":
        return 0
    if anchor == "first_unread":
        return await _first_unread(reader, narrow)
    if anchor == "date":
        return await _first_since(reader, narrow, moment_of(window.anchor_date))
    if _ID.fullmatch(anchor) is None:
        raise Refusal("Invalid anchor: a message ID, newest, oldest, first_unread or date.")
    return min(max(int(anchor), 0), NEWEST)


def moment_of(text: str | None) -> datetime:
    """A date or a time as ISO 8601 writes it, in UTC unless it says otherwise."""
    if text is None:
        raise Refusal("Missing 'anchor_date' argument.")
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refusal("anchor_date is not an ISO 8601 date or time.") from None


async def _first_unread(reader: Reader, narrow: Narrowed) -> int:
    if not narrow.user_id or narrow.is_empty:
        return NEWEST
    hidden = IsHidden(negated=True, in_channel=narrow.is_in_channel)
    found = await _walk(reader, _with(narrow, IsUnread(), hidden), 0, 1, downwards=False)
    return found[0] if found else NEWEST


async def _first_since(reader: Reader, narrow: Narrowed, moment: datetime) -> int | None:
    if narrow.is_empty:
        return None
    start = await queries.first_id_since(reader, moment)
    found = await _walk(reader, _with(narrow, SentSince(moment=moment)), start, 1, downwards=False)
    found = found or await _walk(reader, narrow, NEWEST, 1, downwards=True)
    return found[0] if found else None


def _with(narrow: Narrowed, *more: Condition) -> Narrowed:
    kept = [condition for condition in narrow.conditions if condition not in more]
    scope = Scope.RECEIVED if IsUnread() in more else narrow.scope
    return msgspec.structs.replace(narrow, scope=scope, conditions=(*kept, *more))


async def _ids(reader: Reader, narrow: Narrowed, anchor: int, window: Window) -> tuple[list[int], list[int]]:
    if window.num_before and window.num_after:
        before = await _walk(reader, narrow, anchor - 1, window.num_before, downwards=True)
        after = await _walk(reader, narrow, anchor, window.num_after + 1, downwards=False)
        # Without the anchor itself there is one too many; the same below.
        return before, after if anchor in after else after[: window.num_after]
    if window.num_before:
        extra = 1 if window.include_anchor and anchor != NEWEST else 0
        last = anchor if window.include_anchor else anchor - 1
        found = await _walk(reader, narrow, last, window.num_before + extra, downwards=True)
        return (found if anchor in found else found[-window.num_before :]), []
    first = anchor if window.include_anchor else anchor + 1
    limit = window.num_after + (1 if window.include_anchor else 0)
    after = await _walk(reader, narrow, first, limit, downwards=False) if limit else []
    return [], after if anchor in after else after[: window.num_after]


async def _walk(reader: Reader, narrow: Narrowed, anchor: int, limit: int, *, downwards: bool) -> list[int]:
    """At most `limit` ids from the anchor on, itself included; ascending."""
    statement = ids_from(narrow, anchor, limit, downwards=downwards)
    seconds = BEGUN_SECONDS if narrow.has_beginnings else None
    try:
        rows = await reader.fetch_shaped(statement.sql, *statement.arguments, at_most=seconds)
    except TimeoutError:
        return await _walk(reader, narrow.with_whole_words(), anchor, limit, downwards=downwards)
    ids = [row["id"] for row in rows]
    return ids[::-1] if downwards else ids
