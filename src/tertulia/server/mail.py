"""The mail process: takes in mail from a mail server (Postfix, for example) by LMTP or SMTP, on a port of its own.

A mail is answered with success when its message is committed, with 4xx for what may go well later, so that the mail server keeps
it and tries again, and with 5xx for what never will, so that it tells whoever wrote it. Each transaction has one recipient: for
a second one the mail server comes again, so each has an answer of its own also where LMTP wants several. Any number of these
processes run side by side.

What is in memory is bounded: so many connections, and one mail of so many bytes in each.
"""

import asyncio
import logging
import re
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any

import structlog
from aiosmtpd.smtp import SMTP, Envelope, Session, syntax
from prometheus_client import Counter, Gauge

from tertulia.kernel.db import LOST, UNABLE, Database
from tertulia.kernel.errors import Refusal
from tertulia.kernel.limits import TOO_OFTEN
from tertulia.kernel.monitor import QUESTION_SECONDS, serve_monitor
from tertulia.kernel.outages import postgres_outage
from tertulia.kernel.postgres import work_limits
from tertulia.kernel.sealing import sealer_of
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.kernel.tracing import traced
from tertulia.notifications.mail_in.actions import MailIn
from tertulia.server.app import bounds_of, services_of
from tertulia.server.features import FEATURES

log = structlog.get_logger()

MAILS = Counter(
    "tertulia_mails_in",
    "Mails that came in: posted, repeated, dropped, refused, or put_off to be tried again",
    ["outcome"],
)
CONNECTIONS = Gauge("tertulia_mail_in_connections", "Open connections of mail servers")

POOL_SIZE = 4
RETRY_SECONDS = 1.0
STOP_SECONDS = 10.0
IDLE_SECONDS = 60.0
"""So long a mail server may be silent."""
COMMANDS = 1000
"""Of one kind on one connection."""
MAX_LINE = 64 * 1024
"""Longer than any mail may have it, because some mail servers hand on what they get."""
MIB = 1024 * 1024
END = b"\r\n.\r\n"
"""Of a mail."""
LATER = "451 4.3.0 This cannot be done now. Please try again later."
BUSY = b"421 4.3.2 There are too many connections. Please try again later.\r\n"


async def run_mail(settings: Settings, stop: asyncio.Event) -> None:
    """Take in mail until asked to stop."""
    if not settings.mail_in_address:
        raise SettingsError("tertulia mail needs mail_in_address, such as reply+%s@chat.example.com")
    logging.getLogger("mail.log").setLevel(logging.ERROR)  # addresses of people are not for our log
    database: Database | None = None
    async with AsyncExitStack() as stack:

        async def missing() -> str | None:
            return "PostgreSQL" if database is None else await database.missing(QUESTION_SECONDS)

        stack.enter_context(traced(settings, "mail"))
        await stack.enter_async_context(serve_monitor(settings, missing))
        away = postgres_outage(settings.postgres_url)
        while database is None and not stop.is_set():
            try:
                database = await _connect(settings)
            except LOST as error:
                away.goes_on(error)
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), RETRY_SECONDS)
        if database is None:
            return
        stack.push_async_callback(database.close)
        services = services_of(FEATURES, {Settings: settings, Database: database})
        stack.push_async_callback(services.close)
        await _serve(settings, Door(services[MailIn]), stop)


async def _connect(settings: Settings) -> Database:
    return await Database.connect(
        settings.postgres_url,
        shards=settings.shards,
        size=POOL_SIZE,
        bounds=bounds_of(settings, FEATURES),
        sealer=sealer_of(settings),
        limits=work_limits(settings, "mail"),
        checked=True,
    )


async def _serve(settings: Settings, door: "Door", stop: asyncio.Event) -> None:
    loop, where = asyncio.get_running_loop(), f"{settings.mail_in_host}:{settings.mail_in_port}"
    lines: set[Line] = set()
    try:
        server = await loop.create_server(
            partial(_answered, door, settings, lines), settings.mail_in_host, settings.mail_in_port
        )
    except OSError as problem:
        raise SettingsError(f"the port for mail, {where}, cannot be opened: {problem.strerror}") from problem
    log.info("mail", listens=where)
    await stop.wait()
    server.close()
    # A mail that is being taken in is answered, or the mail server brings it again.
    with suppress(TimeoutError):
        await asyncio.wait_for(door.idle.wait(), STOP_SECONDS)
    for line in list(lines):
        line.end()


def _answered(door: "Door", settings: Settings, lines: "set[Line]") -> asyncio.BaseProtocol:
    return Line(door, settings, lines) if len(lines) < settings.mail_in_connections else TurnedAway()


class TurnedAway(asyncio.Protocol):
    """A connection too many: the mail server comes again."""

    def connection_made(self, transport: Any) -> None:
        """Say so, and hang up."""
        transport.write(BUSY)
        transport.close()


class Line(SMTP):
    """A connection of a mail server: SMTP, or LMTP for those that greet so."""

    line_length_limit = MAX_LINE

    def __init__(self, door: "Door", settings: Settings, lines: "set[Line]") -> None:
        super().__init__(
            door,
            data_size_limit=settings.mail_in_max_mib * MIB,
            enable_SMTPUTF8=True,
            hostname=settings.mail_in_address.rpartition("@")[2],
            ident="Tertulia",
            timeout=IDLE_SECONDS,
            command_call_limit=COMMANDS,
            loop=asyncio.get_running_loop(),
        )
        self._lines = lines

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It counts from now on."""
        self._lines.add(self)
        CONNECTIONS.set(len(self._lines))
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        """It does not count any more."""
        self._lines.discard(self)
        CONNECTIONS.set(len(self._lines))
        super().connection_lost(error)

    def eof_received(self) -> bool | None:
        """Whoever hangs up is gone: the library would keep the other half open, and the connection would count on."""
        super().eof_received()
        return False

    def end(self) -> None:
        """Hang up."""
        if self.transport is not None:
            self.transport.close()

    @syntax("LHLO hostname")
    async def smtp_LHLO(self, arg: str) -> None:  # noqa: N802 -- the library's name
        """The greeting of LMTP."""
        await self.smtp_EHLO(arg)

    @syntax("DATA")
    async def smtp_DATA(self, arg: str | None) -> None:  # noqa: N802 -- as above
        """Take a mail in pieces: the library keeps each line by itself, and of a mail too large without end.

        Only a dot between two whole ends of lines ends it, so what a mail server hands on as one mail is one.
        """
        assert self.envelope is not None
        if not self.envelope.rcpt_tos or arg:
            await self.push("501 Syntax: DATA" if arg else "503 Error: need RCPT command")
            return
        await self.push("354 End data with <CR><LF>.<CR><LF>")
        content = await take_content(self._reader, self.data_size_limit or 0)
        self._reset_timeout()  # it was not silent
        if content is None:
            answer = "552 5.3.4 The mail is too large."
        else:
            self.envelope.content = content
            answer = await self._call_handler_hook("DATA")
        self.envelope = Envelope()
        await self.push(answer)


async def take_content(reader: asyncio.StreamReader, limit: int) -> bytes | None:
    """A mail, up to its end; None if it is too large, of which nothing is kept."""
    taken, size = bytearray(), 0
    while not taken.endswith(END):
        try:
            piece = await reader.readuntil(END)
        except asyncio.LimitOverrunError as longer:
            piece = await reader.readexactly(longer.consumed)
        size += len(piece)
        taken += piece
        if size > limit:
            del taken[: -len(END)]
    if size > limit:
        return None
    return bytes(taken[: -len(END)]).replace(b"\r\n.", b"\r\n").removeprefix(b".") + b"\r\n"


class Door:
    """Answers what a mail server asks."""

    def __init__(self, mail_in: MailIn) -> None:
        self._mail_in = mail_in
        self._under_way = 0
        self.idle = asyncio.Event()
        """No mail is being taken in."""
        self.idle.set()

    async def handle_RCPT(  # noqa: N802 -- as above
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        """Whether mail to this address is taken: who writes to a wrong one is told at once."""
        if envelope.rcpt_tos:
            return "452 4.5.3 One recipient at a time, please."
        try:
            await self._mail_in.get_target(address)
        except Exception as problem:
            return answer_of(problem, "550 5.1.1")
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 Ok"

    async def handle_DATA(  # noqa: N802 -- as above
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """The mail becomes a message before it is answered."""
        assert isinstance(envelope.content, bytes)
        self._under_way += 1
        self.idle.clear()
        try:
            outcome = await self._mail_in.take(envelope.rcpt_tos[0], envelope.mail_from or "", envelope.content)
        except Exception as problem:
            return answer_of(problem, "550 5.7.1")
        finally:
            self._under_way -= 1
            if not self._under_way:
                self.idle.set()
        MAILS.labels(outcome.value).inc()
        log.info("a mail came in", outcome=outcome.value)
        return "250 2.0.0 Ok"

    async def handle_exception(self, error: Exception) -> str:
        """What the library could not read."""
        log.warning("a mail server was not understood", error=repr(error))
        return LATER


def answer_of(problem: Exception, code: str) -> str:
    """For good, or to be tried again."""
    if isinstance(problem, Refusal) and problem.status < 500 and problem.status != TOO_OFTEN:
        MAILS.labels("refused").inc()
        return f"{code} {_in_ascii(problem.msg)}"
    MAILS.labels("put_off").inc()
    if isinstance(problem, (Refusal, *LOST, *UNABLE)):
        log.warning("a mail is put off", error=repr(problem))
    else:
        log.error("a mail is put off", exc_info=problem)
    return LATER


def _in_ascii(text: str) -> str:
    return re.sub(r"[^ -~]+", "?", text)[:400]
