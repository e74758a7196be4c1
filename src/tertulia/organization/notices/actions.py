"""Writing notices down."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.db import Transaction
from tertulia.organization.notices.model import Notice
from tertulia.organization.notices.queries import insert_notices

FOLLOW_UP = "notices"
"""What follows the commit of a transaction with notices; the messages feature does it."""


async def tell(tx: Transaction, realm_id: int, notices: Sequence[Notice]) -> None:
    """Have the notification bot say this once the transaction is committed."""
    if not notices:
        return
    await insert_notices(tx, realm_id, [msgspec.json.encode(notice).decode() for notice in notices])
    tx.follow_up(FOLLOW_UP)
