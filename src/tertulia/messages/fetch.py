"""Fetching messages: a window of ids, their rows, and what the reader's own flags on them are."""

import re
from collections.abc import Sequence
from typing import Any

import asyncpg
import msgspec

from tertulia.channels.access import find_channel
from tertulia.channels.rules import name_key_of
from tertulia.events.ranges import SeqSet
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.kernel.errors import Refusal
from tertulia.messages.model import MessageRecord, Person
from tertulia.messages.windows import NEWEST, Source, first_unread, ids_after, ids_before
from tertulia.realms.limits import MAX_FETCHED_MESSAGES
from tertulia.realms.settings import decode_settings
from tertulia.topics.rules import clean_topic, shown_topic
from tertulia.users.model import avatar_url

_ID = re.compile(r"-?[0-9]{1,19}")
FLAG_NAMES = {1: "starred", 2: "collapsed", 3: "mentioned", 4: "has_alert_word"}


class Term(msgspec.Struct, frozen=True):
    """One operator of a narrow with its operand."""

    operator: str
    operand: Any
    negated: bool = False


class Window(msgspec.Struct, frozen=True):
    """How much of the messages around an anchor is wanted."""

    anchor: str
    num_before: int
    num_after: int
    include_anchor: bool = True


class Fetched(msgspec.Struct, frozen=True):
    """The answer of GET /messages."""

    messages: list[MessageRecord]
    anchor: int
    found_anchor: bool
    found_oldest: bool
    found_newest: bool
    history_limited: bool = False


class Look(msgspec.Struct, frozen=True):
    """How a reader wants messages to look."""

    apply_markdown: bool = True
    allow_empty_topic_name: bool = False


def check_window(window: Window) -> None:
    """Refuse windows that are too large or have a hole."""
    if window.num_before + window.num_after > MAX_FETCHED_MESSAGES:
        raise Refusal(f"Too many messages requested (maximum {MAX_FETCHED_MESSAGES}).")
    if not window.include_anchor and window.num_before and window.num_after:
        raise Refusal("The anchor can be left out only at an end of the range.")


async def fetch(reader: Reader, caller: Caller, narrow: Sequence[Term], window: Window, look: Look) -> Fetched:
    """The messages of a window, ascending by id."""
    check_window(window)
    source = await source_of(reader, caller, narrow)
    anchor = await anchor_of(reader, source, window.anchor)
    before, after = await _ids(reader, source, anchor, window)
    messages = await load(reader, caller, [*before, *after], look)
    own_before = [id for id in before if id != anchor]
    own_after = [id for id in after if id != anchor]
    return Fetched(
        messages=messages,
        anchor=anchor,
        found_anchor=anchor in before or anchor in after,
        found_oldest=anchor == 0 or len(own_before) < window.num_before,
        found_newest=anchor == NEWEST or len(own_after) < window.num_after,
    )


async def source_of(reader: Reader, caller: Caller, narrow: Sequence[Term]) -> Source:
    """The set of messages a narrow names; for now all the reader received, a channel, or a channel's topic."""
    channel_term = topic_term = None
    for term in narrow:
        if term.negated:
            raise bad_narrow(f"'{term.operator}' can't be negated yet")
        if term.operator in ("channel", "stream"):
            channel_term = term
        elif term.operator == "topic":
            topic_term = term
        else:
            raise bad_narrow(f"unknown operator {term.operator}")
    if channel_term is None:
        if topic_term is not None:
            raise bad_narrow("'topic' needs a 'channel' beside it")
        return Source(caller.user_id)
    named = channel_term.operand
    if isinstance(named, bool) or not isinstance(named, int | str):
        raise bad_narrow("the operand of 'channel' is a name or an ID")
    channel = await find_channel(reader, caller, named)
    if channel is None:
        raise bad_narrow(f"unknown channel {named}")
    history = None
    if not channel.history_public_to_subscribers:
        sql = "select history from read_state where conversation_id = $1 and user_id = $2"
        history = await reader.fetchval(sql, channel.id, caller.user_id) or []
    return Source(caller.user_id, channel.id, _topic_key(caller, topic_term), history)


def _topic_key(caller: Caller, term: Term | None) -> str | None:
    if term is None:
        return None
    if not isinstance(term.operand, str):
        raise bad_narrow("the operand of 'topic' is a string")
    return name_key_of(clean_topic(term.operand, decode_settings(caller.realm_settings)))


async def anchor_of(reader: Reader, source: Source, anchor: str) -> int:
    """The number an anchor stands for."""
    if anchor == "newest":
        return NEWEST
    if anchor == "oldest":
        return 0
    if anchor == "first_unread":
        return await first_unread(reader, source)
    if _ID.fullmatch(anchor) is None:
        raise Refusal("Invalid anchor: a message ID, newest, oldest or first_unread.")
    return min(max(int(anchor), 0), NEWEST)


def bad_narrow(reason: str) -> Refusal:
    """A narrow that cannot be understood."""
    return Refusal(f"Invalid narrow: {reason}", code="BAD_NARROW", desc=reason)


async def _ids(reader: Reader, source: Source, anchor: int, window: Window) -> tuple[list[int], list[int]]:
    if window.num_before and window.num_after:
        before = await ids_before(reader, source, anchor - 1, window.num_before)
        after = await ids_after(reader, source, anchor, window.num_after + 1)
        # Without the anchor itself there is one too many; the same below.
        return before, after if anchor in after else after[: window.num_after]
    if window.num_before:
        extra = 1 if window.include_anchor and anchor != NEWEST else 0
        last = anchor if window.include_anchor else anchor - 1
        found = await ids_before(reader, source, last, window.num_before + extra)
        return (found if anchor in found else found[-window.num_before :]), []
    first = anchor if window.include_anchor else anchor + 1
    after = await ids_after(reader, source, first, window.num_after + (1 if window.include_anchor else 0))
    if anchor not in after:
        after = after[: window.num_after]
    return [], after


_LOAD = """
select message.id, message.conversation_id, message.seq, message.sender_id, message.client,
       case when $2 then message.rendered else message.content end as content,
       starts_with(message.content, '/me ') as is_me, extract(epoch from sent_at)::bigint as sent_at,
       topic.name as topic, channel.name as channel, account.full_name,
       api_email(account, $3) as email, account.avatar_version,
       conversation.participants
from unnest($1::bigint[]) as wanted(id) join message on message.id = wanted.id
join account on account.id = message.sender_id join conversation on conversation.id = message.conversation_id
left join topic on topic.id = message.topic_id left join channel on channel.id = message.conversation_id
order by message.id
"""

_STATES = """
select read_state.conversation_id, read * int8multirange(int8range(low, high, '[]')) as read,
       history * int8multirange(int8range(low, high, '[]')) as history
from unnest($2::bigint[], $3::bigint[], $4::bigint[]) as span(conversation_id, low, high)
join read_state on read_state.conversation_id = span.conversation_id and read_state.user_id = $1
"""

_MARKS = "select message_id, flag from message_mark where user_id = $1 and message_id = any($2::bigint[]) order by flag"

_PEOPLE = "select id, api_email(account, $2) as email, full_name from account where id = any($1::bigint[])"


async def load(reader: Reader, caller: Caller, ids: Sequence[int], look: Look) -> list[MessageRecord]:
    """Messages the reader may see, with their flags."""
    if not ids:
        return []
    rows = await reader.fetch(_LOAD, ids, look.apply_markdown, caller.fake_domain)
    flags = await _flags(reader, caller.user_id, rows)
    everyone = sorted({user for row in rows for user in row["participants"] or ()})
    rows_of_people = await reader.fetch(_PEOPLE, everyone, caller.fake_domain) if everyone else []
    people = {row["id"]: Person(**row) for row in rows_of_people}
    settings = decode_settings(caller.realm_settings)
    found = []
    for row in rows:
        is_channel = row["participants"] is None
        topic = shown_topic(row["topic"], settings, allow_empty=look.allow_empty_topic_name) if is_channel else ""
        recipient = row["channel"] if is_channel else tuple(people[user] for user in row["participants"])
        found.append(
            MessageRecord(
                id=row["id"],
                sender_id=row["sender_id"],
                sender_full_name=row["full_name"],
                sender_email=row["email"],
                sender_realm_str=caller.subdomain,
                avatar_url=avatar_url(row["sender_id"], row["avatar_version"]),
                client=row["client"],
                content=row["content"],
                content_type="text/html" if look.apply_markdown else "text/x-markdown",
                type="stream" if is_channel else "private",
                stream_id=row["conversation_id"] if is_channel else msgspec.UNSET,
                display_recipient=recipient,
                recipient_id=row["conversation_id"],
                subject=topic,
                timestamp=row["sent_at"],
                is_me_message=row["is_me"],
                flags=flags[row["id"]],
            )
        )
    return found


async def _flags(reader: Reader, user_id: int, rows: Sequence[asyncpg.Record]) -> dict[int, list[str]]:
    spans: dict[int, tuple[int, int]] = {}
    for row in rows:
        low, high = spans.get(row["conversation_id"], (row["seq"], row["seq"]))
        spans[row["conversation_id"]] = min(low, row["seq"]), max(high, row["seq"])
    lows, highs = zip(*spans.values(), strict=True)
    states = {
        row["conversation_id"]: (SeqSet(row["read"]), SeqSet(row["history"]))
        for row in await reader.fetch(_STATES, user_id, list(spans), lows, highs)
    }
    nothing = (SeqSet(), SeqSet())
    found: dict[int, list[str]] = {}
    for row in rows:
        read, history = states.get(row["conversation_id"], nothing)
        if row["seq"] not in history:
            found[row["id"]] = ["read", "historical"]
        else:
            found[row["id"]] = ["read"] if row["seq"] in read else []
    for row in await reader.fetch(_MARKS, user_id, list(found)):
        found[row["message_id"]].append(FLAG_NAMES[row["flag"]])
    return found
