"""Mails about an account: subject, text, HTML (pure)."""

from collections.abc import Sequence
from html import escape

from tertulia.kernel.mail import Letter, one_line
from tertulia.notifications.account_mails.words import words_of
from tertulia.notifications.missed_mail import words as common
from tertulia.notifications.missed_mail.layout import Part, page
from tertulia.notifications.missed_mail.letters import Mail
from tertulia.notifications.missed_mail.model import Recipient


def welcome_mail(recipient: Recipient) -> Mail:
    """For somebody who has just got an account."""
    words = words_of(recipient.settings.default_language)
    realm = one_line(recipient.realm_name)
    told = [one.format(realm=realm, email=recipient.email) for one in words.welcome_text]
    links = [
        (words.open_home.format(realm=realm), recipient.realm_url),
        (words.settings, f"{recipient.realm_url}/#settings/notifications"),
    ]
    return _mail(recipient, words.welcome.format(realm=realm), told, links, words.why_welcome)


def farewell_mail(recipient: Recipient, comment: str) -> Mail:
    """For somebody whose account was deactivated, with what the administrator wants to say about that."""
    words = words_of(recipient.settings.default_language)
    realm = one_line(recipient.realm_name)
    said = comment.strip()
    told = [words.farewell_text.format(realm=realm), *([words.said, said] if said else [])]
    links = [(words.open_home.format(realm=realm), recipient.realm_url)]
    return _mail(recipient, words.farewell.format(realm=realm), told, links, words.why_farewell)


def _mail(recipient: Recipient, title: str, told: Sequence[str], links: list[tuple[str, str]], why: str) -> Mail:
    shared = common.words_of(recipient.settings.default_language)
    html = "".join(f"<p>{escape(one).replace(chr(10), '<br>')}</p>" for one in told)
    said = [why, shared.no_replies]
    button, *ends = links
    lines = [title, "", *(line for one in told for line in (one, "")), "-- ", *said]
    lines += [f"{name}: {address}" for name, address in links]
    return Mail(
        title,
        "\n".join([*lines, ""]),
        Letter(
            page(shared.language, title, [Part("", "", html, "")], "", button, ends, said),
            shared.sender.format(realm=one_line(recipient.realm_name)),
            {"X-Auto-Response-Suppress": "All"},
        ),
    )
