"""The mail about a login from a browser that somebody never used before: whoever did not log in there hears of it.

It is sent unless they turned `enable_login_emails` off. The first browser of an account is no news.
"""

from datetime import UTC, datetime

from tertulia.kernel.call import Call
from tertulia.kernel.db import Transaction
from tertulia.kernel.mail import mails_leave, one_line, queue_mail
from tertulia.kernel.settings import Settings
from tertulia.people.sessions import queries
from tertulia.people.sessions.device import device_of
from tertulia.people.sessions.words import words_of


async def tell_of_browser(tx: Transaction, call: Call, settings: Settings, user_id: int) -> None:
    """Write the mail, if this person wants such mails and can get them."""
    person = await queries.find_addressee(tx, user_id) if mails_leave(settings) else None
    if person is None:
        return
    words = words_of(person.language)
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
