"""Endpoints of the mail addresses of channels. Each is of one channel and one account, which mail to it is posted as."""

import msgspec

from tertulia.conversations.channels.access import get_channel
from tertulia.conversations.channels.rules import ChannelId
from tertulia.kernel.auth import Caller, Person
from tertulia.kernel.bounds import check_room
from tertulia.kernel.db import Reader, Transaction
from tertulia.kernel.endpoint import delete, get, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.notifications.mail_in import queries
from tertulia.notifications.mail_in.addresses import address_of, new_token
from tertulia.notifications.mail_in.bounds import CHANNEL_ADDRESSES
from tertulia.people.users.authentication.holding import hold_access
from tertulia.people.users.queries import owner_id_of

PATH = "/streams/{stream_id}/email_address"


class MailAddress(msgspec.Struct):
    """The answer of GET and POST /streams/{stream_id}/email_address."""

    email: str
    takes_mail: bool
    """Whether this server takes in mail at all: if not, no address can be made."""


@get(PATH)
async def get_mail_address(
    caller: Person, reader: Reader, settings: Settings, *, stream_id: ChannelId, sender_id: int | None = None
) -> MailAddress:
    """The address that mail to the channel is sent to, posted as you or as a bot of yours. Empty if none was made."""
    sender = await _check(reader, caller, stream_id, sender_id)
    if not settings.mail_in_address:
        return MailAddress("", takes_mail=False)
    token = await queries.find_channel_token(reader, stream_id, sender)
    return MailAddress(address_of(settings, token) if token else "", takes_mail=True)


@post(PATH)
async def make_mail_address(
    caller: Person, tx: Transaction, settings: Settings, *, stream_id: ChannelId, sender_id: int | None = None
) -> MailAddress:
    """Make an address for the channel. The one before, if there was one, ends.

    Mail to it becomes a message with the mail's subject as its topic, posted as you or as a bot of yours, by whoever knows the
    address.
    """
    sender = await _check(tx, caller, stream_id, sender_id)
    if not settings.mail_in_address:
        raise Refusal("This server does not take in mail.", code="NO_MAIL")
    held = await hold_access(tx, caller, sender)
    if sender != caller.user_id and held[sender].bot_owner_id != caller.user_id:
        raise _not_yours()  # given to somebody else meanwhile: whoever made the address could go on writing as it
    await queries.delete_channel_address(tx, stream_id, sender)
    await check_room(tx, CHANNEL_ADDRESSES, sender)
    token = new_token()
    await queries.put_channel_address(tx, stream_id, sender, token)
    return MailAddress(address_of(settings, token), takes_mail=True)


@delete(PATH)
async def remove_mail_address(
    caller: Person, tx: Transaction, *, stream_id: ChannelId, sender_id: int | None = None
) -> None:
    """End the address that you, or a bot of yours, has for the channel."""
    sender = await _check(tx, caller, stream_id, sender_id)
    await queries.delete_channel_address(tx, stream_id, sender)


async def _check(reader: Reader, caller: Caller, channel_id: int, sender_id: int | None) -> int:
    """As whom mail is posted. What is out of reach looks like what does not exist."""
    channel = await get_channel(reader, caller, channel_id)
    if not channel.may_send:
        raise Refusal("Only those who may post in the channel get its mail address.")
    if sender_id is None or sender_id == caller.user_id:
        return caller.user_id
    if await owner_id_of(reader, sender_id) != caller.user_id:
        raise _not_yours()
    return sender_id


def _not_yours() -> Refusal:
    return Refusal("Mail can be sent in your name, or in that of a bot of yours.")
