"""Accounts of which nothing is left but a number (messaging/erasure/): they never come back."""

from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.errors import Refusal


async def is_erased(reader: Reader, user_id: int) -> bool:
    """Whether somebody was erased."""
    return bool(await reader.fetchval("select is_erased from account where id = $1", user_id))


async def check_not_erased(tx: Transaction, user_id: int) -> None:
    """Refuse to bring somebody back, be it by a name only, as a directory would that knows it still. They are held."""
    if await is_erased(tx, user_id):
        raise Refusal("This account was erased, and does not come back. Make a new one.")
