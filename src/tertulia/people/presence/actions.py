"""Presence pings: stored, and in small organizations announced at once when somebody comes back."""

import time
from collections.abc import Sequence

import structlog

from tertulia.events.log.record import record
from tertulia.events.log.signals import Signals
from tertulia.kernel.auth import Caller
from tertulia.kernel.coalesce import Coalescer
from tertulia.kernel.db import Database
from tertulia.people.presence import queries
from tertulia.people.presence.events import PresenceChanged
from tertulia.people.presence.model import CameBack, Ping, Presence
from tertulia.people.users.events import those_who_know_now

log = structlog.get_logger()

PACE_SECONDS = 0.1
"""Pings wait up to this long, so that those of a large realm are written in few statements."""


class Pings:
    """Stores presence pings, many in one statement."""

    def __init__(self, database: Database, signals: Signals) -> None:
        self._database = database
        self._signals = signals
        self._writes: Coalescer[Ping, bool] = Coalescer(self._write, pace=PACE_SECONDS)

    async def ping(self, caller: Caller, *, is_active: bool) -> None:
        """The caller is there; stored when this returns, unless they do not want it."""
        await self._writes.load(Ping(caller.realm_id, caller.user_id, is_active, caller.fake_domain))

    async def _write(self, pings: Sequence[Ping]) -> dict[Ping, bool]:
        async with self._database.transaction() as tx:
            returned = await queries.write(tx, pings)
            told = [(one, await those_who_know_now(tx, one.realm_id, one.user_id)) for one in returned]
        for one, audience in told:
            await self._signals.send(one.realm_id, record(audience, "presence", _event(one)))
        return dict.fromkeys(pings, True)


def _event(one: CameBack) -> PresenceChanged:
    presence = Presence(one.user_id, one.active_at, one.connected_at)
    return PresenceChanged(email=one.email, server_timestamp=time.time(), presence=presence)
