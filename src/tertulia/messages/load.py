"""Messages as one reader sees them: the rows, what belongs to them, and the reader's own flags.

One statement brings everything that most messages need; what few messages have (changes, mentions of groups) is asked for only
if one of them has it. Rows are taken apart by position and written once: this is the dearest part of a fetch in Python.
"""

import functools
from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.custom_emoji.model import EXTRA
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Reader
from tertulia.markup import Linkifier, TopicLink, topic_links
from tertulia.messages.model import MessageRecord
from tertulia.messages.revisions import UNCHANGED, changes_of
from tertulia.narrows.conditions import ALERTED, COLLAPSED, MENTIONED, STARRED
from tertulia.narrows.queries import groups_of
from tertulia.narrows.search import Query
from tertulia.narrows.stems import Marker, marker_for
from tertulia.realms.settings import decode_settings
from tertulia.topics.rules import shown_topic
from tertulia.users.visibility import hidden_from, unknown_sender

FLAG_NAMES = {STARRED: "starred", COLLAPSED: "collapsed", MENTIONED: "mentioned", ALERTED: "has_alert_word"}
_OF_CHANNEL, _OF_TOPIC = 1, 2
"""Bits of `message.wildcard`."""


class Look(msgspec.Struct, frozen=True):
    """How a reader wants messages to look."""

    apply_markdown: bool = True
    allow_empty_topic_name: bool = False
    query: Query | None = None
    """What the reader searched for: it is marked in `match_content` and `match_subject`."""
    extra_emoji_type: str = EXTRA
    """How the reader's client spells the type of the service's own emoji."""


# What few messages have is read once for all of them; `offset 0`: a look at an index for each, never a whole table in a hash.
# The reader's state is cut to the span that is shown, and so is small: testing each number against a stored set would unpack
# that set each time.
_LOAD = """
with wanted as materialized (
    select id, conversation_id, seq, topic_id, sender_id, client, content, rendered, sent_at, wildcard
    from message where id = any($1::bigint[])
), span as (
    select conversation_id, int8multirange(int8range(min(seq), max(seq), '[]')) as seqs from wanted group by conversation_id
), state as materialized (
    -- In a channel somebody has left nothing is unread.
    select span.conversation_id, history * seqs as history, case when upper_inf(history) then read * seqs else seqs end as read
    from span join read_state on read_state.conversation_id = span.conversation_id and read_state.user_id = $2
), mark as (
    select message_id, array_agg(flag order by flag) as flags
    from message_mark where message_id = any($1) and user_id = $2 group by message_id
), mentioned as (
    select message_id, array_agg(group_id) as groups
    from message_group_mention where message_id = any($1) group by message_id
), reacted as (
    select message_id, json_agg(json_build_object('emoji_name', emoji_name, 'emoji_code', emoji_code,
        'reaction_type', case reaction_type when 'service_extra_emoji' then $6 else reaction_type end,
        'user_id', user_id) order by reacted_at, user_id, emoji_code)::text as reactions
    from reaction where message_id = any($1) group by message_id
), played as (
    select message_id, json_agg(json_build_object('id', id, 'message_id', message_id, 'sender_id', sender_id,
        'msg_type', msg_type, 'content', content) order by id)::text as submessages
    from submessage where message_id = any($1) group by message_id
), changed as (
    select distinct message_id from message_revision where message_id = any($1)
), renamed as (
    select distinct topic_id from message_revision where topic_id in (select topic_id from wanted)
)
select wanted.id, wanted.conversation_id, sender_id, client, case when $3 then rendered else content end,
       starts_with(content, '/me '), extract(epoch from sent_at)::bigint, topic.name, channel.name,
       account.full_name,
       -- Whoever has no account sees no address of a person.
       case when $2 = 0 and account.bot_type is null then 'user' || account.id::text || '@' || $4
           else api_email(account, $4) end,
       avatar_url(account),
       case when channel.id is null then (
           select json_agg(json_build_object('id', person.id, 'email', api_email(person, $4), 'full_name', person.full_name,
               'is_mirror_dummy', false) order by person.id)::text
           from account as person where person.id = any(conversation.participants)
       ) end,
       coalesce(seq <@ state.history, false),
       seq <@ state.read or exists (select from muted_user where user_id = $2 and muted_id = sender_id offset 0),
       wildcard,
       wildcard >= 2 and (wanted.topic_id is null or exists (
           select from topic_participant where topic_participant.topic_id = wanted.topic_id and user_id = $2 offset 0
       )),
       mark.flags, mentioned.groups, reacted.reactions, played.submessages,
       changed.message_id is not null or renamed.topic_id is not null,
       case when $7 then rendered end,
       (select json_agg(json_build_object('pattern', pattern, 'url_template', url_template) order by position)::text
        from linkifier where realm_id = $5)
from wanted join account on account.id = sender_id join conversation on conversation.id = wanted.conversation_id
left join topic on topic.id = wanted.topic_id left join channel on channel.id = wanted.conversation_id
left join state on state.conversation_id = wanted.conversation_id
left join mark on mark.message_id = wanted.id left join mentioned on mentioned.message_id = wanted.id
left join reacted on reacted.message_id = wanted.id left join played on played.message_id = wanted.id
left join changed on changed.message_id = wanted.id left join renamed on renamed.topic_id = wanted.topic_id
order by wanted.id
"""


class _Own(msgspec.Struct, frozen=True):
    """What a message is to the reader."""

    is_received: bool
    is_read: bool | None
    wildcard: int
    takes_part: bool
    marks: list[int] | None
    groups: list[int] | None


async def load(reader: Reader, caller: Caller, ids: Sequence[int], look: Look) -> list[MessageRecord]:
    """Messages the reader may see, with their flags, by id."""
    if not ids:
        return []
    arguments = (
        look.apply_markdown,
        caller.fake_domain,
        caller.realm_id,
        look.extra_emoji_type,
        look.query is not None,
    )
    rows = await reader.fetch(_LOAD, ids, caller.user_id, *arguments)
    settings = decode_settings(caller.realm_settings)
    changed_ids = [row[0] for row in rows if row[21]]
    allow_empty = look.allow_empty_topic_name
    changed = await changes_of(reader, changed_ids, settings, allow_empty=allow_empty) if changed_ids else {}
    hidden = await hidden_from(reader, caller, {row[2] for row in rows}) if caller.user_id else frozenset[int]()
    my_groups = set(await groups_of(reader, caller.user_id)) if any(row[18] for row in rows) else set()
    marker = await _marker(reader, look, rows)
    show_topic = functools.partial(shown_topic, settings=settings, allow_empty=allow_empty)
    content_type = "text/html" if look.apply_markdown else "text/x-markdown"
    links = linkifiers_of(rows[0][23]) if rows else ()
    found = []
    for row in rows:
        (
            id, conversation_id, sender_id, client, content, is_me, sent_at, topic, channel, full_name, email, avatar_url,
            people, is_received, is_read, wildcard, takes_part, marks, groups, reactions, submessages, is_changed, rendered, _,
        ) = row  # fmt: skip
        is_channel = channel is not None
        subject = (topic or show_topic(topic)) if is_channel else ""
        changes = changed.get(id, UNCHANGED) if is_changed else UNCHANGED
        record = MessageRecord(
            id=id,
            sender_id=sender_id,
            sender_full_name=full_name,
            sender_email=email,
            sender_realm_str=caller.subdomain,
            avatar_url=avatar_url,
            client=client,
            content=content,
            content_type=content_type,
            type="stream" if is_channel else "private",
            stream_id=conversation_id if is_channel else msgspec.UNSET,
            display_recipient=channel if is_channel else _written(people),
            recipient_id=conversation_id,
            subject=subject,
            topic_links=links_of(topic, links) if topic else (),
            timestamp=sent_at,
            is_me_message=is_me,
            reactions=_written(reactions) if reactions else (),
            submessages=_written(submessages) if submessages else (),
            last_edit_timestamp=changes.last_edit_timestamp,
            last_moved_timestamp=changes.last_moved_timestamp,
            edit_history=changes.edit_history,
            flags=flags_of(_Own(is_received, is_read, wildcard, takes_part, marks, groups), my_groups)
            if caller.user_id
            else ["read"],
            match_content=marker.mark(rendered) if marker else msgspec.UNSET,
            match_subject=marker.mark_text(subject) if marker else msgspec.UNSET,
        )
        if sender_id in hidden:
            record = msgspec.structs.replace(record, **unknown_sender(sender_id, caller.fake_domain))
        found.append(record)
    return found


def flags_of(own: _Own, my_groups: set[int]) -> list[str]:
    """The reader's flags on a message. What they never received is history to them: read, and mentioning nobody."""
    flags = ["read"] if own.is_read or not own.is_received else []
    marks = own.marks or []
    if not own.is_received:
        return [*flags, "historical", *(FLAG_NAMES[mark] for mark in marks if mark in (STARRED, COLLAPSED))]
    in_group = bool(own.groups) and not my_groups.isdisjoint(own.groups or ())
    if marks or in_group:
        flags += [FLAG_NAMES[mark] for mark in marks if mark in (STARRED, COLLAPSED)]
        flags += ["mentioned"] if MENTIONED in marks or in_group else []
    if own.wildcard:
        flags += _wildcards(own)
    if in_group:
        flags.append("group_mentioned")
    if ALERTED in marks:
        flags.append("has_alert_word")
    return flags


def _wildcards(own: _Own) -> list[str]:
    flags = []
    if own.wildcard & _OF_CHANNEL:
        flags.append("stream_wildcard_mentioned")
    if own.wildcard & _OF_TOPIC and own.takes_part:
        flags.append("topic_wildcard_mentioned")
    return [*flags, "wildcard_mentioned"] if flags else []


async def _marker(reader: Reader, look: Look, rows: Sequence[Any]) -> Marker | None:
    if look.query is None:
        return None
    return await marker_for(reader, look.query, [row[22] for row in rows], {row[7] for row in rows if row[7]})


def _written(json: str) -> Any:
    """What PostgreSQL has written already goes out as it is."""
    return msgspec.Raw(json.encode())


@functools.lru_cache(maxsize=256)
def linkifiers_of(json: str | None) -> tuple[Linkifier, ...]:
    """The organization's linkifiers, in their order."""
    return msgspec.json.decode(json, type=tuple[Linkifier, ...]) if json else ()


@functools.lru_cache(maxsize=8192)
def links_of(topic: str, linkifiers: tuple[Linkifier, ...]) -> tuple[TopicLink, ...]:
    """The links in a topic; the same few topics are shown again and again."""
    return topic_links(topic, linkifiers)
