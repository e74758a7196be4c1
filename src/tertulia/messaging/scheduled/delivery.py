"""Delivering what is due: sent and taken off the list in one transaction. Any number of workers do it side by side."""

import asyncio

import asyncpg
import msgspec
import structlog

from tertulia.content.markup.writing import Aside
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import LOST, UNABLE, Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.messaging.scheduled import queries
from tertulia.messaging.scheduled.actions import failed, removed
from tertulia.messaging.scheduled.model import Scheduled
from tertulia.messaging.scheduled.words import words_of
from tertulia.messaging.sending.actions import Sending
from tertulia.messaging.sending.model import Outgoing, SendRequest, Sent
from tertulia.messaging.sending.storing import Unsent
from tertulia.organization.notices import Notice, tell
from tertulia.organization.notices.queries import language_of
from tertulia.people.users.addresses import fake_domain
from tertulia.people.users.authentication.queries import owner_of

log = structlog.get_logger()

BATCH = 100
OF_ONE_PERSON = 5_000
"""Bytes of HTML in a batch: the words of so many may take PostgreSQL tenths of a second (sending/word_costs.py), and until the
commit nobody writes to that conversation. Whoever has a thousand for one moment keeps nobody else's waiting."""
LATE_SECONDS = 600.0
"""A message that could not be sent for so long after its time is not sent any more: it may be out of place by now."""
NOT_ANY_MORE = "You may not send it there any more."
LATE = "It could not be sent at its time, because the server was not running."


class Due(msgspec.Struct, frozen=True):
    """A message that is due, and its author."""

    message: Scheduled
    author: Caller
    is_usable: bool
    """The author and the organization are active."""
    is_late: bool


class Delivery:
    """Sends what is due."""

    def __init__(self, database: Database, sending: Sending, settings: Settings) -> None:
        self._database = database
        self._sending = sending
        self._settings = settings

    async def deliver(self) -> int:
        """Send everything that is due; returns how many were dealt with."""
        total = 0
        while True:
            try:
                done = await self._deliver_some(BATCH)
            except (*LOST, *UNABLE):
                raise
            except Exception as error:
                log.warning("scheduled messages failed together: they are sent one by one", error=repr(error))
                return total + await self._deliver_singly()
            total += done
            if not done:
                return total

    async def _deliver_singly(self) -> int:
        """Each in a transaction of its own; one that cannot be sent at all, whatever is raised, fails and holds up nobody."""
        total = 0
        for _ in range(BATCH):
            claimed: list[Due] = []
            try:
                done = await self._deliver_some(1, claimed)
            except (*LOST, *UNABLE):
                raise
            except Exception as error:
                if not claimed:
                    raise
                log.error("a scheduled message could not be sent", error=repr(error))
                async with self._database.transaction() as tx:
                    for one in claimed:
                        await self._fail(tx, one, "The server failed to send it.")
                done = 1
            if not done:
                break
            total += done
        return total

    async def _deliver_some(self, limit: int, claimed: list[Due] | None = None) -> int:
        """How many were sent or failed; those whose conversation is held by others wait."""
        async with self._database.transaction() as tx:
            due = [self._due(row) for row in await queries.claim_due(tx, limit, OF_ONE_PERSON, LATE_SECONDS)]
            if claimed is not None:
                claimed += due
            sent, refused = await self._send(tx, due)
            if sent:
                await queries.delete_scheduled(tx, [one.message.id for one in sent])
            for one in sent:
                tx.emit(one.author.realm_id, removed(one.author.user_id, one.message.id))
            for one, reason in refused:
                await self._fail(tx, one, reason)
        return len(sent) + len(refused)

    async def _send(self, tx: Transaction, due: list[Due]) -> tuple[list[Due], list[tuple[Due, str]]]:
        """Those that are stored, and those that cannot be, each with the reason; the others wait for their conversation.

        Nobody is waited for: that would hold up the people in all other conversations.
        """
        judged = list(zip(due, await asyncio.gather(*map(self._judge, due)), strict=True))
        refused = [(one, verdict) for one, verdict in judged if isinstance(verdict, str)]
        ready = [(one, verdict) for one, verdict in judged if isinstance(verdict, Outgoing)]
        if not ready:
            return [], refused
        stored = await self._sending.storing.store(tx, [message for _, message in ready], wait=False)
        outcomes = [(one, outcome) for (one, _), outcome in zip(ready, stored.outcomes, strict=True)]
        # The rights of these changed in this very moment.
        refused += [(one, NOT_ANY_MORE) for one, outcome in outcomes if outcome is Unsent.REFUSED]
        return [one for one, outcome in outcomes if isinstance(outcome, Sent)], refused

    async def _judge(self, due: Due) -> Outgoing | str:
        """The message as it goes out, or why it does not."""
        if not due.is_usable:
            return ""
        if due.is_late:
            return LATE
        message = due.message
        request = SendRequest(message.address, message.content, message.client, read=message.read)
        try:
            return await self._sending.prepare(due.author, request)
        except Refusal as refusal:
            return refusal.msg

    async def _fail(self, tx: Transaction, due: Due, reason: str) -> None:
        await queries.fail_scheduled(tx, [due.message.id])
        tx.emit(due.author.realm_id, failed(due.author.user_id, due.message))
        if reason:
            words = words_of(await language_of(tx, due.author.user_id))
            text = (words.failed, Aside(words.late if reason == LATE else reason), words.find_it)
            await tell(tx, due.author.realm_id, [Notice(text, user_id=due.author.user_id)])

    def _due(self, row: asyncpg.Record) -> Due:
        owner = owner_of(row)
        author = msgspec.structs.replace(owner.caller, fake_domain=fake_domain(self._settings, owner.caller.subdomain))
        fields = {name: row[name] for name in Scheduled.__struct_fields__}
        return Due(Scheduled(**fields), author, owner.is_active and owner.realm_is_active, row["is_late"])
