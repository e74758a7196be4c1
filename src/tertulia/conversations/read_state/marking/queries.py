"""SQL that changes read state and flags: one statement per function.

Each statement locks the user's read states in the order everybody locks them in, and changes only what it found under
the lock. The sets are unpacked once (`+ '{}'`), not for each message.
"""

from collections.abc import Sequence

from tertulia.conversations.read_state.marks import Mark
from tertulia.conversations.read_state.model import UnreadAgain
from tertulia.conversations.read_state.statements import IS_MUTED, NOT_MUTED_SENDER, is_mention
from tertulia.kernel.db import Transaction
from tertulia.kernel.locking import lock_all
from tertulia.organization.groups.webs.statements import climbing
from tertulia.people.users.queries import hold_active_account

MAX_LISTED = 50_000
"""Of more messages that become read at once, the newest so many are told: clients know no more unread ones either."""

FEW = 1000
"""Messages that are marked at once in a moment."""
_BY_GAPS_BELOW = 100_000
"""Up to so many unread messages in a channel, those of a topic are found among them; else among the topic's messages."""

MOST_HISTORY_BYTES = 131_072
"""Of a history to which messages from before somebody came are added, by marking them unread: about 18,000 pieces as it is kept.
Each queue of theirs reads it, and whoever changes a message there (docs/decisions/0186)."""

_READ_MESSAGES = f"""
with wanted as materialized (
    select id, conversation_id, seq, sender_id from message where id = any($2::bigint[])
), held as materialized (
    select conversation_id, read + '{{}}' as read, history + '{{}}' as history from read_state
    where user_id = $1 and upper_inf(history) and conversation_id in (select conversation_id from wanted)
    order by conversation_id, user_id for update
), changed as materialized (
    select wanted.id, wanted.conversation_id, wanted.seq from wanted join held using (conversation_id)
    where wanted.seq <@ held.history and not wanted.seq <@ held.read and {NOT_MUTED_SENDER}
), stored as (
    update read_state set read = read_state.read + new.seqs
    from (select conversation_id, range_agg(int8range(seq, seq + 1)) as seqs from changed group by conversation_id) as new
    where read_state.conversation_id = new.conversation_id and read_state.user_id = $1
)
select array(select id from changed order by id)
"""

# Whoever belongs to a channel may read its history, unless it is protected: then what they did not receive is not theirs. Nor is
# it if their history is one of very many pieces already.
_UNREAD_MESSAGES = f"""
with recursive {climbing("$1")}, wanted as materialized (
    select id, conversation_id, seq, sender_id, topic_id, wildcard from message where id = any($2::bigint[])
), held as materialized (
    select read_state.conversation_id, read + '{{}}' as read, history + '{{}}' as history, conversation.participants,
           coalesce(channel.history_public_to_subscribers, true) and pg_column_size(history) < {MOST_HISTORY_BYTES} as may_grow
    from read_state join conversation on conversation.id = read_state.conversation_id
    left join channel on channel.id = read_state.conversation_id
    where read_state.user_id = $1 and upper_inf(history)
        and read_state.conversation_id in (select conversation_id from wanted)
    order by read_state.conversation_id, read_state.user_id for update of read_state
), changed as materialized (
    select wanted.*, held.participants from wanted join held using (conversation_id)
    where (wanted.seq <@ held.read or not wanted.seq <@ held.history) and (wanted.seq <@ held.history or held.may_grow)
        and {NOT_MUTED_SENDER}
), stored as (
    update read_state set read = read_state.read - new.seqs, history = read_state.history + new.seqs
    from (select conversation_id, range_agg(int8range(seq, seq + 1)) as seqs from changed group by conversation_id) as new
    where read_state.conversation_id = new.conversation_id and read_state.user_id = $1
)
select changed.id, changed.conversation_id, topic.name as topic, changed.participants, {IS_MUTED} as is_muted,
       {is_mention("$1", "changed")} as is_mention
from changed left join topic on topic.id = changed.topic_id
left join topic_policy on topic_policy.user_id = $1 and topic_policy.topic_id = changed.topic_id
left join subscription on subscription.user_id = $1 and subscription.channel_id = changed.conversation_id
order by changed.id
"""

_HELD_CHANNEL = """
held as materialized (
    select read_state.conversation_id, gaps, (select coalesce(sum(upper(gap) - lower(gap)), 0) from unnest(gaps) as gap) as width
    from read_state join conversation on conversation.id = read_state.conversation_id, lateral (
        select history * int8multirange(int8range(1, last_seq + 1)) - read as gaps offset 0
    ) as unread
    where read_state.user_id = $1 and read_state.conversation_id = $2 and upper_inf(history)
    for update of read_state
)
"""

_IN_GAPS = """
select message.* from held, unnest(gaps) as gap, lateral (
    select id, conversation_id, seq, sender_id, topic_id from message
    where message.conversation_id = held.conversation_id and seq >= lower(gap) and seq < upper(gap) offset 0
) as message
"""

_READ_CHANNEL = f"""
with {_HELD_CHANNEL}, unread as materialized ({_IN_GAPS}), stored as (
    update read_state set read = read_state.read + held.gaps from held
    where read_state.conversation_id = held.conversation_id and read_state.user_id = $1 and not isempty(held.gaps)
)
select array(select id from unread where {NOT_MUTED_SENDER} order by id desc limit $3)
"""

_READ_TOPIC = f"""
with {_HELD_CHANNEL}, unread as materialized (
    {_IN_GAPS} where held.width <= {_BY_GAPS_BELOW} and message.topic_id = $4
    union all
    select message.* from held, lateral (
        select id, conversation_id, seq, sender_id, topic_id from message
        where message.topic_id = $4 and seq <@ held.gaps offset 0
    ) as message
    where held.width > {_BY_GAPS_BELOW}
), stored as (
    update read_state set read = read_state.read + new.seqs
    from (select conversation_id, range_agg(int8range(seq, seq + 1)) as seqs from unread group by conversation_id) as new
    where read_state.conversation_id = new.conversation_id and read_state.user_id = $1
)
select array(select id from unread where {NOT_MUTED_SENDER} order by id desc limit $3)
"""


_READ_SENDER = """
with held as materialized (
    select read_state.conversation_id, history * int8multirange(int8range(1, last_seq + 1)) - read as gaps
    from read_state join conversation on conversation.id = read_state.conversation_id
    where read_state.user_id = $1 and upper_inf(history)
    order by read_state.conversation_id, read_state.user_id for update of read_state
), unread as materialized (
    select message.* from held, unnest(gaps) as gap, lateral (
        select id, conversation_id, seq from message
        where message.conversation_id = held.conversation_id and seq >= lower(gap) and seq < upper(gap)
            and sender_id = $2 offset 0
    ) as message
), stored as (
    update read_state set read = read_state.read + new.seqs
    from (select conversation_id, range_agg(int8range(seq, seq + 1)) as seqs from unread group by conversation_id) as new
    where read_state.conversation_id = new.conversation_id and read_state.user_id = $1
)
select array(select id from unread order by id desc limit $3)
"""


# The places of a realm are in 256 parts (`place_of`), each conversation in one: whoever marks messages of thousands of
# conversations fits into the table of locks, and a large move meets those only who mark something in that part.


async def hold_places(tx: Transaction, realm_id: int, message_ids: Sequence[int]) -> None:
    """Until the commit none of the messages moves or goes: what is said of it then comes before that, or after.

    Senders take no part in this: a new message is where it is. Many messages take long, and cost.
    """
    if len(message_ids) > FEW:
        tx.holds_others_back()
    await tx.execute("select hold_places($1, $2::bigint[])", realm_id, message_ids)


async def hold_place(tx: Transaction, realm_id: int, conversation_id: int) -> None:
    """As `hold_places`, for all messages of a conversation, and those that would come to it."""
    sql = "select pg_advisory_xact_lock_shared(hashtextextended('places', place_of($1, $2)))"
    await tx.execute(sql, realm_id, conversation_id)


async def change_places(tx: Transaction, realm_id: int, conversation_ids: Sequence[int]) -> None:
    """Messages of these conversations are about to move or go: wait for those who mark some, and keep others waiting until
    the commit."""
    sql = """
    select pg_advisory_xact_lock(hashtextextended('places', place)) from (
        select distinct place_of($1, id) as place from unnest($2::bigint[]) as changed(id) order by place
    ) as ordered
    """
    tx.holds_others_back()  # also while it waits: whoever moves messages holds their conversations
    await tx.execute(sql, realm_id, conversation_ids)


async def read_messages(tx: Transaction, user_id: int, message_ids: Sequence[int]) -> list[int]:
    """Mark messages read; returns those that were unread, ascending."""
    found: list[int] = await tx.fetchval(_READ_MESSAGES, user_id, message_ids)
    return found


async def unread_messages(tx: Transaction, user_id: int, message_ids: Sequence[int]) -> list[UnreadAgain]:
    """Mark messages unread in conversations the user belongs to; returns those that were read, ascending."""
    return [UnreadAgain(**row) for row in await tx.fetch(_UNREAD_MESSAGES, user_id, message_ids)]


async def read_channel(tx: Transaction, user_id: int, channel_id: int) -> list[int]:
    """Mark everything in a channel read; returns the newest of what was unread, ascending."""
    newest: list[int] = await tx.fetchval(_READ_CHANNEL, user_id, channel_id, MAX_LISTED)
    return newest[::-1]


async def read_topic(tx: Transaction, user_id: int, channel_id: int, topic_id: int) -> list[int]:
    """Mark everything in a topic read; returns the newest of what was unread, ascending."""
    newest: list[int] = await tx.fetchval(_READ_TOPIC, user_id, channel_id, MAX_LISTED, topic_id)
    return newest[::-1]


async def read_sender(tx: Transaction, user_id: int, sender_id: int) -> list[int]:
    """Mark everything somebody sent read; returns the newest of what was stored as unread, ascending."""
    newest: list[int] = await tx.fetchval(_READ_SENDER, user_id, sender_id, MAX_LISTED)
    return newest[::-1]


async def lock_everything(tx: Transaction, user_id: int, other_id: int | None = None) -> list[int]:
    """Hold senders back in every conversation the user belongs to, hold the account, which whoever puts them into another one
    needs, and what the user has read. Returns which conversations these are. The account of another, if one is given, stays.

    All at once: who held the conversations and waited for the account, or for a mark of many messages, would stop senders.
    Of the two accounts the lower number comes first: two people who mute each other would else wait in a circle.
    """
    sql = """
    with held as materialized (
        select id from conversation
        where id in (select conversation_id from read_state where user_id = $1 and upper_inf(history)) order by id for share
    ), lower as materialized (
        -- after the conversations, as everybody does
        select id from account where id = $2 and id < $1 and (select count(*) from held) >= 0 for key share
    ), own as materialized (
        select id from account where id = $1 and (select count(*) from held) + (select count(*) from lower) >= 0 for update
    ), upper as materialized (
        select id from account where id = $2 and id > (select own.id from own) for key share
    ), states as materialized (
        select conversation_id from read_state where user_id = (select own.id from own) and upper_inf(history)
        order by conversation_id for update
    )
    select array(select held.id from held) as conversations, (select count(*) from upper), (select count(*) from states)
    from own
    """
    # What one person does at once waits in a queue for the own account, and does not try for luck.
    [row] = await lock_all(tx, sql, user_id, other_id, first=lambda: hold_active_account(tx, user_id))
    found: list[int] = row["conversations"]
    return found


async def belongs_to_no_other(tx: Transaction, user_id: int, conversation_ids: Sequence[int]) -> bool:
    """Whether the user is in no conversation but these, for whoever holds everything."""
    sql = """
    select not exists (
        select from read_state where user_id = $1 and upper_inf(history)
          and conversation_id not in (select unnest($2::bigint[]))
    )
    """
    return bool(await tx.fetchval(sql, user_id, conversation_ids))


async def read_everything(tx: Transaction, user_id: int) -> bool:
    """Mark everything read, for whoever holds everything; returns whether anything was unread."""
    sql = """
    with unread as materialized (
        select read_state.conversation_id, history * int8multirange(int8range(1, last_seq + 1)) - read as gaps
        from read_state join conversation on conversation.id = read_state.conversation_id
        where read_state.user_id = $1 and upper_inf(history)
    )
    update read_state set read = read_state.read + unread.gaps from unread
    where read_state.conversation_id = unread.conversation_id and read_state.user_id = $1 and not isempty(unread.gaps)
    """
    return (await tx.execute(sql, user_id)) != "UPDATE 0"


async def add_mark(tx: Transaction, user_id: int, mark: Mark, message_ids: Sequence[int]) -> list[int]:
    """Put a flag on messages that exist; returns those that had it not, ascending."""
    sql = """
    with held as materialized (
        select id from message where id = any($3::bigint[]) order by id for key share
    ), stored as (
        insert into message_mark (user_id, flag, message_id) select $1, $2, id from held order by id
        on conflict do nothing returning message_id
    )
    select message_id from stored order by message_id
    """
    return [row["message_id"] for row in await tx.fetch(sql, user_id, mark, message_ids)]


async def remove_mark(tx: Transaction, user_id: int, mark: Mark, message_ids: Sequence[int]) -> list[int]:
    """Take a flag off messages; returns those that had it, ascending."""
    sql = """
    with gone as (
        delete from message_mark where ctid = any(array(
            select ctid from message_mark where user_id = $1 and flag = $2 and message_id = any($3::bigint[])
            order by message_id for update
        )) returning message_id
    )
    select message_id from gone order by message_id
    """
    return [row["message_id"] for row in await tx.fetch(sql, user_id, mark, message_ids)]


async def forget_marks(tx: Transaction, user_id: int) -> None:
    """Take all marks from somebody: stars, mentions, alert words."""
    sql = """
    delete from message_mark where ctid = any(array(
        select ctid from message_mark where user_id = $1 order by message_id, flag for update
    ))
    """
    await tx.execute(sql, user_id)
