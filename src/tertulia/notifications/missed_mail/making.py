"""The worker's part: from batches that are due to mails in the outbox."""

import secrets
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from prometheus_client import Counter

from tertulia.kernel.db import Database, Reader, Transaction
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
from tertulia.notifications.missed_mail.rules import (
    Conversation,
    Presence,
    Room,
    has_context,
    most_urgent,
    presence_of,
    told,
)

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


class _Written(NamedTuple):
    """A mail that is not on its way yet."""

    recipient: Recipient
    about: set[tuple[int, int]]
    """Of whom and which messages."""
    mail: Mail | None
    """None: the first of them was deleted before it was written."""
    token: str = ""
    """Of the address of an answer, if there is one."""
    first_id: int = 0


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
        missed = await queries.find_missed(tx, people, MESSAGES)
        now = await queries.now(tx)
        recipients = await queries.recipients(tx, people, self._settings)
        quiet = {one.user_id: until for one in recipients.values() if (until := _quiet(one, now))}
        waits = {user_id: quiet.get(user_id, now + LATER) for user_id in people}
        known = {one.pair: one for one in await queries.candidates(tx, [one.pair for one in missed])}
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
        written = [
            mail
            for user_id, candidates in due.items()
            if user_id in recipients
            for mail in await self._write(tx, recipients[user_id], candidates)
        ]
        await queries.hold_batches(tx, people)
        held = await queries.hold_missed(tx, done)
        same = held & await _as_before(tx, [one for candidates in due.values() for one in candidates])
        await queries.delete_missed(tx, held - await _queue(tx, written, same))
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

    async def _write(self, reader: Reader, recipient: Recipient, candidates: Sequence[Candidate]) -> list[_Written]:
        """One mail for each conversation, the oldest first, as long as these are not many."""
        conversations = list(told(candidates).values())
        room = Room()
        about = [await self._mail_about(reader, recipient, found, room) for found in conversations[:MAILS]]
        mails = [one for one in about if one is not None]
        if rest := conversations[MAILS:]:
            trigger = most_urgent(trigger for found in rest for trigger, _ in found)
            about_all = {one.pair for found in rest for _, one in found}
            mails.append(_Written(recipient, about_all, write_rest(recipient, trigger, len(rest), _new_id())))
        return mails

    async def _mail_about(
        self, reader: Reader, recipient: Recipient, found: Sequence[tuple[Trigger, Candidate]], room: Room
    ) -> _Written | None:
        """About one conversation. One that cannot be told must not keep back what others missed."""
        about = {one.pair for _, one in found}
        batch = await _batch(reader, recipient, found, room)
        talk = await queries.find_talk(reader, recipient.user_id, batch.first_id)
        if talk is None:
            return _Written(recipient, about, None)
        # An answer becomes a message; not where the mail does not say to what, or nobody takes mail in.
        takes_answers = self._settings.mail_in_address and recipient.shows_content
        token = new_token() if takes_answers else ""
        reply_to = address_of(self._settings, token) if takes_answers else ""
        try:
            mail = write_mail(recipient, talk, batch, _new_id(), reply_to)
        except Exception:
            log.exception("a mail cannot be written", user=recipient.user_id, message=batch.first_id)
            return None
        return _Written(recipient, about, mail, token, batch.first_id)


async def _as_before(tx: Transaction, candidates: Sequence[Candidate]) -> set[tuple[int, int]]:
    """Those of them (user, message) that are where they were, and told for the same reason: others were moved, read, or taken
    from somebody while mails were written, and wait for the next time."""
    facts = [one.facts for one in candidates]
    now = _places(await queries.candidates(tx, [(one.user_id, one.message_id) for one in facts]))
    return {pair for pair, place in _places(candidates).items() if now.get(pair) == place}


def _places(candidates: Sequence[Candidate]) -> dict[tuple[int, int], tuple[Conversation, Trigger]]:
    return {one.pair: (where, trigger) for where, found in told(candidates).items() for trigger, one in found}


async def _queue(tx: Transaction, written: Sequence[_Written], same: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Send the mails of which everything is as it was; returns what the others are about."""
    left: set[tuple[int, int]] = set()
    for one in written:
        if one.mail is None or not one.about <= same:
            left |= one.about
            continue
        if one.token:
            await insert_reply_address(tx, one.token, one.recipient.user_id, one.first_id)
        await queue_mail(tx, one.recipient.email, *one.mail)
        MADE.inc()
    return left


def _quiet(recipient: Recipient, now: datetime) -> datetime | None:
    """When to look again at what waits for somebody who does not want to hear anything now; None: they do."""
    until = quiet_until(recipient.settings, recipient.timezone, now)
    return None if until is None else min(until, now + QUIET_LOOK)


def _new_id() -> str:
    return f"missed.{secrets.token_hex(12)}"


async def _batch(reader: Reader, recipient: Recipient, found: Sequence[tuple[Trigger, Candidate]], room: Room) -> Batch:
    triggers = [trigger for trigger, _ in found]
    ids = [one.facts.message_id for _, one in found]
    shows = recipient.shows_content
    missed = await queries.shown(reader, recipient.user_id, ids[:SHOWN]) if shows else []
    messages = room.take(missed)
    context: list[Shown] = []
    if shows and has_context(triggers):
        context = room.take(await queries.before(reader, recipient.user_id, ids[0], CONTEXT, CONTEXT_SECONDS))
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
