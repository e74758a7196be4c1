"""Making the calls: claimed for a while, made without holding anything, forgotten when answered."""

import asyncpg
import msgspec
import structlog
from prometheus_client import Counter

from tertulia.integrations.outgoing import queries
from tertulia.integrations.outgoing.model import HookCall
from tertulia.integrations.outgoing.rules import (
    ATTEMPTS,
    RETRY_SECONDS,
    Failed,
    place_of,
    request_of,
    said_in,
    told_owner,
)
from tertulia.integrations.outgoing.words import words_of
from tertulia.kernel.db import LOST, Database
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import KnownDebts, parse_rates
from tertulia.kernel.outbound import SECONDS, Outbound, Unreachable
from tertulia.kernel.settings import Settings
from tertulia.kernel.tasks import BoundedTasks
from tertulia.messaging.reading.fetch import fetch_these
from tertulia.messaging.reading.load import Look
from tertulia.messaging.reading.model import MessageRecord
from tertulia.messaging.sending.actions import Sending
from tertulia.messaging.sending.model import SendRequest
from tertulia.organization.notices import Notice, tell
from tertulia.organization.notices.queries import language_of
from tertulia.people.bots.queries import TOKEN
from tertulia.people.users.addresses import fake_domain
from tertulia.people.users.authentication.queries import owner_of

log = structlog.get_logger()
CALLS = Counter("tertulia_bot_calls", "Calls of outgoing webhooks, by whether they were answered", ["outcome"])

MAX_RUNNING = 64
MAX_OF_ONE_BOT = 10
MAX_OF_ONE_OWNER = 24
MAX_OF_ONE_REALM = 48
CLAIMED_SECONDS = 2 * SECONDS + 10
"""Longer than a call and the sending of its answer can take."""
CLIENT = "Outgoing webhook"


class Answers:
    """How often the bots of one owner may answer in this process: as often as they may call us. Whoever speaks to many of them
    at once would have them say as much with every message."""

    def __init__(self, settings: Settings) -> None:
        rates = parse_rates(settings.bots_rate) if settings.rate_limits else ()
        self._budgets = [KnownDebts(rate.calls, rate.calls / rate.seconds) for rate in rates]

    def spend(self, owner_id: int) -> None:
        """One of their bots has answered."""
        for budget in self._budgets:
            budget.spend(str(owner_id), 1)

    def waiting(self) -> list[int]:
        """Owners whose bots have answered often enough for now."""
        return sorted({int(owner) for budget in self._budgets for owner in budget.waiting()})


class Calls:
    """Calls bots' servers. Running calls go on while new ones are started; those lost with the process are made again."""

    def __init__(self, database: Database, sending: Sending, settings: Settings) -> None:
        self._database = database
        self._sending = sending
        self._settings = settings
        self._outbound = Outbound(settings)
        self._tasks = BoundedTasks(MAX_RUNNING, MAX_OF_ONE_BOT, MAX_OF_ONE_OWNER, MAX_OF_ONE_REALM)
        self._answers = Answers(settings)

    async def start_due(self) -> int:
        """Start what is due, as far as there is room; returns how many."""
        started = 0
        while started < MAX_RUNNING and (room := self._tasks.room):
            bots, owners, realms = self._tasks.busy()
            async with self._database.transaction() as tx:
                busy = bots, [*owners, *self._answers.waiting()], realms
                claimed = await queries.claim(tx, room, busy, CLAIMED_SECONDS)
            if not claimed:
                break
            for call in claimed:
                self._tasks.start(self._make(call.bot_id, call.message_id), call.bot_id, call.owner_id, call.realm_id)
            started += len(claimed)
        return started

    async def _make(self, bot_id: int, message_id: int) -> None:
        try:
            await self._make_one(bot_id, message_id)
        except (*LOST, Refusal) as error:
            log.warning("PostgreSQL is away: a call is made again later", bot=bot_id, error=repr(error))
        except Exception:
            log.exception("a call failed: it is made again later", bot=bot_id, message=message_id)

    async def _make_one(self, bot_id: int, message_id: int) -> None:
        async with self._database.reader() as reader:
            row = await queries.find_call(reader, bot_id, message_id)
            if row is None:
                return
            call = self._read(row)
            look = Look(apply_markdown=False)
            found = (await fetch_these(reader, call.bot, None, [message_id], look)).messages if call.is_usable else []
        message = found[0] if found else None
        if message is None or call.url is None:
            await self._end(call, None)  # nobody to call, or nothing to tell them
        elif call.attempts > ATTEMPTS:
            await self._end(call, "the server of this organization was interrupted too often", message)
        else:
            await self._call(call, call.url, message)

    async def _call(self, call: HookCall, url: str, message: MessageRecord) -> None:
        # The sender's flags are nobody else's business, and the bot has none.
        message = msgspec.structs.replace(message, flags=msgspec.UNSET)
        body, headers = request_of(call, message, self._settings.url_of(call.bot.subdomain))
        try:
            try:
                answer = await self._outbound.post(url, body, headers)
            except Unreachable as error:
                raise Failed(str(error), again=True) from error
            said = said_in(call, answer)
        except Failed as failure:
            CALLS.labels("failed").inc()
            if failure.again and call.attempts < ATTEMPTS:
                async with self._database.transaction() as tx:
                    seconds = RETRY_SECONDS[min(call.attempts, len(RETRY_SECONDS)) - 1]
                    await queries.put_off(tx, call.bot.user_id, call.message_id, seconds)
            else:
                await self._end(call, failure.reason, message)
            return
        CALLS.labels("answered").inc()
        await self._end(call, None if said is None else await self._answer(call, message, said), message)

    async def _answer(self, call: HookCall, message: MessageRecord, said: str) -> str | None:
        """Send the bot's answer; why not, if it cannot be sent."""
        request = SendRequest(place_of(message), said, CLIENT, key=f"answer to {call.message_id}")
        self._answers.spend(call.owner_id or call.bot.user_id)
        try:
            await self._sending.send(call.bot, request)
        except Refusal as refusal:
            if refusal.code == "SERVER_NOT_READY":
                raise  # no fault of the bot's: the call is made again, and what is answered then is said once
            return f"its answer was refused ({refusal.msg})"
        return None

    async def _end(self, call: HookCall, failure: str | None, message: MessageRecord | None = None) -> None:
        """Take the call off the list, and tell the bot's owner if it came to nothing."""
        async with self._database.transaction() as tx:
            was_there = await queries.delete_call(tx, call.bot.user_id, call.message_id)
            if was_there and failure is not None and call.owner_id is not None:
                words = words_of(await language_of(tx, call.owner_id))
                text = told_owner(words, call, message, failure)
                await tell(tx, call.bot.realm_id, [Notice(text, user_id=call.owner_id)])

    def _token(self, stored: str | None) -> str:
        return "" if stored is None else self._database.sealer.open_text(TOKEN, stored)

    def _read(self, row: asyncpg.Record) -> HookCall:
        owner = owner_of(row)
        bot = msgspec.structs.replace(owner.caller, fake_domain=fake_domain(self._settings, owner.caller.subdomain))
        is_usable = owner.is_active and owner.realm_is_active
        service = (row["base_url"], row["interface"] or 1, self._token(row["token"]))
        return HookCall(bot, is_usable, row["bot_owner_id"], row["message_id"], row["attempts"], *service)
