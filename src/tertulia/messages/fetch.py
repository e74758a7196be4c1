"""Fetching messages: a narrow and a window become message objects."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.messages.load import Look, load
from tertulia.messages.model import MessageRecord
from tertulia.messages.windows import Window, check_window, everything_reached, find_among, find_window, narrow_down
from tertulia.narrows.scopes import Scope
from tertulia.narrows.search import Query
from tertulia.narrows.terms import Term


class Fetched(msgspec.Struct, frozen=True):
    """The answer of GET /messages."""

    messages: list[MessageRecord]
    found_anchor: bool
    found_oldest: bool
    found_newest: bool
    anchor: int | msgspec.UnsetType = msgspec.UNSET
    history_limited: bool = False


async def fetch(reader: Reader, caller: Caller, terms: Sequence[Term], window: Window, look: Look) -> Fetched:
    """The messages of a window, ascending by id."""
    check_window(window)
    narrow = await narrow_down(reader, caller, terms)
    found = await find_window(reader, narrow, window)
    messages = await load(reader, caller, found.ids, msgspec.structs.replace(look, query=narrow.query))
    return Fetched(messages, found.found_anchor, found.found_oldest, found.found_newest, found.anchor)


class Match(msgspec.Struct, frozen=True):
    """How a message of a narrow looks, with what was searched for marked."""

    match_content: str
    match_subject: str


async def find_matches(reader: Reader, caller: Caller, terms: Sequence[Term], ids: Sequence[int]) -> dict[str, Match]:
    """Those of the messages that the caller received and that are in the narrow."""
    narrow = await narrow_down(reader, caller, terms)
    received = msgspec.structs.replace(narrow, scope=Scope.RECEIVED, sees_all=False)
    look = Look(allow_empty_topic_name=True, query=narrow.query or Query())
    messages = await load(reader, caller, await find_among(reader, received, ids), look)
    return {
        str(message.id): Match(message.match_content, message.match_subject)
        for message in messages
        if isinstance(message.match_content, str) and isinstance(message.match_subject, str)
    }


async def fetch_these(
    reader: Reader, caller: Caller, terms: Sequence[Term] | None, ids: Sequence[int], look: Look
) -> Fetched:
    """Those of the messages that the caller may see and that are in the narrow, if there is one."""
    narrow = await narrow_down(reader, caller, terms) if terms else everything_reached(caller)
    look = msgspec.structs.replace(look, query=narrow.query)
    messages = await load(reader, caller, await find_among(reader, narrow, ids), look)
    return Fetched(messages, found_anchor=False, found_oldest=False, found_newest=False)
