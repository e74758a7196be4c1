"""Taking in a mail: who may write there, what it says, sent like any other message."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum

import msgspec

from tertulia.files.uploads.actions import Uploading, remove_file
from tertulia.files.uploads.model import AttachmentRecord
from tertulia.files.uploads.names import url_of
from tertulia.kernel.auth import Caller
from tertulia.kernel.chores import in_batches
from tertulia.kernel.db import Database
from tertulia.kernel.errors import Refusal
from tertulia.kernel.freezing import frozen
from tertulia.kernel.limits import LocalBudgets, parse_rates, too_often
from tertulia.kernel.mail import sender_of
from tertulia.kernel.settings import Settings
from tertulia.kernel.threads import Threads
from tertulia.messaging.sending.actions import Sending
from tertulia.messaging.sending.model import SendRequest
from tertulia.notifications.mail_in import queries
from tertulia.notifications.mail_in.addresses import find_token, hide_addresses, hide_in_file
from tertulia.notifications.mail_in.composing import place_of, text_of, with_links
from tertulia.notifications.mail_in.loops import is_ours
from tertulia.notifications.mail_in.model import Attachment, Received, Target
from tertulia.notifications.mail_in.parsing import TooMuch
from tertulia.notifications.mail_in.reading import read_mail
from tertulia.organization.realms.settings import notes_of
from tertulia.people.users.addresses import fake_domain

CLIENT = "Mail"
READERS = 2
"""So many mails are taken apart at once."""
BATCH = 1000
PIECE = 256 * 1024


class Outcome(StrEnum):
    """What became of a mail that was accepted."""

    POSTED = "posted"
    REPEATED = "repeated"
    """It was there before."""
    DROPPED = "dropped"
    """A program wrote it, or we did."""


class MailIn:
    """Takes in mails."""

    def __init__(self, database: Database, sending: Sending, uploading: Uploading, settings: Settings) -> None:
        self._database = database
        self._sending = sending
        self._uploading = uploading
        self._settings = settings
        self._readers = Threads("mail", running=READERS, waiting=settings.mail_in_connections)
        self._budgets = LocalBudgets()
        self._rates = parse_rates(settings.mail_in_rate)

    async def get_target(self, address: str) -> Target:
        """Where mail to an address goes; a Refusal if to nothing."""
        token = find_token(self._settings, address)
        target = None
        if token is not None:
            async with self._database.reader() as reader:
                target = await queries.find_target(reader, token)
        if target is None:
            raise Refusal("Nobody is at this address, or not any more.", status=404)
        domain = fake_domain(self._settings, target.caller.subdomain)
        return msgspec.structs.replace(target, caller=msgspec.structs.replace(target.caller, fake_domain=domain))

    async def take(self, address: str, envelope_sender: str, content: bytes) -> Outcome:
        """Make a message of a mail; answers once it is committed. A Refusal says why it cannot be one."""
        target = await self.get_target(address)
        if notes_of(target.caller).frozen:
            raise frozen()  # before its files are kept: sending asks once more
        received, is_back = await self._readers.run(self._read, content, envelope_sender, target)
        if is_back or (target.is_reply and received.is_automatic):
            return Outcome.DROPPED
        key = _key(address, received, content)
        if await self._sending.places.find_sent(target.caller, key) is not None:
            return Outcome.REPEATED
        await self._check_rate(target.caller)
        await self._post(target, received, key)
        return Outcome.POSTED

    def _read(self, content: bytes, envelope_sender: str, target: Target) -> tuple[Received, bool]:
        """Runs in a thread: a large mail takes a moment."""
        try:
            received, mail = read_mail(content, envelope_sender)
        except TooMuch as problem:
            raise Refusal(str(problem)) from problem
        host = self._settings.url_of(target.caller.subdomain).partition("://")[2].partition(":")[0].lower()
        own = self._settings.mail_in_address.rpartition("@")[2].lower()
        received = msgspec.structs.replace(
            received,
            sender=hide_addresses(self._settings, received.sender),
            subject=hide_addresses(self._settings, received.subject),
            files=tuple(
                Attachment(hide_addresses(self._settings, file.name), hide_in_file(self._settings, file.content))
                for file in received.files
            ),
        )
        return received, is_ours(mail, sender_of(self._settings), {host, own})

    async def _check_rate(self, sender: Caller) -> None:
        if not self._settings.rate_limits:
            return
        for rate in self._rates:
            taken = await self._budgets.take("mail_in", f"{sender.user_id} {rate.seconds}", rate)
            if taken.retry_after:
                raise too_often(taken.retry_after)

    async def _post(self, target: Target, received: Received, key: str) -> None:
        place = place_of(target, received)
        # After the quotations were cut, which are known by such addresses too.
        text = hide_addresses(self._settings, await self._readers.run(text_of, target, received))
        # Of a mail that says nothing, and of one who may not write there, nothing is uploaded either.
        with_links(text, [(file.name, "") for file in received.files])
        judged = SendRequest(place, text if text.strip() else "x", CLIENT)
        await self._sending.prepare(target.caller, judged, for_later=True)
        kept: list[AttachmentRecord] = []
        try:
            for file in received.files:
                kept += [await self._uploading.keep(target.caller, file.name, _pieces(file))]
            content = with_links(text, [(one.name, url_of(one.path_id)) for one in kept])
            await self._sending.send(target.caller, SendRequest(place, content, CLIENT, read=True, key=key))
        except Refusal:
            await self._remove(target.caller, kept)
            raise

    async def _remove(self, caller: Caller, files: Sequence[AttachmentRecord]) -> None:
        for file in files:
            async with self._database.transaction() as tx:
                await remove_file(tx, caller, file.id)


def _key(address: str, received: Received, content: bytes) -> str:
    """The same for each delivery of a mail: the sender's idempotency key of the message."""
    named = received.message_id.encode() or content
    return "mail:" + hashlib.sha256(address.strip("<> ").lower().encode() + b"\n" + named).hexdigest()


async def _pieces(file: Attachment) -> AsyncIterator[bytes]:
    for start in range(0, len(file.content), PIECE):
        yield file.content[start : start + PIECE]


async def forget_old_addresses(database: Database) -> int:
    """Delete addresses that have expired, in batches; returns how many."""
    return await in_batches(database, BATCH, lambda tx: queries.delete_old(tx, BATCH))
