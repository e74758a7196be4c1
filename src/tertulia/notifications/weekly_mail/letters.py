"""From topics to a digest: subject, text, HTML and headers (pure)."""

from collections.abc import Sequence
from html import escape

from tertulia.kernel.mail import Letter, one_line
from tertulia.kernel.urls import split_url
from tertulia.notifications.concerns.places import place_of
from tertulia.notifications.missed_mail import words as common
from tertulia.notifications.missed_mail.content import mail_content
from tertulia.notifications.missed_mail.layout import Part, page
from tertulia.notifications.missed_mail.letters import Mail, title_of
from tertulia.notifications.missed_mail.links import Kind, unsubscribe_link
from tertulia.notifications.missed_mail.model import Recipient
from tertulia.notifications.weekly_mail.model import Entry
from tertulia.notifications.weekly_mail.words import Words, words_of

MAX_HTML = 20_000
"""Of one topic: a digest stays below what mail programs cut."""


def write_digest(recipient: Recipient, entries: Sequence[Entry], message_id: str) -> Mail:
    """The mail about these topics; `message_id` is its own, without its brackets."""
    words, shared = (
        words_of(recipient.settings.default_language),
        common.words_of(recipient.settings.default_language),
    )
    realm = one_line(recipient.realm_name)
    title = words.title.format(realm=realm)
    stop = unsubscribe_link(Kind.DIGEST, recipient)
    button = (shared.open_home.format(realm=realm), recipient.realm_url)
    ends = [(shared.settings, f"{recipient.realm_url}/#settings/notifications"), (words.unsubscribe, stop)]
    said = [words.why, shared.no_replies]
    if recipient.shows_content:
        parts = [part for entry in entries for part in _parts(recipient, entry, words, shared)]
    else:
        by = shared.hidden_by_you if recipient.is_content_allowed else shared.hidden_by_organization
        told = f"{words.count(words.hidden, len(entries))} {by.format(realm=realm)}"
        parts = [Part("", "", f"<p>{escape(told)}</p>", told)]
    lines = [title, "", *(line for part in parts for line in _lines(part)), "-- ", *said]
    lines += [f"{name}: {address}" for name, address in (button, *ends)]
    html = page(shared.language, title, parts, "", button, ends, said)
    return Mail(
        title,
        "\n".join([*lines, ""]),
        Letter(html, shared.sender.format(realm=realm), _headers(recipient, message_id, stop)),
    )


def _parts(recipient: Recipient, entry: Entry, words: Words, shared: common.Words) -> list[Part]:
    """The topic, and its last messages as far as they fit."""
    link = f"{recipient.realm_url}/{place_of(entry.talk.spot, recipient.user_id)}/near/{entry.busy.newest[0]}"
    messages = words.count(words.messages, entry.busy.messages)
    numbers = f"{messages} · {words.count(words.people, entry.busy.people)}"
    open_it = f'<a href="{escape(link)}">{escape(shared.open_message)}</a>'
    parts = [Part(f"{title_of(recipient, entry.talk, shared)} · {numbers}", "", open_it, link)]
    for one in entry.shown:
        html, text = mail_content(one.rendered, recipient.realm_url)
        if len(html) <= MAX_HTML:
            parts.append(Part(one_line(one.sender), "", html, text))
    return parts


def _lines(part: Part) -> list[str]:
    return [f"{part.head}:" if part.head else "", *(f"> {line}" for line in part.text.split("\n")), ""]


def _headers(recipient: Recipient, message_id: str, stop: str) -> dict[str, str]:
    host = split_url(recipient.realm_url).hostname or "localhost"
    return {
        "Message-ID": f"<{message_id}@{host}>",
        "List-Id": f"<digest.{host}>",
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "X-Auto-Response-Suppress": "All",
    }
