"""The mail about a login from a browser that somebody never used before: whoever did not log in there hears of it.

It is sent unless they turned `enable_login_emails` off. The first browser of an account is no news.
"""

from datetime import UTC, datetime

import msgspec

from tertulia.kernel.call import Call
from tertulia.kernel.db import Transaction
from tertulia.kernel.languages import in_language
from tertulia.kernel.mail import mails_leave, one_line, queue_mail
from tertulia.kernel.settings import Settings
from tertulia.people.sessions import queries
from tertulia.people.sessions.device import device_of


class Words(msgspec.Struct, frozen=True):
    """What is said in one language."""

    subject: str
    body: str
    unknown: str


ENGLISH = Words(
    subject="A new login at {realm}",
    unknown="an unknown browser",
    body="""Hello {name},

somebody logged in to your account at {realm} with a browser that you never used there before:

    {device}
    {address}
    {time}

If it was you, there is nothing to do. If it was not, choose another password at once and end all
other sessions:

    {url}/#settings/devices

These mails can be turned off:

    {url}/#settings/notifications
""",
)
SPANISH = Words(
    subject="Un nuevo inicio de sesión en {realm}",
    unknown="un navegador desconocido",
    body="""Hola, {name}:

Alguien inició sesión en tu cuenta de {realm} con un navegador que nunca habías usado allí:

    {device}
    {address}
    {time}

Si fuiste tú, no tienes que hacer nada. Si no, elige otra contraseña ahora mismo y cierra todas las
demás sesiones:

    {url}/#settings/devices

Estos correos se pueden desactivar:

    {url}/#settings/notifications
""",
)
_ALL = {"en": ENGLISH, "es": SPANISH}


async def tell_of_browser(tx: Transaction, call: Call, settings: Settings, user_id: int) -> None:
    """Write the mail, if this person wants such mails and can get them."""
    person = await queries.find_addressee(tx, user_id) if mails_leave(settings) else None
    if person is None:
        return
    words = in_language(person.language, _ALL)
    realm = one_line(person.realm_name)
    body = words.body.format(
        name=one_line(person.full_name),
        realm=realm,
        device=device_of(call.header("user-agent") or "") or words.unknown,
        address=call.peer,
        time=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        url=settings.url_of(person.subdomain),
    )
    await queue_mail(tx, person.email, words.subject.format(realm=realm), body)
