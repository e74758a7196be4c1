"""Accounts of which nothing is left but a number (messaging/erasure/): they never come back."""

from tertulia.kernel.db import Reader


async def is_erased(reader: Reader, user_id: int) -> bool:
    """Whether somebody was erased."""
    return bool(await reader.fetchval("select is_erased from account where id = $1", user_id))
