"""Signals: events that nobody stores. They go to the relay over NATS, which puts them into the log between the others.

A signal may be lost (the relay is away, the connection breaks): it must be one that the next one repairs.
"""

import msgspec
from nats.aio.client import Client

from tertulia.events.log.record import Record
from tertulia.events.log.stream import transient_subject

_encode = msgspec.json.Encoder().encode


class Signals:
    """Sends signals; one per NATS connection."""

    def __init__(self, nc: Client, shards: int) -> None:
        self._nc = nc
        self._shards = shards

    async def send(self, realm_id: int, record: Record) -> None:
        """Put an event on its way; who is to hear it is in the record."""
        await self._nc.publish(transient_subject(realm_id % self._shards, realm_id), _encode(record))
