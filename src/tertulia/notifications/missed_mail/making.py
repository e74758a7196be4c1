"""The worker's part: from batches that are due to mails in the outbox."""

import secrets
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from prometheus_client import Counter

from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.mail import is_busy, queue_mail
from tertulia.kernel.settings import Settings
from tertulia.notifications.concerns.model import Trigger
from tertulia.notifications.concerns.quiet import quiet_until
from tertulia.notifications.concerns.rules import ACTIVE_SECONDS
from tertulia.notifications.mail_in.addresses import address_of, new_token
from tertulia.notifications.mail_in.queries import insert_reply_address
from tertulia.notifications.missed_mail import queries
from tertulia.notifications.missed_mail.letters import Mail, write_mail, write_rest
from tertulia.notifications.missed_mail.model import Batch, Candidate, Missed, Recipient, Shown
from tertulia.notifications.missed_mail.rules import Presence, Room, has_context, most_urgent, presence_of, told

log = structlog.get_logger()

MADE = Counter("tertulia_missed_mails", "Mails about missed messages that were made")

PEOPLE = 20
MESSAGES = 5_000
"""So many people and messages in one transaction."""
SHOWN = 20
"""So many messages in one mail."""
MAILS = 10
"""So many mails to one person at a time. Whoever is mentioned in more conversations gets one more, about all the others."""
CONTEXT, CONTEXT_SECONDS = 10, 900
ROUNDS = 500
LATER = timedelta(seconds=5)
"""When a batch is looked at again of which something is being deleted, or that has more than fits one transaction."""

FAILED_LOOK = timedelta(hours=1)
"""When a batch is tried again of which no mail could be made."""
QUIET_LOOK = timedelta(minutes=10)
"""So often a batch of somebody who wants quiet is looked at: they may end it before its time, or move to another zone."""


class MissedMails:
    """Makes the mails that are due."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._had_their_turn: set[int] = set()
        """Organizations that wait until all others had theirs: a flood in one does not delay the mails of another."""

    async def make_due(self) -> int:
        """Make all that is due; returns how many people's batches that were."""
        done = 0
        for _ in range(ROUNDS):
            some = await self._turn()
            done += some
            if not some:
                break
        return done

    async def _turn(self) -> int:
        """The mails of some people; of how many."""
        people: list[int] = []
        try:
            async with self._database.transaction() as tx:
                if not await is_busy(tx):
                    people = await self._claim(tx)
                    await self._make(tx, people)
        except Exception:
            if not people:
                raise
            log.exception(
                "mails about missed messages could not be made, and are tried person by person", people=people
            )
            for user_id in people:
                await self._make_alone(user_id)
        return len(people)

    async def _make_alone(self, user_id: int) -> None:
        """Whoever's mails cannot be made waits, so that nobody waits with them."""
        try:
            async with self._database.transaction() as tx:
                await self._make(tx, await queries.claim_batch(tx, user_id))
        except Exception:
            log.exception("mails about missed messages cannot be made", user=user_id)
            async with self._database.transaction() as tx:
                await queries.put_off(tx, {user_id: await queries.now(tx) + FAILED_LOOK})

    async def _make(self, tx: Transaction, people: Sequence[int]) -> None:
        """What is due of these, whom this transaction has claimed."""
        if not people:
            return
        missed = await queries.hold_missed(tx, people, MESSAGES)
        now = await queries.now(tx)
        recipients = await queries.recipients(tx, people, self._settings)
        quiet = {one.user_id: until for one in recipients.values() if (until := _quiet(one, now))}
        waits = {user_id: quiet.get(user_id, now + LATER) for user_id in people}
        known: dict[tuple[int, int], Candidate] = {
            (one.facts.user_id, one.facts.message_id): one for one in await queries.candidates(tx, missed)
        }
        due: defaultdict[int, list[Candidate]] = defaultdict(list)
        done: list[Missed] = []
        for one in missed:
            if one.user_id in quiet:
                continue
            candidate = known.get((one.user_id, one.message_id))
            presence = _presence(one, candidate, now)
            if candidate is not None and candidate.active_at is not None and presence is Presence.UNKNOWN:
                waits[one.user_id] = candidate.active_at + timedelta(seconds=ACTIVE_SECONDS)
                continue
            done.append(one)
            if candidate is not None and presence is Presence.GONE:
                due[one.user_id].append(candidate)
        for user_id, candidates in due.items():
            if user_id in recipients:
                await self._write(tx, recipients[user_id], candidates)
        await queries.delete_missed(tx, done)
        await queries.finish_batches(tx, people)
        await queries.put_off(tx, waits)

    async def _claim(self, tx: Transaction) -> list[int]:
        """Some people whose mails are due, of organizations whose turn it is."""
        claimed = await queries.claim_batches(tx, PEOPLE, self._had_their_turn)
        if not claimed and self._had_their_turn:
            self._had_their_turn.clear()
            claimed = await queries.claim_batches(tx, PEOPLE, self._had_their_turn)
        self._had_their_turn.update(claimed.values())
        return list(claimed)

    async def _write(self, tx: Transaction, recipient: Recipient, candidates: Sequence[Candidate]) -> None:
        """One mail for each conversation, the oldest first, as long as these are not many."""
        conversations = list(told(candidates).values())
        room = Room()
        mails = [await self._mail_about(tx, recipient, found, room) for found in conversations[:MAILS]]
        if rest := conversations[MAILS:]:
            trigger = most_urgent(trigger for found in rest for trigger, _ in found)
            mails.append(write_rest(recipient, trigger, len(rest), _new_id()))
        for mail in mails:
            if mail is not None:
                await queue_mail(tx, recipient.email, *mail)
                MADE.inc()

    async def _mail_about(
        self, tx: Transaction, recipient: Recipient, found: Sequence[tuple[Trigger, Candidate]], room: Room
    ) -> Mail | None:
        """About one conversation. One that cannot be told must not keep back what others missed."""
        batch = await _batch(tx, recipient, found, room)
        talk = await queries.talk_of(tx, recipient.user_id, batch.first_id)
        reply_to = await self._reply_address(tx, recipient, batch)
        try:
            return write_mail(recipient, talk, batch, _new_id(), reply_to)
        except Exception:
            log.exception("a mail cannot be written", user=recipient.user_id, message=batch.first_id)
            return None

    async def _reply_address(self, tx: Transaction, recipient: Recipient, batch: Batch) -> str:
        """Where an answer becomes a message; none where the mail does not say to what, or nobody takes mail in."""
        if not self._settings.mail_in_address or not recipient.shows_content:
            return ""
        token = new_token()
        await insert_reply_address(tx, token, recipient.user_id, batch.first_id)
        return address_of(self._settings, token)


def _quiet(recipient: Recipient, now: datetime) -> datetime | None:
    """When to look again at what waits for somebody who does not want to hear anything now; None: they do."""
    until = quiet_until(recipient.settings, recipient.timezone, now)
    return None if until is None else min(until, now + QUIET_LOOK)


def _new_id() -> str:
    return f"missed.{secrets.token_hex(12)}"


async def _batch(
    tx: Transaction, recipient: Recipient, found: Sequence[tuple[Trigger, Candidate]], room: Room
) -> Batch:
    triggers = [trigger for trigger, _ in found]
    ids = [one.facts.message_id for _, one in found]
    shows = recipient.shows_content
    missed = await queries.shown(tx, recipient.user_id, ids[:SHOWN]) if shows else []
    messages = room.take(missed)
    context: list[Shown] = []
    if shows and has_context(triggers):
        context = room.take(await queries.before(tx, recipient.user_id, ids[0], CONTEXT, CONTEXT_SECONDS))
    return Batch(
        trigger=most_urgent(triggers),
        first_id=ids[0],
        context=context,
        messages=messages,
        more=max(0, len(ids) - SHOWN) + len(missed) - len(messages),
    )


def _presence(missed: Missed, candidate: Candidate | None, now: datetime) -> Presence:
    if candidate is None or not missed.was_active:
        return Presence.GONE
    return presence_of(missed.edited_at or candidate.sent_at, candidate.active_at, now)
