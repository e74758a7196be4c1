"""Mail: from the outbox to a real SMTP server, or to a folder; never lost, never twice at the same time."""

import asyncio
import email
import ssl
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from email.message import Message
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, Session

from tertulia.conversations.invitations.mails import send_invitation
from tertulia.engines import free_port
from tertulia.kernel.db import Database
from tertulia.kernel.mail import MAX_LETTERS, Away, Letter, Postman, SmtpLine, SmtpServer, is_busy, queue_mail
from tertulia.kernel.mail_failures import is_stopped, note_failed
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.organization.realms.queries import Realm as Organization
from tertulia.organization.realms.settings import decode_realm
from tests.harness.certificate import make_certificate
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import check_error

ADDRESS = "kofi@example.com"


class Mailbox:
    """What an SMTP server does with what it gets: takes it, or answers as it is told."""

    def __init__(self) -> None:
        self.taken: list[Envelope] = []
        self.answers: list[str] = []
        self.delay = 0.0

    async def handle_RCPT(  # noqa: N802
        self, _server: Any, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address.startswith("unknown"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 fine"

    async def handle_DATA(self, _server: Any, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        await asyncio.sleep(self.delay)
        if self.answers:
            return self.answers.pop(0)
        self.taken.append(envelope)
        return "250 taken"

    def messages(self) -> list[Message]:
        return [email.message_from_bytes(envelope.content or b"", policy=default) for envelope in self.taken]  # type: ignore[arg-type]


class HardMailbox(Mailbox):
    """Slow, refuses every tenth address and every seventh mail for now, and hangs up now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.delay = 0.002
        self.tries = 0

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address.partition("@")[0].endswith("0"):
            return "550 no such mailbox"
        return await super().handle_RCPT(server, session, envelope, address, options)

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        self.tries += 1
        if self.tries % 7 == 0:
            return "451 later"
        if self.tries % 11 == 0:
            return "421 good-bye"
        return await super().handle_DATA(server, session, envelope)


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def smtp_port(mailbox: Mailbox) -> Iterator[int]:
    controller = Controller(mailbox, hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        yield controller.port
    finally:
        controller.stop()


@asynccontextmanager
async def outbox(server: Server) -> AsyncIterator[Database]:
    """A database of its own for the outbox, so that the worker of the server does not take what is in it."""
    name = "outbox"
    async with await Database.connect(server.postgres_url, shards=4, size=1) as database:
        await database.pool.execute(f"drop schema if exists {name} cascade; create schema {name}")
        for table in ("mail_outbox", "mail_failure"):
            await database.pool.execute(f"create table {name}.{table} (like public.{table} including all)")
    async with await Database.connect(outbox_url(server, name), shards=4, size=4) as database:
        yield database


def outbox_url(server: Server, name: str = "outbox") -> str:
    separator = "&" if "?" in server.postgres_url else "?"
    return f"{server.postgres_url}{separator}search_path={name}"


async def put(
    database: Database, recipient: str | None = ADDRESS, subject: str = "Hello", body: str = "Text\n"
) -> None:
    async with database.transaction() as tx:
        await queue_mail(tx, recipient, subject, body)


async def put_and_fail(database: Database) -> None:
    async with database.transaction() as tx:
        await queue_mail(tx, ADDRESS, "never", "never")
        raise RuntimeError


async def left(database: Database) -> int:
    return int(await database.pool.fetchval("select count(*) from mail_outbox"))


def postman(port: int, **settings: Any) -> Postman:
    return Postman(Settings(smtp_url=f"smtp://127.0.0.1:{port}", mail_from="chat@example.org", **settings))


async def test_a_mail_of_a_committed_transaction_is_sent_once(server: Server, mailbox: Mailbox, smtp_port: int) -> None:
    async with outbox(server) as database:
        await put(database, subject="Grüße\u00a0", body="Ein längerer Text: ☕\n.\nEnde\n")
        with pytest.raises(RuntimeError):
            await put_and_fail(database)
        assert await postman(smtp_port).deliver(database) == 1
        assert await postman(smtp_port).deliver(database) == 0
        assert await left(database) == 0
    [message] = mailbox.messages()
    assert (message["From"], message["To"], message["Subject"]) == ("chat@example.org", ADDRESS, "Grüße\u00a0")
    assert (message["Auto-Submitted"], bool(message["Date"]), bool(message["Message-ID"])) == (
        "auto-generated",
        True,
        True,
    )
    assert message.get_content().replace("\r\n", "\n") == "Ein längerer Text: ☕\n.\nEnde\n"  # type: ignore[attr-defined]


async def test_each_mail_arrives_once_from_a_server_that_is_slow_refuses_hangs_up_and_is_away(server: Server) -> None:
    hard, port = HardMailbox(), free_port()
    count = 200
    async with outbox(server) as database:
        for number in range(count):
            await put(database, f"person{number}@example.com", subject=f"Mail {number}")
        assert await postman(port).deliver(database) == 0  # it is away: one mail has found out, and the others wait
        assert await database.pool.fetchval("select sum(attempts) from mail_outbox") == 1
        for part in range(3):
            controller = Controller(hard, hostname="127.0.0.1", port=port)
            controller.start()
            sending = asyncio.ensure_future(postman(port).deliver(database))
            if part < 2:  # it goes in the middle of the work
                while len(hard.taken) < 60 * (part + 1):
                    await asyncio.sleep(0.005)
            else:
                await sending
            while part == 2 and await left(database):
                await database.pool.execute("update mail_outbox set due = now()")
                await postman(port).deliver(database)
            await asyncio.to_thread(controller.stop)
            await sending
        refused = await database.pool.fetchval("select count(*) from mail_failure")
    arrived = [str(message["Subject"]) for message in hard.messages()]
    wanted = {f"Mail {number}" for number in range(count) if number % 10}
    assert set(arrived) == wanted
    assert len(arrived) - len(wanted) <= 2  # the answer to one mail is lost each time that the server goes
    assert refused == count // 10


DELIVER = """
import asyncio, sys
from tertulia.kernel.db import Database
from tertulia.kernel.mail import Postman
from tertulia.kernel.settings import Settings

async def run(url, port):
    async with await Database.connect(url, shards=4, size=1) as database:
        await Postman(Settings(smtp_url=f"smtp://127.0.0.1:{port}")).deliver(database)

asyncio.run(run(*sys.argv[1:]))
"""


async def test_a_worker_that_is_killed_leaves_at_most_one_mail_that_comes_twice(
    server: Server, mailbox: Mailbox, smtp_port: int
) -> None:
    mailbox.delay = 0.01
    async with outbox(server) as database:
        for number in range(60):
            await put(database, subject=f"Mail {number}")
        worker = await asyncio.create_subprocess_exec(sys.executable, "-c", DELIVER, outbox_url(server), str(smtp_port))
        while len(mailbox.taken) < 20:
            assert worker.returncode is None
            await asyncio.sleep(0.002)
        worker.kill()
        await worker.wait()
        assert await left(database) > 0
        while await left(database):  # what it held is free when PostgreSQL has noticed
            await postman(smtp_port).deliver(database)
    arrived = [str(message["Subject"]) for message in mailbox.messages()]
    assert set(arrived) == {f"Mail {number}" for number in range(60)}
    assert len(arrived) <= 61


async def test_a_mail_to_nobody_is_dropped_unsent(server: Server, mailbox: Mailbox, smtp_port: int) -> None:
    async with outbox(server) as database:
        await put(database, None)
        assert await postman(smtp_port).deliver(database) == 0
        assert (await left(database), mailbox.taken) == (0, [])


async def test_a_mail_that_is_not_accepted_yet_is_tried_again_later(
    server: Server, mailbox: Mailbox, smtp_port: int
) -> None:
    async with outbox(server) as database:
        await put(database)
        mailbox.answers = ["451 try again"]
        assert await postman(smtp_port).deliver(database) == 0
        row = await database.pool.fetchrow(
            "select attempts, extract(epoch from due - now())::int as wait from mail_outbox"
        )
        assert row is not None
        assert (row["attempts"], 5 < row["wait"] <= 10) == (1, True)
        assert await postman(smtp_port).deliver(database) == 0
        await database.pool.execute("update mail_outbox set due = now()")
        assert await postman(smtp_port).deliver(database) == 1
    assert len(mailbox.taken) == 1


async def test_a_server_that_is_away_loses_nothing(server: Server, mailbox: Mailbox, smtp_port: int) -> None:
    async with outbox(server) as database:
        await put(database)
        assert await postman(free_port()).deliver(database) == 0
        assert await left(database) == 1
        await database.pool.execute("update mail_outbox set due = now(), attempts = 30")
        assert await postman(free_port()).deliver(database) == 0
        assert await database.pool.fetchval("select due - now() <= interval '1 hour' from mail_outbox")
        await database.pool.execute("update mail_outbox set due = now()")
        assert await postman(smtp_port).deliver(database) == 1


async def test_what_will_never_be_accepted_is_given_up(server: Server, mailbox: Mailbox, smtp_port: int) -> None:
    async with outbox(server) as database:
        await put(database, "unknown@example.com")
        await put(database, "two\r\nBcc: all@example.com")
        mailbox.answers = ["554 spam"]
        await put(database)
        assert await postman(smtp_port).deliver(database) == 0
        await put(database, "old@example.com")
        await database.pool.execute("update mail_outbox set created = now() - interval '4 days'")
        assert await postman(free_port()).deliver(database) == 0
        assert (await left(database), mailbox.taken) == (0, [])


INJECTED = "=?utf-8?q?=0D=0ABcc:_all=0D=0A=0D=0AText?="
"""What Python's reader of headers makes lines of its own of."""


async def test_names_in_a_header_stay_in_their_line(server: Server, mailbox: Mailbox, smtp_port: int) -> None:
    async with outbox(server) as database:
        async with database.transaction() as tx:
            await queue_mail(tx, ADDRESS, f"#tea > {INJECTED}", "Text\n", Letter("<p>Text</p>", INJECTED, {"X-A": "b"}))
        assert await postman(smtp_port).deliver(database) == 1
    head, _, _ = (mailbox.taken[0].content or b"").partition(b"\r\n\r\n")  # type: ignore[arg-type]
    assert b"\nBcc" not in head
    assert b"\nX-A: b" in head
    [message] = mailbox.messages()
    assert message["Subject"].count("Bcc") == message["From"].count("Bcc") == 1


async def test_a_mail_that_cannot_be_written_keeps_no_other_back_and_goes_to_nobody_else(
    server: Server, mailbox: Mailbox, smtp_port: int
) -> None:
    async with outbox(server) as database:
        for strange in ("a@[", "=?utf-8?q?mallory=40example.org?=,x@example.com", "a,b@example.com", '"a"@example.com'):
            await put(database, strange)
        await put(database, subject="two\r\nlines")
        await put(database)
        assert await postman(smtp_port).deliver(database) == 1
        assert await left(database) == 0
    assert [envelope.rcpt_tos for envelope in mailbox.taken] == [[ADDRESS]]


async def test_what_somebody_waits_for_leaves_before_letters_and_of_these_few_wait(
    server: Server, mailbox: Mailbox, smtp_port: int
) -> None:
    async with outbox(server) as database:
        async with database.transaction() as tx:
            for number in range(MAX_LETTERS - 1):
                await queue_mail(tx, ADDRESS, f"letter {number}", "Text\n", Letter("<p>Text</p>"))
            assert not await is_busy(tx)
            await queue_mail(tx, ADDRESS, "one more", "Text\n", Letter("<p>Text</p>"))
            assert await is_busy(tx)
            await tx.execute("update mail_outbox set due = now() + interval '1 hour' where subject <> 'letter 1'")
            assert not await is_busy(tx)
        await put(database, subject="Your password")
        assert await postman(smtp_port).deliver(database) == 2
    assert [message["Subject"] for message in mailbox.messages()] == ["Your password", "letter 1"]


async def test_whoever_waits_for_a_password_comes_before_hundreds_who_are_invited(
    server: Server, mailbox: Mailbox, smtp_port: int
) -> None:
    organization = Organization(1, "tea", "", "Tea", "", 0, True, decode_realm("{}"))
    async with outbox(server) as database:
        async with database.transaction() as tx:
            for number in range(20):
                await send_invitation(tx, organization, "Ada", f"{number}@example.com", "https://example.org/join")
        await put(database, subject="Your password")
        assert await postman(smtp_port).deliver(database) == 21
    assert mailbox.messages()[0]["Subject"] == "Your password"
    assert mailbox.messages()[1].get_content_type() == "text/plain"


async def test_refusals_of_an_address_are_counted_until_it_takes_a_mail(
    server: Server, mailbox: Mailbox, smtp_port: int
) -> None:
    async def known(database: Database) -> list[tuple[str, int, str]]:
        rows = await database.pool.fetch("select email_key, failures, reason from mail_failure order by 1")
        return [(row["email_key"], row["failures"], row["reason"]) for row in rows]

    async with outbox(server) as database:
        for _ in range(2):
            await put(database, "unknown@Example.com")
        await postman(smtp_port).deliver(database)
        assert await known(database) == [("unknown@example.com", 2, "550 no such mailbox")]
        # A text that is disliked, a server that is away: nothing about the address.
        mailbox.answers = ["554 spam", "451 later"]
        for _ in range(2):
            await put(database)
        await postman(smtp_port).deliver(database)
        assert len(await known(database)) == 1
        async with database.transaction() as tx:
            await note_failed(tx, ADDRESS.upper(), f"550 <{ADDRESS}> gone\0" + "x" * 1000)
            assert not await is_stopped(tx, ADDRESS)
            said = await tx.fetchval("select reason from mail_failure where email_key = $1", ADDRESS)
            assert (said[:12], len(said)) == ("550 <…> gone", 500)
            await tx.execute("update mail_failure set failures = 3, failing_since = now() - interval '2 days'")
            assert await is_stopped(tx, ADDRESS)
        await put(database)
        assert await postman(smtp_port).deliver(database) == 1
        assert [address for address, _, _ in await known(database)] == ["unknown@example.com"]


async def test_a_letter_has_both_parts_and_its_own_headers(server: Server, mailbox: Mailbox, smtp_port: int) -> None:
    link = "https://chat.example.org/" + "x" * 120
    letter = Letter(
        "<p>Grüße</p>", "Café, „Chat“", {"Message-ID": "<one@example.org>", "List-Unsubscribe": f"<{link}>"}
    )
    async with outbox(server) as database:
        async with database.transaction() as tx:
            await queue_mail(tx, ADDRESS, "Über " * 60, "Grüße\n", letter)
        [stored] = await database.pool.fetch("select letter from mail_outbox")
        assert await postman(smtp_port).deliver(database) == 1
    [message] = mailbox.messages()
    assert stored["letter"]
    assert (message["From"], message["Message-ID"]) == ('"Café, „Chat“" <chat@example.org>', "<one@example.org>")
    assert message["Subject"].strip() == ("Über " * 60).strip()
    assert f"\nList-Unsubscribe: <{link}>\r\n".encode() in (mailbox.taken[0].content or b"")
    assert [part.get_content_type() for part in message.walk()] == ["multipart/alternative", "text/plain", "text/html"]


@pytest.mark.timed
async def test_two_workers_share_the_work_and_a_slow_server_holds_nobody_up(
    server: Server, mailbox: Mailbox, smtp_port: int
) -> None:
    async with outbox(server) as database:
        for i in range(10):
            await put(database, f"person{i}@example.com")
        mailbox.delay = 0.05
        counts = await asyncio.gather(*(postman(smtp_port).deliver(database) for _ in range(2)))
        assert sum(counts) == 10
        assert min(counts) > 0
    assert sorted(envelope.rcpt_tos[0] for envelope in mailbox.taken) == [f"person{i}@example.com" for i in range(10)]


async def test_without_a_way_mails_wait(server: Server, folder: Path) -> None:
    async with outbox(server) as database:
        await put(database)
        assert await Postman(Settings()).deliver(database) == 0
        assert await left(database) == 1
        assert await Postman(Settings(mail_folder=str(folder / "mail"))).deliver(database) == 1
    [file] = (folder / "mail").iterdir()
    assert file.name.endswith(f"-{ADDRESS}.eml")
    assert file.stat().st_mode & 0o077 == 0
    message = email.message_from_bytes(file.read_bytes(), policy=default)
    assert (message["To"], message["From"]) == (ADDRESS, "noreply@localhost")


def test_credentials_are_given_over_tls_only(
    stage: Stage, mailbox: Mailbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = make_certificate(folder)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    logins = []

    def authenticate(_server: Any, _session: Any, _envelope: Any, _mechanism: str, login: Any) -> AuthResult:
        logins.append((login.login, login.password))
        return AuthResult(success=login.password == b"p:w/d")

    controller = Controller(
        mailbox,
        hostname="127.0.0.1",
        port=free_port(),
        tls_context=context,
        require_starttls=True,
        authenticator=authenticate,
        auth_required=True,
    )
    controller.start()
    try:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        url = f"smtp://chat%40example.org:p%3Aw%2Fd@localhost:{controller.port}?starttls"
        message = email.message.EmailMessage()
        message["From"], message["To"] = "chat@example.org", ADDRESS
        line = SmtpLine(SmtpServer.parse(url))
        line.send(message)
        line.end()
        assert logins == [(b"chat@example.org", b"p:w/d")]
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(Away) as away:
            line.send(message)
        assert isinstance(away.value.__cause__, ssl.SSLCertVerificationError)
    finally:
        controller.stop()
    assert len(mailbox.taken) == 1


@pytest.mark.parametrize(
    "url",
    ["mail.example.com", "http://mail.example.com", "smtp://", "smtp://a:b@mail.example.com", "smtp://host?tls=1"],
)
def test_an_address_of_a_mail_server_that_cannot_be_meant_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(SettingsError):
        Postman(Settings(smtp_url=url))


def test_ports_follow_from_the_scheme() -> None:
    assert SmtpServer.parse("smtp://mail.example.com").port == 25
    assert SmtpServer.parse("smtps://a:b@mail.example.com").port == 465
    assert SmtpServer.parse("smtp://a:b@mail.example.com:587?starttls").starttls


def test_where_no_mail_is_sent_nobody_is_told_to_wait_for_one(realm: Realm, server: Server, folder: Path) -> None:
    link = str(realm.owner.post("invites/multiuse")["invite_link"]).rpartition("/")[2]
    web = Web(server, folder, mail_folder="")
    try:
        owner, nobody = (
            realm.as_user(realm.owner.user, url=web.wait().url),
            realm.stage.nobody(url=web.url, host=realm.host),
        )
        for reply in (
            nobody.request("POST", "signups", email="new@example.com", key=link),
            nobody.request("POST", "accounts/password/reset", email=realm.member.email),
            owner.request("POST", "invites", invitee_emails="new@example.com", stream_ids=[]),
            owner.request("PATCH", "settings", email="other@example.com"),
        ):
            assert check_error(reply, code="NO_MAIL") == "This server does not send mail. Ask whoever runs it."
        realm.stage.sql("update account set password_hash = '!' where id = %s", realm.member.user.user_id)
        reply = nobody.request("POST", "fetch_api_key", username=realm.member.email, password="x")
        assert check_error(reply, "PASSWORD_RESET_REQUIRED", 401).endswith(
            "This server does not send mail: ask whoever runs it for a link to choose another one."
        )
    finally:
        web.stop()
