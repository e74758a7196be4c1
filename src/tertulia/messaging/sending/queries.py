"""SQL about where a message goes and whether it was sent already: one statement per function."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.lists import planned_once
from tertulia.people.users.model import UserView
from tertulia.people.users.statements import SEES_EMAIL


class Recipient(msgspec.Struct, frozen=True):
    """Somebody a direct message goes to."""

    id: int
    email: str
    full_name: str
    is_active: bool
    found_by: str | None = None
    """The address that was asked for, if it was the real one."""
    bot_type: int | None = None


async def find_recipients(
    reader: Reader, view: UserView, ids: Sequence[int], email_keys: Sequence[str]
) -> list[Recipient]:
    """The users of the sender's realm with these ids, or with these addresses, if the sender sees them."""
    has_asked_address = f"(email_key = any({planned_once('$6::text[]')}) and {SEES_EMAIL})"
    sql = f"""
    select id, api_email(account, $3::text) as email, full_name, is_active,
        case when {has_asked_address} then email_key end as found_by, bot_type
    from account where realm_id = $4 and (id = any({planned_once("$5::bigint[]")}) or {has_asked_address})
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
