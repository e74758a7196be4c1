"""The replication slot, read without blocking the event loop.

Lifecycle: `open` (connects), `start` (learns where the server comes from and takes the slot; `SlotTaken` if another relay
has it), then `read` until None and `readable`, and `confirm` about every second; `close` gives the slot back.

Invariant: only `confirm` moves the slot. psycopg2 would also move it by itself: on a keepalive it forwards the flushed
position to the end of the log if the *start* of the last message lies before what was confirmed, and a long transaction's
messages start long before transactions that are not stored yet. It decides that per cursor, from what this cursor
confirmed; so one cursor reads and never confirms, and another one on the same connection confirms and never reads.
"""

import asyncio
from collections.abc import Callable
from typing import Self

import psycopg2
import psycopg2.errors
import psycopg2.extras

from tertulia.events.relay.lineage import Identity, Lineage
from tertulia.events.relay.wal import format_lsn
from tertulia.kernel.form import application_name
from tertulia.kernel.postgres import connect_libpq, libpq_options

APPLICATION_NAME = application_name("relay")
"""Of all connections of a relay: PostgreSQL tells who is there, and of which version."""
CONNECT_SECONDS = 5
# A relay that sleeps longer than this loses the slot to its successor. It reports every second.
SENDER_TIMEOUT_SECONDS = 5
NEVER = 2**31 - 1  # seconds between psycopg2's own status messages; it keeps them in a C int


class SlotTaken(Exception):
    """Another relay reads this slot."""


class Replication:
    def __init__(self, connection: psycopg2.extras.LogicalReplicationConnection) -> None:
        self._connection = connection
        self._reader = connection.cursor()
        self._confirmer = connection.cursor()
        self.lineage = Lineage(Identity("", 0))
        self._descriptor: int = connection.fileno()

    @classmethod
    async def open(cls, url: str) -> Self:
        connection = await asyncio.to_thread(
            connect_libpq,
            url,
            connection_factory=psycopg2.extras.LogicalReplicationConnection,
            connect_timeout=CONNECT_SECONDS,
            application_name=APPLICATION_NAME,
            **libpq_options(SENDER_TIMEOUT_SECONDS),
        )
        return cls(connection)

    async def start(self, slot: str, publication: str) -> None:
        """Take the slot and read on from its confirmed position."""

        def take() -> None:
            self.lineage = self._ask_lineage()
            self._reader.execute(f"SET wal_sender_timeout = '{SENDER_TIMEOUT_SECONDS}s'")
            options = {"proto_version": "1", "publication_names": f'"{publication}"', "messages": "true"}
            self._reader.start_replication(slot_name=slot, options=options, decode=False, status_interval=NEVER)

        try:
            await asyncio.to_thread(take)
        except psycopg2.errors.ObjectInUse as error:
            raise SlotTaken(str(error).strip()) from error

    def _ask_lineage(self) -> Lineage:
        self._reader.execute("IDENTIFY_SYSTEM")
        system_identifier, timeline, *_ = self._reader.fetchone() or ("", 0)
        identity = Identity(str(system_identifier), int(timeline))
        if identity.timeline <= 1:
            return Lineage(identity)
        try:
            self._reader.execute(f"TIMELINE_HISTORY {identity.timeline}")
        except psycopg2.errors.UndefinedFile:
            return Lineage(identity)  # somebody removed it: whatever was before is not known to be its past
        _, history = self._reader.fetchone() or ("", "")
        return Lineage.parse(identity, history if isinstance(history, str) else bytes(history).decode())

    def read(self) -> bytes | None:
        """The next message if one is there."""
        message = self._reader.read_message()
        return None if message is None else message.payload

    async def readable(self) -> None:
        """Wait until something arrives."""
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()
        loop.add_reader(self._descriptor, arrived.set)
        try:
            await arrived.wait()
        finally:
            loop.remove_reader(self._descriptor)

    @property
    def wal_end(self) -> int:
        """Everything committed before this was sent; trust it between transactions only."""
        return int(self._reader.wal_end)

    def confirm(self, lsn: int) -> None:
        """Let PostgreSQL forget everything before `lsn`; 0 confirms nothing new. Asks the server to reply."""
        send: Callable[..., None] = self._confirmer.send_feedback
        send(write_lsn=lsn, flush_lsn=lsn, apply_lsn=lsn, reply=True, force=True)

    def close(self) -> None:
        self._connection.close()

    def __repr__(self) -> str:
        return f"<Replication at {format_lsn(self.wal_end)}>"
