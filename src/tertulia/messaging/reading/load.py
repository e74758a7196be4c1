"""Messages as one reader sees them: the rows, what belongs to them, and the reader's own flags.

One statement brings everything that most messages need; what few messages have (changes, mentions of groups) is asked for only
if one of them has it. Rows are taken apart by position and written once: this is the dearest part of a fetch in Python.

How large an answer may become is decided by the database, before it sends a text: of messages that are too long together it
gives those nearest to the anchor. On each side of the anchor there is always one, so that whoever goes on asking gets on. Nearly
always everything fits, which is all that the first statement has to find out; the dearer one that chooses comes only if not. Of
what others have piled onto messages neither reads more than it can show: that is counted first, and no further than that.
"""

import asyncio
import functools
from collections.abc import Sequence
from typing import Any

import msgspec

from tertulia.content.markup import Linkifier, TopicLink, topic_links
from tertulia.conversations.read_state.marks import Concern, Wildcard, flags_for
from tertulia.conversations.read_state.statements import calls, muting, takes_part
from tertulia.conversations.topics.rules import shown_topic
from tertulia.kernel.auth import Caller
from tertulia.kernel.bounds import MAX_ANSWER_BYTES
from tertulia.kernel.db import Reader
from tertulia.messaging.narrows.queries import groups_of
from tertulia.messaging.narrows.search import Query
from tertulia.messaging.narrows.stems import Marker, marker_for
from tertulia.messaging.reading.model import MessageRecord
from tertulia.messaging.reading.revisions import MAX_SHOWN_CHARACTERS, UNCHANGED, changes_of
from tertulia.organization.custom_emoji.model import EXTRA
from tertulia.organization.realms.settings import settings_of
from tertulia.people.users.visibility.actions import hidden_from, unknown_sender

TURN = 500
"""So many messages are put together before others have their turn: some 20 ms."""
MOST_PILED = 50_000
"""Reactions, what widgets were told, and changes, of all messages of an answer: some megabytes of JSON. One message may have more
than 10,000 of them, and to write those of a hundred messages would take whoever reads there half a minute."""
PORTION = 50
"""Messages of which is counted at a time what is piled onto them."""


class Look(msgspec.Struct, frozen=True):
    """How a reader wants messages to look."""

    apply_markdown: bool = True
    allow_empty_topic_name: bool = False
    query: Query | None = None
    """What the reader searched for: it is marked in `match_content` and `match_subject`."""
    extra_emoji_type: str = EXTRA
    """How the reader's client spells the type of the service's own emoji."""


class Loaded(msgspec.Struct, frozen=True):
    """Messages, and whether that is all of them."""

    messages: list[MessageRecord]
    is_cut: bool = False
    """There would have been more, which did not fit."""


# The weight of a message is about its length as JSON; `octet_length` tells that of a long text without reading it.
# `{where}` is filled in below.
# What is the same for many messages is worked out once: where they are (`place`), their topics (`titled`). What few messages
# have comes in one table (`extra`), so that the texts are carried through few joins. `offset 0`, `any(array(...))`: looks at an
# index, never a whole table in a hash.
# The reader's state is cut to the span that is shown, and so is small: testing each number against a stored set would unpack
# that set each time.
_LOAD = f"""
with wanted as materialized (
    select id, conversation_id, seq, topic_id, sender_id, client, content, rendered, sent_at, wildcard
    from message where id = any($1::bigint[])
), span as (
    select conversation_id, int8multirange(int8range(min(seq), max(seq), '[]')) as seqs, count(*) as messages
    from wanted group by conversation_id
), place as materialized (
    select span.conversation_id, messages, cardinality(participants) as people_count, channel.name as channel,
        case when channel.id is null then (
            select json_agg(json_build_object('id', person.id, 'email', api_email(person, $4), 'full_name', person.full_name,
                'is_mirror_dummy', false) order by person.id)::text
            from account as person where person.id = any(conversation.participants)
        ) end as people,
        history * seqs as history,
        -- In a channel somebody has left nothing is unread.
        case when upper_inf(history) then read * seqs when history is not null then seqs end as read
    from span join conversation on conversation.id = span.conversation_id
    left join channel on channel.id = span.conversation_id
    left join read_state on read_state.conversation_id = span.conversation_id and read_state.user_id = $2
), titled as materialized (
    select topic.id, topic.name, exists (
        select from message_revision where message_revision.topic_id = topic.id offset 0
    ) as is_changed
    from topic where id = any(array(select topic_id from wanted))
), piled as materialized (
    select count(*) > {MOST_PILED} as is_over from (
        select from reaction where message_id = any($1)
        union all select from submessage where message_id = any($1)
        union all select from message_revision where message_id = any($1) limit {MOST_PILED} + 1
    ) as counted
), extra as materialized (
    select message_id, max(flags) as flags, max(groups) as groups, max(reactions) as reactions,
        max(submessages) as submessages, max(size) as size
    from (
        select message_id, array_agg(flag order by flag) as flags, null::bigint[] as groups, null as reactions,
            null as submessages, null::bigint as size
        from message_mark where message_id = any($1) and user_id = $2 group by message_id
        union all
        select message_id, null, array_agg(group_id), null, null, null
        from message_group_mention where message_id = any($1) group by message_id
        union all
        select message_id, null, null, json_agg(json_build_object('emoji_name', emoji_name, 'emoji_code', emoji_code,
            'reaction_type', case reaction_type when 'service_extra_emoji' then $6 else reaction_type end,
            'user_id', user_id) order by reacted_at, user_id, emoji_code)::text, null, null
        from reaction where message_id = any($1) and {{may_read_piled}} group by message_id
        union all
        select message_id, null, null, null, json_agg(json_build_object('id', id, 'message_id', message_id,
            'sender_id', sender_id, 'msg_type', msg_type, 'content', content) order by id)::text, null
        from submessage where message_id = any($1) and {{may_read_piled}} group by message_id
        union all
        select message_id, null, null, null, null, least(sum(size), {MAX_SHOWN_CHARACTERS}) + max(size)
        from message_revision where message_id = any($1) and {{may_read_piled}} group by message_id
    ) as found group by message_id
)
select wanted.id, wanted.conversation_id, sender_id, client, case when $3 then rendered else content end,
       starts_with(content, '/me '), extract(epoch from sent_at)::bigint, titled.name, place.channel,
       account.full_name,
       -- Whoever has no account sees no address of a person.
       case when $2 = 0 and account.bot_type is null then 'user' || account.id::text || '@' || $4
           else api_email(account, $4) end,
       avatar_url(account), place.people,
       coalesce(seq <@ place.history, false),
       seq <@ place.read or exists ({muting("$2", "wanted")} offset 0),
       wildcard,
       {calls(Wildcard.TOPIC, "wanted")} and {takes_part("$2", "wanted", " offset 0")},
       extra.flags, extra.groups, extra.reactions, extra.submessages,
       extra.size is not null or coalesce(titled.is_changed, false),
       case when $7 then rendered end,
       (select json_agg(json_build_object('pattern', pattern, 'url_template', url_template) order by position)::text
        from linkifier where realm_id = $5)
from wanted join account on account.id = sender_id and account.id = any(array(select sender_id from wanted))
join place on place.conversation_id = wanted.conversation_id
left join titled on titled.id = wanted.topic_id left join extra on extra.message_id = wanted.id
{{where}}
order by wanted.id
"""
_ALL = _LOAD.format(
    may_read_piled="not (select is_over from piled)",
    where="""where not (select is_over from piled)
    and (select coalesce(sum(octet_length(case when $3 then rendered else content end)
        + case when $7 then 2 * octet_length(rendered) else 0 end), 0) from wanted)
    + (select coalesce(sum(messages * 150 * people_count), 0) from place)
    + (select coalesce(sum(coalesce(octet_length(reactions), 0) + coalesce(octet_length(submessages), 0) + coalesce(size, 0)), 0)
       from extra) < $8""",
)
_NEAREST = _LOAD.format(
    may_read_piled="true",
    where="""join (
    select id, sum(weight) over (
        partition by id < $9, id > $9 order by abs(id - $9) rows between unbounded preceding and 1 preceding
    ) as nearer
    from (
        select wanted.id, octet_length(case when $3 then rendered else content end)
            + case when $7 then 2 * octet_length(rendered) else 0 end + coalesce(150 * people_count, 0)
            + coalesce(octet_length(reactions), 0) + coalesce(octet_length(submessages), 0) + coalesce(size, 0) as weight
        from wanted join place on place.conversation_id = wanted.conversation_id
        left join extra on extra.message_id = wanted.id
    ) as weighed
) as placed on placed.id = wanted.id
where nearer is null or nearer < $8""",
)
_PILED = """
select (select count(*) from reaction where message_id = wanted.id)
    + (select count(*) from submessage where message_id = wanted.id)
    + (select count(*) from message_revision where message_id = wanted.id) as number
from unnest($1::bigint[]) with ordinality as wanted(id, place) order by place
"""


async def load(reader: Reader, caller: Caller, ids: Sequence[int], look: Look, *, anchor: int = 0) -> Loaded:
    """Messages the reader may see, with their flags, by id: as many as fit, those nearest to the anchor."""
    if not ids:
        return Loaded([])
    arguments = (
        look.apply_markdown,
        caller.fake_domain,
        caller.realm_id,
        look.extra_emoji_type,
        look.query is not None,
    )
    rows = await reader.fetch(_ALL, ids, caller.user_id, *arguments, MAX_ANSWER_BYTES)
    is_cut = not rows
    if is_cut:
        each_side = MAX_ANSWER_BYTES // 2 if ids[0] < anchor < ids[-1] else MAX_ANSWER_BYTES
        before, after = [id for id in reversed(ids) if id < anchor], [id for id in ids if id >= anchor]
        few = sorted([*await _with_few_piled(reader, before), *await _with_few_piled(reader, after)])
        rows = await reader.fetch(_NEAREST, few, caller.user_id, *arguments, each_side, anchor)
    settings = settings_of(caller)
    changed_ids = [row[0] for row in rows if row[21]]
    allow_empty = look.allow_empty_topic_name
    changed = await changes_of(reader, changed_ids, settings, allow_empty=allow_empty) if changed_ids else {}
    hidden = await hidden_from(reader, caller, {row[2] for row in rows})
    my_groups = set(await groups_of(reader, caller.user_id)) if any(row[18] for row in rows) else set()
    marker = await _marker(reader, look, rows)
    marked = await marker.mark_all([row[22] for row in rows]) if marker else ()
    show_topic = functools.partial(shown_topic, settings=settings, allow_empty=allow_empty)
    content_type = "text/html" if look.apply_markdown else "text/x-markdown"
    links = linkifiers_of(rows[0][23]) if rows else ()
    found = []
    for place, row in enumerate(rows):
        if place % TURN == TURN - 1:
            await asyncio.sleep(0)  # others have their turn
        (
            id, conversation_id, sender_id, client, content, is_me, sent_at, topic, channel, full_name, email, avatar_url,
            people, is_received, is_read, wildcard, takes_part, marks, groups, reactions, submessages, is_changed, _, _,
        ) = row  # fmt: skip
        is_channel = channel is not None
        subject = (topic or show_topic(topic)) if is_channel else ""
        changes = changed.get(id, UNCHANGED) if is_changed else UNCHANGED
        in_group = groups is not None and not my_groups.isdisjoint(groups)
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
            flags=flags_for(Concern(is_received, is_read, marks or (), in_group, wildcard, takes_part))
            if caller.user_id
            else ["read"],
            match_content=marked[place] if marker else msgspec.UNSET,
            match_subject=marker.mark_text(subject) if marker else msgspec.UNSET,
        )
        if sender_id in hidden:
            record = msgspec.structs.replace(record, **unknown_sender(sender_id, caller.fake_domain))
        found.append(record)
    return Loaded(found, is_cut and len(rows) < len(ids))


async def _with_few_piled(reader: Reader, ids: Sequence[int]) -> list[int]:
    """The first of these messages, as many as not too much is piled onto together, but always one."""
    found: list[int] = []
    room = MOST_PILED
    for start in range(0, len(ids), PORTION):
        portion = ids[start : start + PORTION]
        for id, row in zip(portion, await reader.fetch(_PILED, portion), strict=True):
            room -= row["number"]
            if room < 0 and found:
                return found
            found.append(id)
    return found


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
