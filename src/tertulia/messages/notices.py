"""What the notification bot has to say is sent here: exactly once each, in the transaction that takes it off the list.

Notices are claimed with `for update skip locked`, so that any number of processes may do this at the same time. A notice
nobody can receive any more (its channel or person is gone) is dropped.
"""

import asyncio
from collections.abc import Sequence

import asyncpg
import msgspec
import structlog

from tertulia.channels.access import ChannelFinder
from tertulia.channels.rules import name_key_of
from tertulia.events.record import Audience
from tertulia.kernel.auth import Caller, fake_email
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.messages.actions import Draft, outgoing
from tertulia.messages.composing import Composer
from tertulia.messages.model import Outgoing, Person
from tertulia.messages.places import Place
from tertulia.messages.rules import ToPeople, clean_content
from tertulia.messages.statements import CLAIM, LOCK, MAKE_CONVERSATIONS, SEND, columns
from tertulia.notices.model import Notice
from tertulia.realms.settings import decode_settings
from tertulia.users.addresses import fake_domain
from tertulia.users.queries import owner_of

log = structlog.get_logger()

BATCH = 100
LEFT_SECONDS = 2.0
"""How old a notice is that the process which wrote it has surely not sent: a worker does it then."""
CLIENT = "Internal"


class Notices:
    """Sends what is written down."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._composer = Composer(database, ChannelFinder(database), settings)
        self._settings = settings
        self._one_at_a_time = asyncio.Lock()

    async def deliver(self) -> int:
        """Send everything there is; how many."""
        async with self._one_at_a_time:
            return await self._deliver_all(0.0)

    async def deliver_left(self) -> int:
        """Send what a process wrote and did not come to send; how many."""
        return await self._deliver_all(LEFT_SECONDS)

    async def _deliver_all(self, age: float) -> int:
        total, limit, bad = 0, BATCH, list[int]()
        while True:
            claimed: list[int] = []
            try:
                await self._deliver_some(age, limit, bad, claimed)
            except asyncpg.PostgresError as error:
                if limit > 1:
                    log.warning("notices failed together: they are sent one by one", error=repr(error))
                else:
                    log.error("a notice cannot be sent, it stays on the list", notice=claimed, error=repr(error))
                    bad += claimed
                limit = 1
                continue
            if not claimed:
                return total
            total += len(claimed)

    async def _deliver_some(self, age: float, limit: int, bad: Sequence[int], claimed: list[int]) -> None:
        async with self._database.transaction() as tx:
            rows = await tx.fetch(CLAIM, limit, age, bad)
            claimed += [row["id"] for row in rows]
            ready = [row for row in rows if row["person_id"] is None or row["direct_id"] is not None]
            messages = [message for row in ready if (message := await self._message(row)) is not None]
            if messages:
                await self._send(tx, messages)
            if ready:
                await tx.execute("delete from notice where id = any($1::bigint[])", [row["id"] for row in ready])
        if len(ready) < len(rows):
            async with self._database.transaction() as tx:
                await tx.execute(MAKE_CONVERSATIONS)

    async def _send(self, tx: Transaction, messages: list[Outgoing]) -> None:
        await tx.fetch(LOCK, sorted({message.conversation_id for message in messages}))
        await tx.fetch(SEND, *columns(messages, self._database.shards))

    async def _message(self, row: asyncpg.Record) -> Outgoing | None:
        notice = msgspec.json.decode(row["body"], type=Notice)
        owner = owner_of(row, 0).caller
        bot = msgspec.structs.replace(owner, fake_domain=fake_domain(self._settings, owner.subdomain))
        place = _place(row, bot, notice)
        if place is None:
            log.warning("a notice for nobody is dropped", notice=row["id"])
            return None
        draft = Draft(ToPeople(), notice.content, CLIENT, read=False, read_by=notice.read_by)
        try:
            text = await self._composer.compose(bot, place, clean_content(notice.content), is_checked=False)
        except Refusal as refusal:
            log.error("a notice that is no message is dropped", notice=row["id"], reason=refusal.msg)
            return None
        return outgoing(bot, place, draft, text)


def _place(row: asyncpg.Record, bot: Caller, notice: Notice) -> Place | None:
    if row["channel_id"] is not None:
        # The rules of the channel bind those who write in it, not what is said of what happens to it.
        empty = decode_settings(bot.realm_settings).empty_topic_display_name
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
    people = [Person(bot.user_id, bot.email, bot.full_name), Person(row["person_id"], email, row["person_name"])]
    return Place(
        conversation_id=row["direct_id"],
        audience=Audience(users=tuple(sorted(one.id for one in people))),
        people=tuple(sorted(people, key=lambda one: one.id)),
    )
