"""Telling limited guests the presence of somebody who becomes visible to them: later pings tell only what changes."""

import time
from collections.abc import Mapping, Sequence

from tertulia.events.log.record import Audience, record
from tertulia.kernel.db import Transaction
from tertulia.people.presence import queries
from tertulia.people.presence.events import PresenceChanged

DAYS = 14
"""Nobody wants to know what is older."""


async def tell_presences(tx: Transaction, realm_id: int, seen: Mapping[int, Sequence[int]]) -> None:
    """`seen`: people, each with the guests who come to see them."""
    found = await queries.presences_of(tx, sorted(seen), DAYS)
    for subdomain, email, presence in found:
        back = PresenceChanged(email=email, server_timestamp=time.time(), presence=presence, subdomain=subdomain)
        to = Audience(users=tuple(sorted(seen[presence.user_id])))
        tx.emit(realm_id, record(to, "presence", back))
