"""Archiving a channel (PATCH /streams/{stream_id} with `is_archived` false unarchives it)."""

from tertulia.conversations.channels.archiving.actions import archive
from tertulia.conversations.channels.changing.actions import hold_channel
from tertulia.conversations.channels.rules import ChannelId
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import delete


@delete("/streams/{stream_id}")
async def archive_channel(caller: Person, tx: Transaction, *, stream_id: ChannelId) -> None:
    """Archive a channel: its messages stay readable, nobody sends to it, and its subscriptions stay as they are."""
    await archive(tx, caller, await hold_channel(tx, caller, stream_id))
