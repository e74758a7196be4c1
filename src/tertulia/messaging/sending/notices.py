"""What the notification bot has to say is sent here: exactly once each, in the transaction that takes it off the list.

Notices are claimed with `for update skip locked`, so that any number of processes may do this at the same time. A notice
nobody can receive any more (its channel or person is gone) is dropped.

A request sends one batch at most after its commit, and waits for nobody: what is more, and what goes to a conversation
that somebody holds, is for the worker. One that cannot be sent is put off, so that it does not slow down the others.
"""

import asyncio

import asyncpg
import msgspec
import structlog

from tertulia.content.markup.writing import people_in, quotes_anything, write
from tertulia.conversations.channels.rules import name_key_of
from tertulia.events.log.record import Audience
from tertulia.kernel.audit import done_for_many
from tertulia.kernel.auth import Caller, fake_email
from tertulia.kernel.db import LOST, UNABLE, Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.messaging.reading.model import Participant
from tertulia.messaging.sending.actions import Sending, outgoing
from tertulia.messaging.sending.composing import ReadAs
from tertulia.messaging.sending.model import Outgoing, Place, SendRequest
from tertulia.messaging.sending.rules import ToPeople, clean_content
from tertulia.messaging.sending.statements import CLAIM, MAKE_CONVERSATIONS
from tertulia.messaging.sending.storing import Unsent
from tertulia.organization.notices.model import Notice
from tertulia.organization.notices.queries import delete_notices, postpone_notices
from tertulia.organization.realms.settings import settings_of
from tertulia.people.users.addresses import fake_domain
from tertulia.people.users.authentication.queries import owner_of
from tertulia.people.users.visibility.actions import UNKNOWN_NAME, hidden_from

log = structlog.get_logger()

BATCH = 100
LEFT_SECONDS = 2.0
"""How old a notice is that the process which wrote it has surely not sent: a worker does it then."""
PATIENCE_SECONDS = 1.0
"""How long a request waits for the requests before it to have sent their notices."""
CLIENT = "Internal"


class Notices:
    """Sends what is written down."""

    def __init__(self, database: Database, sending: Sending, settings: Settings) -> None:
        self._database = database
        self._sending = sending
        self._settings = settings
        self._one_at_a_time = asyncio.Lock()

    async def deliver(self) -> int:
        """After a commit: send a batch of what there is, without waiting for anybody; returns how many."""
        try:
            await asyncio.wait_for(self._one_at_a_time.acquire(), PATIENCE_SECONDS)
        except TimeoutError:
            return 0
        try:
            # Others wait for it, and it sends what others wrote: no time for connections of whoever happens to do it.
            with done_for_many():
                claimed: list[int] = []
                sent, homeless = await self._deliver_some(0.0, BATCH, claimed, wait=False)
                if homeless:
                    sent += (await self._deliver_some(0.0, BATCH, claimed, wait=False))[0]
            return sent
        finally:
            self._one_at_a_time.release()

    async def deliver_left(self, age: float = LEFT_SECONDS) -> int:
        """Send everything that was written so long ago and not sent; returns how many."""
        total, limit = 0, BATCH
        while True:
            claimed: list[int] = []
            try:
                sent, _ = await self._deliver_some(age, limit, claimed, wait=True)
            except (*LOST, *UNABLE):
                raise
            except Exception as error:
                if not claimed:
                    raise
                if limit > 1:
                    log.warning("notices failed together: they are sent one by one", error=repr(error))
                    limit = 1
                else:
                    await self._postpone(claimed, error)
                    limit = BATCH
                continue
            if not claimed:
                return total
            total += sent

    async def _postpone(self, claimed: list[int], error: Exception) -> None:
        log.error("a notice cannot be sent, it is tried again later", notice=claimed, error=repr(error))
        async with self._database.transaction() as tx:
            await postpone_notices(tx, claimed)

    async def _deliver_some(self, age: float, limit: int, claimed: list[int], *, wait: bool) -> tuple[int, int]:
        """How many were sent or dropped, and how many have a conversation to go to only now."""
        async with self._database.transaction() as tx:
            rows = await tx.fetch(CLAIM, limit, age)
            claimed += [row["id"] for row in rows]
            homeless = [row["id"] for row in rows if row["person_id"] is not None and row["direct_id"] is None]
            ready = {row["id"]: await self._message(row) for row in rows if row["id"] not in homeless}
            done = await self._send(tx, ready, wait=wait)
            if done:
                await delete_notices(tx, done)
        if homeless:
            async with self._database.transaction() as tx:
                await tx.execute(MAKE_CONVERSATIONS, homeless)
        return len(done), len(homeless)

    async def _send(self, tx: Transaction, ready: dict[int, Outgoing | None], *, wait: bool) -> list[int]:
        """Store the messages of these notices; returns which are done with: not those whose conversation somebody holds."""
        messages = {notice_id: message for notice_id, message in ready.items() if message is not None}
        if not messages:
            return list(ready)
        stored = await self._sending.storing.store(tx, list(messages.values()), wait=wait)
        waiting = (Unsent.HELD, Unsent.FROZEN)
        left = [one for one, outcome in zip(messages, stored.outcomes, strict=True) if outcome in waiting]
        return [notice_id for notice_id in ready if notice_id not in left]

    async def _message(self, row: asyncpg.Record) -> Outgoing | None:
        notice = msgspec.json.decode(row["body"], type=Notice)
        owner = owner_of(row).caller
        bot = msgspec.structs.replace(owner, fake_domain=fake_domain(self._settings, owner.subdomain))
        place = _place(row, bot, notice)
        if place is None:
            log.warning("a notice for nobody is dropped", notice=row["id"])
            return None
        read_as = await self._read_as(row, bot, notice)
        content = write(notice.text, hidden=dict.fromkeys(read_as.hidden, UNKNOWN_NAME))
        request = SendRequest(ToPeople(), content, CLIENT, read=False, read_by=notice.read_by, is_notice=True)
        try:
            text = await self._sending.composer.compose(
                bot, place, clean_content(content), is_checked=False, read_as=read_as
            )
        except Refusal as refusal:
            log.error("a notice that is no message is dropped", notice=row["id"], reason=refusal.msg)
            return None
        return outgoing(bot, place, text, request)

    async def _read_as(self, row: asyncpg.Record, bot: Caller, notice: Notice) -> ReadAs:
        """Who looks at what a notice says: the person it is for. In a channel, where many do, whoever wrote what it quotes;
        those whom the notice itself names are named to all of them."""
        is_ours = not quotes_anything(notice.text)
        if row["looking_id"] is None:
            return ReadAs(bot, is_ours=is_ours)
        named = people_in(notice.text)
        looking = msgspec.structs.replace(bot, user_id=row["looking_id"], role=row["looking_role"], bot_type=None)
        if row["channel_id"] is not None:
            return ReadAs(looking, shown=named, is_ours=is_ours)
        if not (named and looking.is_guest):
            return ReadAs(looking, is_ours=is_ours)
        async with self._database.reader() as reader:
            hidden = await hidden_from(reader, looking, named)
        return ReadAs(looking, hidden=hidden, is_ours=is_ours)


def _place(row: asyncpg.Record, bot: Caller, notice: Notice) -> Place | None:
    if row["channel_id"] is not None:
        # The rules of the channel bind those who write in it, not what is said of what happens to it.
        empty = settings_of(bot).empty_topic_display_name
        return Place(
            conversation_id=row["channel_id"],
            audience=Audience(channel=row["channel_id"], public=not row["invite_only"]),
            channel=row["channel_name"],
            topic=notice.topic,
            topic_key=name_key_of(notice.topic),
            empty_topic="" if notice.topic else empty,
        )
    if row["direct_id"] is None:
        return None
    email = row["person_email"] if row["shows_email"] else fake_email(row["person_id"], bot.fake_domain)
    people = [
        Participant(bot.user_id, bot.email, bot.full_name),
        Participant(row["person_id"], email, row["person_name"]),
    ]
    return Place(
        conversation_id=row["direct_id"],
        audience=Audience(users=tuple(sorted(one.id for one in people))),
        people=tuple(sorted(people, key=lambda one: one.id)),
    )
