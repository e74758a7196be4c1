"""Fetching messages: a narrow and a window become message objects."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import Refusal
from tertulia.messaging.narrows.scopes import Scope
from tertulia.messaging.narrows.search import Query
from tertulia.messaging.narrows.terms import Term
from tertulia.messaging.reading.load import Look, load
from tertulia.messaging.reading.model import MessageRecord
from tertulia.messaging.reading.windows import (
    Window,
    check_window,
    everything_reached,
    find_among,
    find_window,
    narrow_down,
)


class Fetched(msgspec.Struct, frozen=True):
    """The answer of GET /messages."""

    messages: list[MessageRecord]
    found_anchor: bool
    found_oldest: bool
    found_newest: bool
    anchor: int | msgspec.UnsetType = msgspec.UNSET
    history_limited: bool = False


async def fetch(reader: Reader, caller: Caller, terms: Sequence[Term], window: Window, look: Look) -> Fetched:
    """The messages of a window of a narrow, ascending by id."""
    check_window(window)
    narrow = await narrow_down(reader, caller, terms)
    found = await find_window(reader, narrow, window)
    loaded = await load(
        reader, caller, found.ids, msgspec.structs.replace(look, query=narrow.query), anchor=found.anchor
    )
    left_out = set(found.ids) - {message.id for message in loaded.messages} if loaded.is_cut else ()
    return Fetched(
        loaded.messages,
        found.found_anchor,
        found.found_oldest and not any(id < found.anchor for id in left_out),
        found.found_newest and not any(id > found.anchor for id in left_out),
        found.anchor,
    )


class SearchMatch(msgspec.Struct, frozen=True):
    """A message that matches a narrow, as HTML with the searched words highlighted."""

    match_content: str
    match_subject: str


async def find_matches(
    reader: Reader, caller: Caller, terms: Sequence[Term], ids: Sequence[int]
) -> dict[str, SearchMatch]:
    """Those of the messages that the caller received and that are in the narrow."""
    narrow = await narrow_down(reader, caller, terms)
    received = msgspec.structs.replace(narrow, scope=Scope.RECEIVED, sees_all=False)
    look = Look(query=narrow.query or Query())
    messages = await _load_all(reader, caller, await find_among(reader, received, ids), look)
    return {
        str(message.id): SearchMatch(message.match_content, message.match_subject)
        for message in messages
        if isinstance(message.match_content, str) and isinstance(message.match_subject, str)
    }


async def fetch_these(
    reader: Reader, caller: Caller, terms: Sequence[Term] | None, ids: Sequence[int], look: Look
) -> Fetched:
    """Those of the messages that the caller may see and that are in the narrow, if there is one."""
    narrow = await narrow_down(reader, caller, terms) if terms else everything_reached(caller)
    look = msgspec.structs.replace(look, query=narrow.query)
    messages = await _load_all(reader, caller, await find_among(reader, narrow, ids), look)
    return Fetched(messages, found_anchor=False, found_oldest=False, found_newest=False)


async def _load_all(reader: Reader, caller: Caller, ids: Sequence[int], look: Look) -> list[MessageRecord]:
    """Given messages have no window in which some could be left for later: a hole would look like messages that are gone."""
    loaded = await load(reader, caller, ids, look)
    if loaded.is_cut:
        raise Refusal("These messages are too long for one answer: ask for fewer of them.")
    return loaded.messages
