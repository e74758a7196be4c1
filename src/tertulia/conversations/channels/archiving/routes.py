"""Archiving a channel (PATCH /streams/{stream_id} with `is_archived` false unarchives it), and its mail address."""

import msgspec

from tertulia.conversations.channels.access import get_channel
from tertulia.conversations.channels.archiving.actions import archive
from tertulia.conversations.channels.changing.actions import hold_channel
from tertulia.conversations.channels.rules import ChannelId
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get
from tertulia.kernel.errors import Refusal
from tertulia.people.users.queries import owner_id_of


@delete("/streams/{stream_id}")
async def archive_channel(caller: Person, tx: Transaction, *, stream_id: ChannelId) -> None:
    """Archive a channel: its messages stay readable, nobody sends to it, and its subscriptions stay as they are."""
    await archive(tx, caller, await hold_channel(tx, caller, stream_id))


class MailAddress(msgspec.Struct):
    """The answer of GET /streams/{stream_id}/email_address."""

    email: str


@get("/streams/{stream_id}/email_address")
async def get_mail_address(
    caller: Person, reader: Reader, *, stream_id: ChannelId, sender_id: int | None = None
) -> MailAddress:
    """The address that mail to the channel is sent to: empty, because this server does not take in mail."""
    channel = await get_channel(reader, caller, stream_id)
    if not channel.may_send:
        raise Refusal("Only those who may post in the channel get its mail address.")
    if sender_id is not None and sender_id != caller.user_id and await owner_id_of(reader, sender_id) != caller.user_id:
        raise Refusal("Mail can be sent in your name, or in that of a bot of yours.")
    return MailAddress("")
