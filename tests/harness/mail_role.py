"""`tertulia mail` for tests, and letters to it."""

import smtplib
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import make_msgid
from pathlib import Path

from tertulia.engines import free_port
from tests.harness.forking import Forked
from tests.harness.server import MAIL_IN, OwnServer, is_ready
from tests.harness.talk import eventually


class MailRole:
    """A process that takes in mail for a server."""

    def __init__(self, server: OwnServer, folder: Path, port: int | None = None, **settings: object) -> None:
        self.port, metrics = port or free_port(), free_port()
        self.metrics = f"http://127.0.0.1:{metrics}"
        own = {"mail_in_address": MAIL_IN, "mail_in_port": self.port, "metrics_port": metrics}
        env = server.environment(**own, **{"mail_in_connections": 3, **settings})
        self.log = folder / f"mail-{self.port}.log"
        self.process = Forked(["mail"], self.log, env=env)

    def send(self, mail: EmailMessage, to: str, sender: str = "bob@example.com") -> tuple[int, str]:
        """By SMTP; what the role says in the end."""
        with smtplib.SMTP("127.0.0.1", self.port, timeout=30) as smtp:
            return hand_over(smtp, mail, to, sender)

    def deliver(self, mail: EmailMessage, to: str, sender: str = "bob@example.com") -> tuple[int, str]:
        """By LMTP."""
        with smtplib.LMTP("127.0.0.1", self.port, timeout=30) as lmtp:
            return hand_over(lmtp, mail, to, sender)


def hand_over(smtp: smtplib.SMTP, mail: EmailMessage, to: str, sender: str) -> tuple[int, str]:
    smtp.ehlo()  # in LMTP it is called otherwise
    smtp.mail(sender)
    code, said = smtp.rcpt(to)
    if code != 250:
        return code, said.decode()
    code, said = smtp.data(mail.as_bytes(policy=SMTP))
    return code, said.decode()


@contextmanager
def mail_role(server: OwnServer, folder: Path, port: int | None = None, **settings: object) -> Iterator[MailRole]:
    role = MailRole(server, folder, port, **settings)
    role.process.start()
    try:
        eventually(lambda: (is_ready(role.metrics) and _listens(role.port)) or not role.process.is_alive(), 60)
        assert role.process.is_alive(), role.log.read_text()[-3000:]
        yield role
    finally:
        role.process.stop(seconds=20)


def letter(text: str, subject: str = "Re: tea", **headers: str) -> EmailMessage:
    """A mail as people write them."""
    mail = EmailMessage()
    mail["From"], mail["Subject"], mail["Message-ID"] = (
        "Bob <bob@example.com>",
        subject,
        make_msgid(domain="example.com"),
    )
    for name, value in headers.items():
        del mail[name.replace("_", "-")]
        mail[name.replace("_", "-")] = value
    mail.set_content(text)
    return mail


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
