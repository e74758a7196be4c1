"""SQL of the messages feature besides sending: one statement per function."""

from collections.abc import Sequence

import msgspec

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


async def find_recipients(reader: Reader, view: View, ids: Sequence[int], email_keys: Sequence[str]) -> list[Recipient]:
    """The users of the sender's realm with these ids, or with these addresses, if the sender sees them."""
    sql = f"""
    select id, api_email(account, $3::text) as email, full_name, is_active,
        case when email_key = any($6::text[]) and {SEES_EMAIL} then email_key end as found_by
    from account where realm_id = $4 and (id = any($5::bigint[]) or (email_key = any($6::text[]) and {SEES_EMAIL}))
    """
    return [Recipient(**row) for row in await reader.fetch(sql, *view.arguments, view.realm_id, ids, email_keys)]


async def find_sent(reader: Reader, sender_id: int, key: str) -> int | None:
    """The message a sender sent with this key."""
    sql = "select message_id from sent_request where sender_id = $1 and key = $2"
    found: int | None = await reader.fetchval(sql, sender_id, key)
    return found


async def find_direct_conversation(reader: Reader, realm_id: int, participants: Sequence[int]) -> int | None:
    """The conversation of exactly these people."""
    sql = "select id from conversation where realm_id = $1 and participants = $2::bigint[]"
    found: int | None = await reader.fetchval(sql, realm_id, participants)
    return found


async def make_direct_conversation(tx: Transaction, realm_id: int, participants: Sequence[int]) -> int:
    """The conversation of exactly these people, made if it is new; every message in it is theirs."""
    sql = """
    with spoken as (
        insert into conversation (realm_id, participants) values ($1, $2::bigint[])
        on conflict (realm_id, participants) do update set last_seq = conversation.last_seq
        returning id
    ), states as (
        insert into read_state (conversation_id, user_id, history)
        select spoken.id, user_id, int8multirange(int8range(1, null)) from spoken, unnest($2::bigint[]) as user_id
        on conflict (conversation_id, user_id) do nothing
    )
    select id from spoken
    """
    return int(await tx.fetchval(sql, realm_id, participants))
