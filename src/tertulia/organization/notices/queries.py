"""SQL of notices: one statement per function. Claiming them joins all that sending needs: messaging/sending/statements.py."""

from collections.abc import Sequence

from tertulia.kernel.db import Reader, Transaction

CAUSER = """
lateral (
    select coalesce(bot_owner_id, id) as person_id from account
    where id = coalesce(notice.body->>'read_by', notice.body->>'seen_by', notice.body->>'user_id')::bigint offset 0
) as causer
"""
"""Who did what a notice tells of, themselves or by a bot; of what nobody did, whom it is for."""


async def languages_of(reader: Reader, user_ids: Sequence[int]) -> dict[int, str]:
    """In which language each of these people wants to be told something."""
    sql = (
        "select id, coalesce(settings->>'default_language', 'en') as language from account where id = any($1::bigint[])"
    )
    return {row["id"]: row["language"] for row in await reader.fetch(sql, user_ids)}


async def language_of(reader: Reader, user_id: int) -> str:
    """In which language somebody who exists wants to be told something."""
    return (await languages_of(reader, [user_id]))[user_id]


async def insert_notices(tx: Transaction, realm_id: int, bodies: Sequence[str]) -> None:
    """Something to say, as JSON."""
    sql = "insert into notice (realm_id, body) select $1, body::jsonb from unnest($2::text[]) as told(body)"
    await tx.execute(sql, realm_id, bodies)


async def count_caused(tx: Transaction, person_id: int, limit: int) -> int:
    """How many notices wait that somebody with their bots is the cause of, counted so far."""
    sql = f"""
    select count(*) from (
        select from notice cross join {CAUSER} where person_id = $1 limit $2
    ) as counted
    """
    return int(await tx.fetchval(sql, person_id, limit))


async def delete_notices(tx: Transaction, notice_ids: Sequence[int]) -> None:
    """They are said, or cannot be."""
    await tx.execute("delete from notice where id = any($1::bigint[])", notice_ids)


async def postpone_notices(tx: Transaction, notice_ids: Sequence[int]) -> None:
    """What cannot be sent is tried again, ever more seldom, and is in nobody's way meanwhile."""
    sql = """
    update notice set attempts = attempts + 1, due = now() + make_interval(mins => least(power(2, attempts), 1440)::int)
    where id = any($1::bigint[])
    """
    await tx.execute(sql, notice_ids)
