"""SQL that resolves the names in a narrow: one statement per function."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tertulia.conversations.channels.rights import MAY_READ, MAY_SEE
from tertulia.kernel.db import Reader
from tertulia.messaging.narrows.search import WORDS, Query, words_asked
from tertulia.organization.groups.webs.statements import climbing


class ChannelNamed(msgspec.Struct, frozen=True):
    """A channel that a narrow names, and what it is to the reader."""

    id: int
    size: int
    """The number of its last message."""
    may_read: bool
    is_history_public: bool


# By the one or by the other, never either of them: then its plan is made once (kernel/lists.py).
_CHANNEL = f"""
select channel.id, conversation.last_seq as size, coalesce({MAY_READ}, false) as may_read,
       channel.history_public_to_subscribers as is_history_public
from channel join conversation on conversation.id = channel.id left join account on account.id = $2
where channel.realm_id = $1 and {{named}} and {MAY_SEE}
    and (account.id is not null or not channel.is_archived)
"""

_CHANNEL_WITH_ID = _CHANNEL.format(named="channel.id = $3")
_CHANNEL_WITH_NAME = _CHANNEL.format(named="channel.name_key = $3")

# Anonymous groups are left out: nobody mentions those.
_GROUPS = f"with recursive {climbing('$1')} select id from climbed order by id"

# Ids grow with time, but for moments in which several messages are sent at once: a margin covers these.
_FIRST_SINCE = """
with recursive search(low, high) as (
    select 0::bigint, (select coalesce(max(id), 0) + 1 from message)
    union all
    select case when probe.is_before then probe.id + 1 else low end,
           case when probe.is_before then high else middle end
    from search, lateral (select (low + high) / 2 as middle offset 0) as half, lateral (
        select coalesce(min(near.id), middle) as id, coalesce(bool_and(near.sent_at < $1::timestamptz), false) as is_before
        from (
            select id, sent_at from message where id >= middle and id < high order by id limit 1
        ) as near
    ) as probe
    where low < high
)
select min(high) from search where low >= high
"""


async def find_channel(reader: Reader, realm_id: int, user_id: int, named: int | str, key: str) -> ChannelNamed | None:
    """A channel of the realm that the reader may at least know of, by id or by the key of its name."""
    is_id = isinstance(named, int)
    if is_id and not 0 < int(named) < 2**63:
        return None
    if is_id:
        row = await reader.fetchrow(_CHANNEL_WITH_ID, realm_id, user_id, named)
    else:
        row = await reader.fetchrow(_CHANNEL_WITH_NAME, realm_id, user_id, key)
    return ChannelNamed(**row) if row else None


async def find_topic(reader: Reader, channel_id: int, key: str) -> int | None:
    """A topic of a channel."""
    sql = "select id from topic where conversation_id = $1 and name_key = $2"
    found: int | None = await reader.fetchval(sql, channel_id, key)
    return found


async def find_direct(reader: Reader, realm_id: int, participants: Sequence[int]) -> int | None:
    """The conversation of exactly these people."""
    sql = "select id from conversation where realm_id = $1 and participants = $2::bigint[]"
    found: int | None = await reader.fetchval(sql, realm_id, participants)
    return found


async def directs_with(reader: Reader, user_id: int, other_id: int, *, groups_only: bool) -> tuple[int, ...]:
    """The reader's direct conversations that another user takes part in."""
    sql = """
    select conversation.id from read_state join conversation on conversation.id = read_state.conversation_id
    where read_state.user_id = $1 and participants @> array[$2::bigint] and ($3 is false or cardinality(participants) > 2)
    """
    return tuple(row["id"] for row in await reader.fetch(sql, user_id, other_id, groups_only))


async def known_users(reader: Reader, realm_id: int, user_ids: Sequence[int]) -> set[int]:
    """Those of the users who are in the realm."""
    sql = "select id from account where realm_id = $1 and id = any($2::bigint[])"
    possible = [user_id for user_id in user_ids if 0 < user_id < 2**63]
    return {row["id"] for row in await reader.fetch(sql, realm_id, possible)}


async def groups_of(reader: Reader, user_id: int) -> tuple[int, ...]:
    """The named groups a user belongs to, at any depth."""
    return tuple(row["id"] for row in await reader.fetch(_GROUPS, user_id))


async def first_id_since(reader: Reader, moment: datetime) -> int:
    """An id before which no message was sent at that moment or later; a search by halves along the ids."""
    found: int | None = await reader.fetchval(_FIRST_SINCE, moment)
    return found or 0


_TOTAL = "select greatest(reltuples, 0)::bigint from pg_class where oid = 'message'::regclass"
_ASKED = f"""
select made.query::text as query, ({_TOTAL}) as total
from ({WORDS.format(every=True, words="$1::text[]", also="$2::text[]", phrases="$3::text[]")}) as made
"""


async def estimate_hits(reader: Reader, query: Query) -> tuple[int, int]:
    """How many messages hold all the words and phrases, and how many there are, as the planner believes."""
    asked = await reader.fetchrow(_ASKED, *words_asked(query).values())
    assert asked is not None
    if asked["query"] is None:
        return 0, asked["total"]
    plan = await reader.fetchval(
        "explain (format json) select from message where search @@ $1::text::tsquery", asked["query"]
    )
    return msgspec.json.decode(plan)[0]["Plan"]["Plan Rows"], asked["total"]


async def stems_of(reader: Reader, words: Sequence[str]) -> tuple[str, dict[str, list[str]]]:
    """The language of search, and what it knows words by; nothing for stop words."""
    sql = """
    select search_language()::text as language, word, tsvector_to_array(to_tsvector(search_language(), word)) as stems
    from (select) as once left join unnest($1::text[]) as word on true
    """
    rows = await reader.fetch(sql, words)
    return rows[0]["language"], {row["word"]: row["stems"] for row in rows if row["word"] is not None}


async def ignored_words(reader: Reader, words: Sequence[str]) -> list[str]:
    """Which of these words a search leaves out, in the language of the index."""
    sql = "select word from unnest($1::text[]) as word where length(to_tsvector(search_language(), word)) = 0"
    return [row["word"] for row in await reader.fetch(sql, words)]
