"""Whether mails leave: without them nobody joins by an invitation, and nobody gets a new password."""

import smtplib
import ssl

from tertulia.cli.doctor import Advice
from tertulia.cli.errors import CommandFailed
from tertulia.kernel.settings import Settings


def look_at_mail(settings: Settings) -> str:
    """Greet the mail server, and log in there if we would."""
    from tertulia.kernel.mail import SmtpServer

    if not settings.smtp_url:
        if settings.mail_folder:
            return f"written to {settings.mail_folder}"
        raise Advice(
            "none is sent: set TERTULIA_SMTP_URL. Until then people cannot ask for a new password or join by mail;"
            " `tertulia user reset-password --link` makes a link by hand, and ends the old password and all keys"
        )
    server = SmtpServer.parse(settings.smtp_url)
    try:
        server.greet()
    except (OSError, smtplib.SMTPException, ssl.SSLError) as problem:
        raise CommandFailed(f"{server.host}:{server.port} takes none from us: {problem}") from problem
    return f"{server.host}:{server.port} takes them"


def look_at_mail_in(settings: Settings) -> str:
    """Greet the process that takes mail in, as the mail server does."""
    if not settings.mail_in_address:
        return "none is taken in"
    where = f"{settings.mail_in_host}:{settings.mail_in_port}"
    try:
        with smtplib.SMTP(settings.mail_in_host, settings.mail_in_port, timeout=5) as smtp:
            smtp.noop()
    except (OSError, smtplib.SMTPException) as problem:
        raise CommandFailed(
            f"`tertulia mail` does not answer at {where} ({problem}): answers to mails would not become messages"
        ) from problem
    return f"{where} takes it in"
