"""The worker's part: from an organization's day to mails in the outbox, some people at a time."""

import secrets
from datetime import timedelta

import structlog
from prometheus_client import Counter

from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.mail import is_busy, mails_leave, queue_mail
from tertulia.kernel.settings import Settings
from tertulia.notifications.missed_mail.model import Recipient
from tertulia.notifications.missed_mail.queries import find_talk, recipients, shown
from tertulia.notifications.weekly_mail import queries
from tertulia.notifications.weekly_mail.letters import write_digest
from tertulia.notifications.weekly_mail.model import Busy, Entry
from tertulia.notifications.weekly_mail.rules import choose

log = structlog.get_logger()

MADE = Counter("tertulia_digests", "Weekly digests that were made")

PEOPLE = 50
"""So many are looked at in one transaction."""
ROUNDS = 100
"""Then the worker does its other chores, and goes on the next time."""
AWAY = timedelta(days=5)
WEEK = timedelta(days=7)
CHANNELS = 30
MESSAGES = 100
"""What is looked at for one person: the last messages of so many channels."""
NEWEST = 2


class Digests:
    """Makes the digests that are due."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    async def make_due(self) -> int:
        """Go on with the digests of this day; returns how many mails that were."""
        if not mails_leave(self._settings):
            return 0
        async with self._database.transaction() as tx:
            await queries.begin_runs(tx)
        made = 0
        for _ in range(ROUNDS):
            some = await self._turn()
            if some is None:
                break
            made += some
        return made

    async def _turn(self) -> int | None:
        """The digests of some people of one organization; None: there is none that waits."""
        async with self._database.transaction() as tx:
            realm_id = None if await is_busy(tx) else await queries.next_run(tx)
        if realm_id is None:
            return None
        try:
            return await self._go_on(realm_id, PEOPLE)
        except Exception:
            log.exception("digests could not be made, and are tried person by person", realm=realm_id)
        return sum([await self._one_more(realm_id) for _ in range(PEOPLE)])

    async def _one_more(self, realm_id: int) -> int:
        """The next person. Whoever's digest cannot be made gets none, so that nobody waits with them."""
        async with self._database.transaction() as tx:
            after = await queries.claim_run(tx, realm_id)
        try:
            return await self._go_on(realm_id, 1)
        except Exception:
            log.exception("a digest cannot be made, and is left out", realm=realm_id, after_user=after)
        async with self._database.transaction() as tx:
            if await queries.claim_run(tx, realm_id) == after is not None:  # nobody else has gone on
                step = await queries.next_people(tx, realm_id, after, 1, AWAY.days)
                await queries.advance(tx, realm_id, None if step.is_last else step.last_id)
        return 0

    async def _go_on(self, realm_id: int, people: int) -> int:
        async with self._database.transaction() as tx:
            after = await queries.claim_run(tx, realm_id)
            if after is None:
                return 0
            step = await queries.next_people(tx, realm_id, after, people, AWAY.days)
            told = await recipients(tx, step.user_ids, self._settings) if step.user_ids else {}
            made = sum([await _write(tx, recipient) for recipient in told.values()])
            await queries.advance(tx, realm_id, None if step.is_last else step.last_id)
            return made


async def _write(tx: Transaction, recipient: Recipient) -> bool:
    """One mail, if there is something to tell."""
    found = await queries.busy_topics(
        tx, recipient.user_id, WEEK.days, channels=CHANNELS, messages=MESSAGES, newest=NEWEST
    )
    entries = [entry for busy in choose(found) if (entry := await _entry(tx, recipient, busy)) is not None]
    if not entries:
        return False
    try:
        mail = write_digest(recipient, entries, f"digest.{secrets.token_hex(12)}")
    except Exception:
        # One message that cannot be told must not keep back the digests of others.
        log.exception("a digest cannot be written", user=recipient.user_id)
        return False
    await queue_mail(tx, recipient.email, *mail)
    MADE.inc()
    return True


async def _entry(tx: Transaction, recipient: Recipient, busy: Busy) -> Entry | None:
    """None: it was deleted in this moment."""
    messages = await shown(tx, recipient.user_id, busy.newest) if recipient.shows_content else []
    talk = await find_talk(tx, recipient.user_id, busy.newest[0])
    return None if talk is None else Entry(busy, talk, messages)
