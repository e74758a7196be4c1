"""Endpoints of mails about missed messages: the way out of them, and which addresses refuse mail."""

from html import escape

import msgspec

from tertulia.kernel.auth import Administrator
from tertulia.kernel.db import Database, Reader
from tertulia.kernel.endpoint import Call, Reply, get, post
from tertulia.kernel.errors import Refusal
from tertulia.kernel.page import show_page, show_text
from tertulia.notifications.missed_mail import queries
from tertulia.notifications.missed_mail.links import PATH, SETTINGS, Kind, read_token
from tertulia.notifications.missed_mail.model import MailFailure
from tertulia.notifications.missed_mail.words import Words, words_of
from tertulia.organization.realms.queries import Realm
from tertulia.organization.realms.routes import get_realm_of
from tertulia.people.preferences.actions import turn_off
from tertulia.people.preferences.queries import get_settings

_BUTTON = """
<p>{text}</p>
<form method="post" action="{action}">
<input type="hidden" name="List-Unsubscribe" value="One-Click">
<p><button autofocus>{button}</button></p>
</form>
"""


class MailFailures(msgspec.Struct):
    """The answer of GET /realm/mail_failures."""

    mail_failures: list[MailFailure]


@get("/realm/mail_failures")
async def get_mail_failures(caller: Administrator, reader: Reader) -> MailFailures:
    """Addresses of people here that refused their last mails, as their mail servers said.

    Those with `is_stopped` get no mails any more that nobody asked for. Whatever mail is taken there, such as one for a new
    password, ends that, and so does another address of the account.
    """
    return MailFailures(await queries.mail_failures(reader, caller.realm_id))


@get(PATH + "/{kind}/{token}", prefix="", listed=False)
async def show_unsubscribe_button(call: Call, database: Database, *, kind: str, token: str) -> Reply:
    """The page behind the link in the mail. It does nothing by itself: programs that look at mails follow links."""
    mails, realm, _, words = await _whose(call, database, kind, token)
    text = words.stop_question[mails].format(realm=realm.name)
    body = _BUTTON.format(text=escape(text), action=escape(f"{PATH}/{mails}/{token}"), button=escape(words.stop_button))
    return show_page(words.stop_title[mails], body, language=words.language)


@post(PATH + "/{kind}/{token}", prefix="", listed=False)
async def unsubscribe(call: Call, database: Database, *, kind: str, token: str) -> Reply:
    """No more mails of this kind: by the button, or by a mail program (RFC 8058). No login."""
    mails, realm, user_id, words = await _whose(call, database, kind, token)
    async with database.transaction() as tx:
        await turn_off(tx, realm.id, user_id, SETTINGS[mails])
    return show_text(words.stopped_title, words.stopped[mails], language=words.language)


async def _whose(call: Call, database: Database, kind: str, token: str) -> tuple[Kind, Realm, int, Words]:
    if kind not in SETTINGS:
        raise Refusal("This link is not one of ours.", status=404)
    mails = Kind(kind)
    async with database.reader() as reader:
        realm = await get_realm_of(call, reader)
        user_id = read_token(realm.facts.notes.picture_key, token, mails)
        if user_id is None or not await queries.is_person_of(reader, realm.id, user_id):
            raise Refusal("This link is not one of ours.", status=404)
        settings, _ = await get_settings(reader, user_id)
    return mails, realm, user_id, words_of(settings.default_language)
