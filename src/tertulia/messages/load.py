"""Messages as one reader sees them: the rows, what belongs to them, and the reader's own flags."""

from collections.abc import Sequence

import asyncpg
import msgspec

from tertulia.events.ranges import SeqSet
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.messages.model import MessageRecord, Person
from tertulia.messages.revisions import UNCHANGED, changes_of
from tertulia.realms.settings import decode_settings
from tertulia.topics.rules import shown_topic
from tertulia.users.model import avatar_url

FLAG_NAMES = {1: "starred", 2: "collapsed", 3: "mentioned", 4: "has_alert_word"}


class Look(msgspec.Struct, frozen=True):
    """How a reader wants messages to look."""

    apply_markdown: bool = True
    allow_empty_topic_name: bool = False


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
    changed = await changes_of(reader, ids, settings, allow_empty=look.allow_empty_topic_name)
    found = []
    for row in rows:
        changes = changed.get(row["id"], UNCHANGED)
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
                last_edit_timestamp=changes.last_edit_timestamp,
                last_moved_timestamp=changes.last_moved_timestamp,
                edit_history=changes.edit_history,
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
