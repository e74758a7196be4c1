"""SQL of notices: one statement per function. Claiming them joins all that sending needs: messaging/sending/statements.py."""

from collections.abc import Sequence

from tertulia.kernel.db import Transaction


async def insert_notices(tx: Transaction, realm_id: int, bodies: Sequence[str]) -> None:
    """Something to say, as JSON."""
    sql = "insert into notice (realm_id, body) select $1, body::jsonb from unnest($2::text[]) as told(body)"
    await tx.execute(sql, realm_id, bodies)


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
