"""Writing a batch of messages, and what follows from each, in one transaction: for the lane, for notices and for what was
scheduled alike.

The conversations are locked first, then the sending statement checks the rights again under these locks (statements.py).
What follows costs nothing where nothing follows: most messages set off no side effect, change no policy, link no file.

Which files the senders may link is asked before, and only where any are linked. As a part of the large statement the
question cost every message: 540 instead of 240 microseconds of PostgreSQL, 1,100 instead of 2,800 messages a second
(`bin/bench send --quick`), because the planner chose another way to join all the rest.
"""

from collections import defaultdict
from collections.abc import Sequence
from enum import Enum
from typing import Protocol

import asyncpg
import msgspec

from tertulia.files.remote_pictures.queries import link as link_remote
from tertulia.files.uploads.links.actions import tell_linked
from tertulia.files.uploads.queries import within_reach
from tertulia.kernel.db import Transaction
from tertulia.messaging.sending.model import Outgoing, Sent
from tertulia.messaging.sending.policies import decide_policies
from tertulia.messaging.sending.statements import (
    FROZEN,
    LOCK,
    LOCK_FREE,
    SEND,
    SEND_PLAIN,
    STORED,
    columns,
    is_plain,
    plain_columns,
)


class SideEffect(Protocol):
    """What another feature writes down for messages that are sent, in the transaction that sends them.

    It knows sending; sending does not know it. It is called for every batch: where it has nothing to do, it asks nothing.
    """

    async def __call__(self, tx: Transaction, sent: Sequence[tuple[int, Outgoing]]) -> None:
        """Write down what these messages, with their ids, set off."""


class Unsent(Enum):
    """Why a message of a batch was not stored."""

    REFUSED = "refused"
    """Its sender may not send it (any more), or its conversation is gone: it is to be judged again."""
    HELD = "held"
    """Somebody else holds the conversation, and this batch does not wait."""
    FROZEN = "frozen"
    """The organization is read only for now (kernel/freezing.py): it may be sent later."""


class Stored(msgspec.Struct, frozen=True):
    """What became of a batch, if it is committed."""

    outcomes: Sequence[Sent | Unsent]
    """Of each message, in the order of the batch."""
    proof: tuple[str, tuple[str, *tuple[object, ...]]] | None
    """What `Database.committed` asks by; None if nothing was stored."""


class Storing:
    """Stores messages."""

    def __init__(self, side_effects: Sequence[SideEffect]) -> None:
        self._side_effects = side_effects

    async def store(self, tx: Transaction, batch: Sequence[Outgoing], *, wait: bool) -> Stored:
        """Store the messages of a batch. `wait`: for conversations that others hold."""
        wanted = {message.conversation_id for message in batch}
        held = {row["id"] for row in await tx.fetch(LOCK if wait else LOCK_FREE, list(wanted))}
        ours = [message for message in batch if message.conversation_id in held]
        # After waiting, what could not even be locked does not exist.
        missing = Unsent.REFUSED if wait else Unsent.HELD
        if not ours:
            return Stored([missing] * len(batch), None)
        rows = await _write(tx, ours)
        policies = await self._follow(tx, ours, rows)
        found = {row["ord"]: Sent(row["id"], policies.get(row["ord"])) for row in rows}
        frozen = await _frozen(tx, ours) if len(found) < len(ours) else set()
        of_ours = iter(
            [
                found.get(number, Unsent.FROZEN if one.sender.realm_id in frozen else Unsent.REFUSED)
                for number, one in enumerate(ours, start=1)
            ]
        )
        outcomes = [next(of_ours) if message.conversation_id in held else missing for message in batch]
        return Stored(outcomes, _proof(ours, rows))

    async def _follow(
        self, tx: Transaction, batch: Sequence[Outgoing], rows: Sequence[asyncpg.Record]
    ) -> dict[int, int]:
        """Do what follows from the stored rows of a batch; returns the new policies of senders by the number in the batch."""
        # A repeat of what was sent before emits nothing: what it set off, it set off then.
        new = [(row["id"], batch[row["ord"] - 1]) for row in rows if row["pg_logical_emit_message"] is not None]
        for record_effect in self._side_effects:
            await record_effect(tx, new)
        policies = await decide_policies(tx, batch, rows)
        await _tell_linked(tx, [message for _, message in new if message.text.attached])
        remote = [(id, message.sender.realm_id, one) for id, message in new for one in message.text.remote]
        if remote:
            await link_remote(tx, remote)
        return policies


async def _write(tx: Transaction, batch: Sequence[Outgoing]) -> list[asyncpg.Record]:
    """Run the statement that stores the batch: the small one if it can."""
    if all(map(is_plain, batch)) and (rows := await tx.fetch(SEND_PLAIN, *plain_columns(batch, tx.shards))):
        return rows
    return await tx.fetch(SEND, *columns(batch, tx.shards, await _files(tx, batch)))


async def _frozen(tx: Transaction, batch: Sequence[Outgoing]) -> set[int]:
    """The realms of these messages that are frozen."""
    return {row["id"] for row in await tx.fetch(FROZEN, list({message.sender.realm_id for message in batch}))}


async def _files(tx: Transaction, batch: Sequence[Outgoing]) -> list[tuple[int, int | None, bool]]:
    """Files that messages link, each with the number of its message. One that is deleted after this is a broken reference."""
    linked = [
        (number, message.sender.user_id, file)
        for number, message in enumerate(batch, start=1)
        for file in message.text.attached
    ]
    if not linked:
        return []
    found = await within_reach(tx, [(sender_id, file.id, file.shown_by) for _, sender_id, file in linked])
    return [(number, file_id, file.is_waiting) for (number, _, file), file_id in zip(linked, found, strict=True)]


async def _tell_linked(tx: Transaction, linking: Sequence[Outgoing]) -> None:
    """The owners of files hear which messages link them."""
    linked: defaultdict[int, set[int]] = defaultdict(set)
    for message in linking:
        linked[message.sender.realm_id] |= {file.id for file in message.text.attached}
    for realm_id, attachment_ids in sorted(linked.items()):
        await tell_linked(tx, realm_id, sorted(attachment_ids))


def _proof(
    batch: Sequence[Outgoing], rows: Sequence[asyncpg.Record]
) -> tuple[str, tuple[str, *tuple[object, ...]]] | None:
    """Messages of a batch are stored together, or none of them: the first one stands for all."""
    if not rows:
        return None
    sent = batch[rows[0]["ord"] - 1].sent
    return rows[0]["xid"], (STORED, rows[0]["id"], sent.sender_id, sent.content)
