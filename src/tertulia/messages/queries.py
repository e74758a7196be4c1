"""SQL of the messages feature besides sending: one statement per function."""

from collections.abc import Sequence

import asyncpg
import msgspec

from tertulia.channels.rights import MAY_READ_MESSAGE
from tertulia.kernel.db import Reader, Transaction
from tertulia.users.model import View
from tertulia.users.statements import SEES_EMAIL


class Recipient(msgspec.Struct, frozen=True):
    """Somebody a direct message goes to."""

    id: int
    email: str
    full_name: str
    is_active: bool
    found_by: str | None = None
    """The address that was asked for, if it was the real one."""
    bot_type: int | None = None


async def find_recipients(reader: Reader, view: View, ids: Sequence[int], email_keys: Sequence[str]) -> list[Recipient]:
    """The users of the sender's realm with these ids, or with these addresses, if the sender sees them."""
    sql = f"""
    select id, api_email(account, $3::text) as email, full_name, is_active,
        case when email_key = any($6::text[]) and {SEES_EMAIL} then email_key end as found_by, bot_type
    from account where realm_id = $4 and (id = any($5::bigint[]) or (email_key = any($6::text[]) and {SEES_EMAIL}))
    """
    return [Recipient(**row) for row in await reader.fetch(sql, *view.arguments, view.realm_id, ids, email_keys)]


async def find_sent(reader: Reader, sender_id: int, key: str) -> tuple[int, int | None] | None:
    """The message a sender sent with this key, and the policy for its topic that it brought them."""
    sql = "select message_id, policy from sent_request where sender_id = $1 and key = $2"
    row = await reader.fetchrow(sql, sender_id, key)
    return None if row is None else (row["message_id"], row["policy"])


async def has_messages(reader: Reader, channel_id: int, topic_key: str) -> bool:
    """Whether there is a topic of that name with messages."""
    sql = "select exists (select from topic where conversation_id = $1 and name_key = $2 and last_seq > 0)"
    return bool(await reader.fetchval(sql, channel_id, topic_key))


async def direct_place(
    reader: Reader, realm_id: int, sender_id: int, participants: Sequence[int]
) -> tuple[int | None, str | None]:
    """The conversation of exactly these people, if there is one, and why the sender may not write to them now."""
    sql = """
    select conversation.id,
        direct_refusal($2::bigint, $1::bigint, $3::bigint[], coalesce(conversation.last_seq, 0) = 0) as refusal
    from (select) as asked left join conversation on realm_id = $1 and participants = $3::bigint[]
    """
    row = await reader.fetchrow(sql, realm_id, sender_id, participants)
    assert row is not None
    return row["id"], row["refusal"]


async def make_direct_conversation(tx: Transaction, realm_id: int, participants: Sequence[int]) -> tuple[int, bool]:
    """The conversation of exactly these people, made if it is new, and whether it was; every message in it is theirs."""
    sql = """
    with spoken as (
        insert into conversation (realm_id, participants) values ($1, $2::bigint[])
        on conflict (realm_id, participants) do update set last_seq = conversation.last_seq
        returning id, xmax = 0 as is_new
    ), states as (
        insert into read_state (conversation_id, user_id, history)
        select spoken.id, user_id, int8multirange(int8range(1, null)) from spoken, unnest($2::bigint[]) as user_id
        on conflict (conversation_id, user_id) do nothing
    )
    select id, is_new from spoken
    """
    row = await tx.fetchrow(sql, realm_id, participants)
    assert row is not None
    return row["id"], row["is_new"]


_REACHED = f"""
select message.id, message.realm_id, message.conversation_id, message.seq, message.sender_id, message.sent_at,
       message.content, message.rendered, message.topic_id, topic.name as topic, channel.name as channel,
       coalesce(channel.is_archived, false) as is_archived, conversation.participants,
       coalesce(message.seq <@ read_state.history, false) as is_received,
       coalesce(upper_inf(read_state.history), false) as is_subscribed
from message join conversation on conversation.id = message.conversation_id
left join account on account.id = $2 and account.is_active
left join read_state on read_state.conversation_id = message.conversation_id and read_state.user_id = $2
left join channel on channel.id = message.conversation_id
left join topic on topic.id = message.topic_id
where message.id = any($3::bigint[]) and message.realm_id = $1
  and {MAY_READ_MESSAGE}
order by message.id
"""


async def reached_messages(
    reader: Reader, realm_id: int, user_id: int, message_ids: Sequence[int]
) -> list[asyncpg.Record]:
    """Those of the messages that a user may read; of a user without an account (0) those of web-public channels."""
    known = [message_id for message_id in message_ids if is_possible_id(message_id)]
    return await reader.fetch(_REACHED, realm_id, user_id, known)


async def lock_conversation_of(tx: Transaction, message_id: int) -> int | None:
    """Hold the conversation a message is in against everybody who writes to it; its id."""
    sql = """
    select id from conversation where id = (select conversation_id from message where id = $1) for no key update
    """
    found: int | None = await tx.fetchval(sql, message_id) if is_possible_id(message_id) else None
    return found


async def lock_message(tx: Transaction, message_id: int) -> int | None:
    """Hold a message; the conversation it is in, None if it was deleted."""
    sql = "select conversation_id from message where id = $1 for no key update"
    found: int | None = await tx.fetchval(sql, message_id) if is_possible_id(message_id) else None
    return found


def is_possible_id(message_id: int) -> bool:
    """Whether a message could have this id: the database knows no larger numbers."""
    return 0 < message_id < 2**63
