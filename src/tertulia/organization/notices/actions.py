"""Writing notices down."""

from collections.abc import Sequence

import msgspec

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.organization.notices.bounds import TOLD
from tertulia.organization.notices.model import Notice
from tertulia.organization.notices.queries import count_caused, insert_notices

FOLLOW_UP = "notices"
"""What follows the commit of a transaction with notices; the messages feature does it."""


async def tell(tx: Transaction, realm_id: int, notices: Sequence[Notice]) -> None:
    """Have the notification bot say this once the transaction is committed."""
    if not notices:
        return
    await insert_notices(tx, realm_id, [msgspec.json.encode(notice).decode() for notice in notices])
    tx.follow_up(FOLLOW_UP)


async def may_tell(tx: Transaction, caller: Caller) -> bool:
    """Whether people are told one by one of what the caller does to them: not while very much that they caused waits."""
    limit = tx.bounds.limit(TOLD)
    return await count_caused(tx, caller.person_id, limit) < limit
