"""Mail: written into the outbox by the transaction that wants it, sent by the worker.

A mail exists if and only if the change it tells of does. It is deleted by the transaction that saw it accepted, so a
worker that dies in between sends it again: at least once, never lost. Several workers never take the same one.
"""

import asyncio
import re
import smtplib
import ssl
from collections.abc import Callable
from contextlib import suppress
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qs, unquote

import msgspec
import structlog
from prometheus_client import Counter

from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.mail_addresses import is_address
from tertulia.kernel.mail_failures import note_failed, note_taken
from tertulia.kernel.sealing import CannotOpen, SealedColumn
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.kernel.text import without_bad_characters
from tertulia.kernel.urls import split_url

log = structlog.get_logger()

MAILS = Counter("tertulia_mails", "Mails by what became of a try: sent, put_off, or given_up", ["outcome"])

TIMEOUT_SECONDS = 20.0
FIRST_WAIT_SECONDS = 10
LONGEST_WAIT_SECONDS = 3600
GIVE_UP_DAYS = 3
MAX_LETTERS = 200
"""So many letters wait at most to leave before more are written: a minute or two, however slow the mail server is."""
MAILS_PER_CONNECTION = 100
"""Mail servers dislike connections that never end."""
_FINE = 250


BODY = SealedColumn("mail_outbox", "body", row="id", is_text=True)
LETTER = SealedColumn("mail_outbox", "letter", row="id", is_text=True)
_POLICY = SMTP.clone(max_line_length=990)
"""Lines as long as a mail may have them: an id or an address in a header that is folded would be encoded, and no longer one."""


class Letter(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a mail has besides its plain text."""

    html: str = ""
    sender_name: str = ""
    headers: dict[str, str] = {}
    """Instead of, or besides, those that every mail has. A Message-ID stays the same if the mail is sent twice."""


class Mail(msgspec.Struct, frozen=True):
    """A mail of the outbox."""

    id: int
    recipient: str | None
    subject: str
    body: str
    attempts: int
    is_old: bool
    letter: str | None = None


async def queue_mail(
    tx: Transaction, recipient: str | None, subject: str, body: str, letter: Letter | None = None
) -> None:
    """Send a mail when this transaction commits. Without a recipient nothing is sent, at the same cost."""
    # Links in it let whoever has them in.
    sealed = tx.sealer.seal_text(BODY, body)
    rest = None if letter is None else tx.sealer.seal_text(LETTER, msgspec.json.encode(letter).decode())
    sql = "insert into mail_outbox (recipient, subject, body, letter) values ($1, $2, $3, $4)"
    await tx.execute(sql, recipient, subject, sealed, rest)


async def is_busy(tx: Transaction) -> bool:
    """Whether so many letters wait to leave that nobody should write more of them: what is asked for leaves soon, too."""
    sql = "select count(*) >= $1 from (select from mail_outbox where due <= now() and letter is not null limit $1) as waiting"
    return bool(await tx.fetchval(sql, MAX_LETTERS))


_LINKED = re.compile(r"(?<=\w)(\.|:(?=//)|@)(?=[^\W\d_]|//)")


def one_line(name: str) -> str:
    """A name as it may stand in a mail: one line, and nothing that the reader's program makes a link of.

    Whoever chooses a name would otherwise send links of their own to any address, in our mails.
    """
    return " ".join(_LINKED.sub(r"\1 ", without_bad_characters(name)).split())


class Refused(Exception):
    """The mail will not be accepted, however often it is tried."""


class RecipientRefused(Refused):
    """Nobody is at that address, says the mail server."""


class Away(OSError):
    """The mail server cannot be reached: no mail would be accepted now."""


class Way(Protocol):
    """A way out for mails, one after another."""

    def send(self, message: EmailMessage) -> None:
        """Hand one over; blocks."""

    def end(self) -> None:
        """There are no more for now; blocks."""


class Postman:
    """Delivers what is in the outbox."""

    def __init__(self, settings: Settings) -> None:
        self._sender = sender_of(settings)
        self._open_way = choose_way(settings)

    async def deliver(self, database: Database) -> int:
        """Send everything that is due, one mail per transaction; returns how many were accepted.

        If the mail server is away, one mail has shown it: the others wait for the next time.
        """
        sent = 0
        if self._open_way is None:
            # They wait for a way out, but not until nobody wants them any more.
            async with database.transaction() as tx:
                await _forget_old(tx)
            return 0
        way = self._open_way()
        try:
            while True:
                async with database.transaction() as tx:
                    mail = await _claim(tx)
                    outcome = None if mail is None else await self._deliver_one(tx, mail, way)
                if outcome is None:
                    return sent
                sent += outcome
        finally:
            await asyncio.to_thread(way.end)

    async def _deliver_one(self, tx: Transaction, mail: Mail, way: Way) -> bool | None:
        """Whether it was accepted; None: the mail server is away."""
        if mail.recipient is None:
            await _forget(tx, mail)
            return False
        try:
            await asyncio.to_thread(way.send, _composed(self._sender, mail.recipient, mail))
        except (Refused, ValueError) as error:
            log.error("a mail cannot be delivered", mail=mail.id, error=repr(error))
            MAILS.labels("given_up").inc()
            if isinstance(error, RecipientRefused):
                await note_failed(tx, mail.recipient, str(error))
            await _forget(tx, mail)
            return False
        except (OSError, smtplib.SMTPException) as error:
            log.warning("a mail was not accepted yet", mail=mail.id, attempts=mail.attempts + 1, error=repr(error))
            MAILS.labels("given_up" if mail.is_old else "put_off").inc()
            await (_forget(tx, mail) if mail.is_old else _put_off(tx, mail))
            return None if isinstance(error, Away) else False
        await _forget(tx, mail)
        await note_taken(tx, mail.recipient)
        MAILS.labels("sent").inc()
        return True


def sender_of(settings: Settings) -> str:
    """Who our mails are from."""
    return settings.mail_from or f"noreply@{settings.external_host.partition(':')[0]}"


def mails_leave(settings: Settings) -> bool:
    """Whether this server sends mail."""
    return bool(settings.smtp_url or settings.mail_folder)


def check_mails_leave(settings: Settings) -> None:
    """Refuse what makes no sense without mails, where none are sent: or people would wait for one."""
    if not mails_leave(settings):
        raise Refusal("This server does not send mail. Ask whoever runs it.", code="NO_MAIL")


def check_no_mails_leave(settings: Settings) -> None:
    """Refuse what stands in for mails, where they are sent."""
    if mails_leave(settings):
        raise Refusal("This server sends mail: invite by that.", code="MAIL_IS_SENT")


def choose_way(settings: Settings) -> Callable[[], Way] | None:
    """How mails leave: by SMTP, into a folder, or not at all (they wait)."""
    if settings.smtp_url:
        return partial(SmtpLine, SmtpServer.parse(settings.smtp_url))
    if settings.mail_folder:
        return partial(MailFolder, Path(settings.mail_folder))
    return None


class SmtpServer(msgspec.Struct, frozen=True):
    """Where mails are handed over."""

    host: str
    port: int
    user: str
    password: str
    tls: bool
    starttls: bool

    @classmethod
    def parse(cls, url: str) -> "SmtpServer":
        """From `smtp://user:password@host:port?starttls` or `smtps://...`."""
        parts = split_url(url)
        options = parse_qs(parts.query, keep_blank_values=True)
        if parts.scheme not in ("smtp", "smtps") or not parts.hostname or set(options) - {"starttls"}:
            raise SettingsError("smtp_url must look like smtp://user:password@host:587?starttls or smtps://host")
        tls, starttls = parts.scheme == "smtps", "starttls" in options
        is_local = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if parts.password and not (tls or starttls or is_local):
            raise SettingsError("smtp_url: a password goes over the net in clear; add ?starttls or use smtps://")
        port = parts.port or (465 if tls else 25)
        return cls(parts.hostname, port, unquote(parts.username or ""), unquote(parts.password or ""), tls, starttls)

    def greet(self) -> None:
        """Come as far as with a mail, and hand nothing over; blocks."""
        with self.connect() as smtp:
            smtp.noop()

    def connect(self) -> smtplib.SMTP:
        """A connection on which mails can be handed over."""
        smtp = self._connect()
        try:
            self._introduce(smtp)
        except BaseException:
            smtp.close()
            raise
        return smtp

    def _introduce(self, smtp: smtplib.SMTP) -> None:
        smtp.ehlo_or_helo_if_needed()
        if self.starttls:
            smtp.starttls(context=ssl.create_default_context())
        if self.user:
            smtp.login(self.user, self.password)

    def _connect(self) -> smtplib.SMTP:
        if self.tls:
            context = ssl.create_default_context()
            return smtplib.SMTP_SSL(self.host, self.port, timeout=TIMEOUT_SECONDS, context=context)
        return smtplib.SMTP(self.host, self.port, timeout=TIMEOUT_SECONDS)


class SmtpLine:
    """A connection that is kept for several mails, and made anew where it ended meanwhile."""

    def __init__(self, server: SmtpServer) -> None:
        self._server = server
        self._smtp: smtplib.SMTP | None = None
        self._used = 0

    def send(self, message: EmailMessage) -> None:
        """Hand one mail over; blocks."""
        try:
            self._open().send_message(message)
        except smtplib.SMTPRecipientsRefused as error:
            if all(500 <= code < 600 for code, _ in error.recipients.values()):
                said = [f"{code} {text.decode(errors='replace')}" for code, text in error.recipients.values()]
                raise RecipientRefused("; ".join(said)) from error
            raise
        except (smtplib.SMTPNotSupportedError, smtplib.SMTPDataError) as error:
            if getattr(error, "smtp_code", 500) >= 500:
                raise Refused(repr(error)) from error
            raise
        except (OSError, smtplib.SMTPException):
            self._drop()
            raise

    def _open(self) -> smtplib.SMTP:
        """The connection, ready for a mail. What ended before it began cost no mail anything."""
        if self._smtp is not None and (self._used >= MAILS_PER_CONNECTION or not self._is_alive(self._smtp)):
            self.end()
        if self._smtp is None:
            try:
                self._smtp = self._server.connect()
            except smtplib.SMTPNotSupportedError:
                raise
            except (OSError, smtplib.SMTPException) as error:
                raise Away(repr(error)) from error
            self._used = 0
        self._used += 1
        return self._smtp

    @staticmethod
    def _is_alive(smtp: smtplib.SMTP) -> bool:
        try:
            return smtp.rset()[0] == _FINE
        except (OSError, smtplib.SMTPException):
            return False

    def _drop(self) -> None:
        """It failed: nothing more is said on it."""
        if self._smtp is not None:
            self._smtp.close()
            self._smtp = None

    def end(self) -> None:
        """Say good-bye, if the other side still listens."""
        if self._smtp is not None:
            with suppress(OSError, smtplib.SMTPException):
                self._smtp.quit()
            self._drop()


class MailFolder:
    """Where mails are put for development."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def send(self, message: EmailMessage) -> None:
        """Put one there."""
        write_file(self._folder, message)

    def end(self) -> None:
        """Nothing is open."""


def write_file(folder: Path, message: EmailMessage) -> None:
    """Put a mail into a folder, for development: whole or not at all, readable by its owner."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9@.+-]", "_", str(message["To"]))[:80]
    target = folder / f"{message['Message-ID'].strip('<>').partition('@')[0]}-{name}.eml"
    attempt = target.with_suffix(".new")
    attempt.write_bytes(message.as_bytes())
    attempt.chmod(0o600)
    attempt.replace(target)


def compose(sender: str, recipient: str, subject: str, body: str, letter: Letter | None = None) -> EmailMessage:
    """A mail: plain text, and what the letter adds to it. Raises Refused for what would go elsewhere, or say what we do not."""
    if not is_address(recipient):
        raise Refused("the recipient's address is none")
    letter = letter or Letter()
    message = EmailMessage(policy=_POLICY if letter.headers else SMTP)
    message["From"] = (
        Address(_in_header(letter.sender_name), addr_spec=sender)
        if letter.sender_name and "<" not in sender
        else sender
    )
    message["To"] = recipient
    message["Subject"] = _in_header(subject)
    message["Date"] = formatdate(usegmt=True)
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"
    for name, value in letter.headers.items():
        del message[name]
        message[name] = value
    message.set_content(body)
    if letter.html:
        message.add_alternative(letter.html, subtype="html")
    return message


def _in_header(text: str) -> str:
    """Text for a header, which is read as it stands.

    The library reads encoded words in what it is given, and writes what they stand for: ends of lines, too.
    """
    return text.replace("=?", "= ?")


def _composed(sender: str, recipient: str, mail: Mail) -> EmailMessage:
    """The mail as it is sent. However it fails, it is this mail that fails: those behind it are not kept waiting."""
    try:
        letter = None if mail.letter is None else msgspec.json.decode(mail.letter, type=Letter)
        message = compose(sender, recipient, mail.subject, mail.body, letter)
        message.as_bytes()
    except Exception as error:
        raise Refused(f"it cannot be written: {type(error).__name__}") from error
    if any(end in str(value) for value in message.values() for end in "\r\n"):
        raise Refused("a header has more than one line")
    return message


async def _claim(tx: Transaction) -> Mail | None:
    # First what somebody waits for, such as a new password: letters are what nobody asked for. Both are looked for by the index:
    # in one order of all they would be sorted anew for each mail.
    sql = """
    with asked_for as materialized (
        select * from mail_outbox where due <= now() and letter is null order by due, id limit 1 for update skip locked
    ), unasked as materialized (
        select * from mail_outbox where due <= now() and letter is not null and not exists (select from asked_for)
        order by due, id limit 1 for update skip locked
    )
    select id, recipient, subject, body, letter, attempts, created < now() - make_interval(days => $1) as is_old
    from (table asked_for union all table unasked) as mail
    """
    row = await tx.fetchrow(sql, GIVE_UP_DAYS)
    if row is None:
        return None
    mail = Mail(**row)
    try:
        letter = None if mail.letter is None else tx.sealer.open_text(LETTER, mail.letter)
        return msgspec.structs.replace(mail, body=tx.sealer.open_text(BODY, mail.body), letter=letter)
    except CannotOpen as problem:
        log.error("a mail cannot be read", mail=mail.id, problem=str(problem))
        await (_forget(tx, mail) if mail.is_old else _put_off(tx, mail))
        return None


async def _forget(tx: Transaction, mail: Mail) -> None:
    await tx.execute("delete from mail_outbox where id = $1", mail.id)


async def _forget_old(tx: Transaction) -> None:
    sql = "delete from mail_outbox where created < now() - make_interval(days => $1)"
    await tx.execute(sql, GIVE_UP_DAYS)


async def _put_off(tx: Transaction, mail: Mail) -> None:
    wait = min(FIRST_WAIT_SECONDS * 2**mail.attempts, LONGEST_WAIT_SECONDS)
    sql = "update mail_outbox set attempts = attempts + 1, due = now() + make_interval(secs => $2) where id = $1"
    await tx.execute(sql, mail.id, wait)
