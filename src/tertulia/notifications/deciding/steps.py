"""The worker's part: from messages that wait to what each way of telling people has to do."""

import structlog

from tertulia.kernel.db import Database
from tertulia.kernel.mail import mails_leave
from tertulia.kernel.settings import Settings
from tertulia.notifications.concerns.model import Decision, Facts
from tertulia.notifications.concerns.rules import decide_anew, read_settings
from tertulia.notifications.deciding import queries
from tertulia.notifications.missed_mail.model import Missed
from tertulia.notifications.missed_mail.queries import insert_missed
from tertulia.notifications.push.queries import insert_calls

log = structlog.get_logger()

MESSAGES = 100
PEOPLE = 200
"""So many people of each of so many messages in one transaction: what a worker holds in memory is bounded."""
ROUNDS = 200
"""Then the worker breathes, and tells that it is alive."""


class Deciding:
    """Decides whom messages concern, and hands that to the ways of telling them."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._mails_leave = mails_leave(settings)

    async def decide_due(self) -> int:
        """Deal with what waits; returns how many steps that took, over all messages."""
        done = 0
        for _ in range(ROUNDS):
            some = await self._step()
            done += some
            if not some:
                break
        return done

    async def _step(self) -> int:
        async with self._database.transaction() as tx:
            step = await queries.take_step(tx, MESSAGES, PEOPLE)
            if not step.seen:
                return 0
            decided = [(one, told) for one in step.asked if (told := _decision(one)) is not None]
            held = await queries.end_step(tx, step)
            decided = [(one, told) for one, told in decided if one.facts.message_id in held]
            pushes = [
                (one.facts.user_id, one.facts.message_id, told.push) for one, told in decided if told.push is not None
            ]
            if pushes:
                await insert_calls(tx, pushes)
            mails = [(_missed(one, told), _seconds(one.facts)) for one, told in decided if told.mail is not None]
            if mails and self._mails_leave:
                await insert_missed(tx, mails)
        return len(held)


def _decision(asked: queries.Asked) -> Decision | None:
    """None, where there is none to be had: one person of whom something is wrong must not keep back what others hear of."""
    try:
        return decide_anew(asked.facts, asked.before)
    except Exception:
        log.exception("nothing can be decided", user=asked.facts.user_id, message=asked.facts.message_id)
        return None


def _missed(asked: queries.Asked, told: Decision) -> Missed:
    return Missed(asked.facts.user_id, asked.facts.message_id, told.is_active, asked.edited_at)


def _seconds(facts: Facts) -> int:
    """How long this person's mails are collected."""
    return read_settings(facts.settings).email_notifications_batching_period_seconds
