"""Telling limited guests what somebody is up to whom they come to see."""

from collections.abc import Mapping, Sequence

import msgspec

from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Transaction
from tertulia.people.statuses import queries


async def tell_statuses(tx: Transaction, realm_id: int, seen: Mapping[int, Sequence[int]]) -> None:
    """`seen`: people, each with the guests who come to see them. All of a status: the guests may know an earlier one."""
    for status in await queries.statuses_of(tx, sorted(seen)):
        to = Audience(users=tuple(sorted(seen[status.user_id])))
        tx.emit(realm_id, record(to, "user_status", msgspec.structs.asdict(status)))
