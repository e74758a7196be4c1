"""From missed messages of one conversation to a mail: subject, text, HTML and headers (pure)."""

from html import escape
from typing import NamedTuple

from tertulia.conversations.topics.rules import RESOLVED
from tertulia.kernel.mail import Letter, one_line
from tertulia.kernel.urls import split_url
from tertulia.notifications.concerns.model import Trigger
from tertulia.notifications.concerns.places import place_of
from tertulia.notifications.concerns.quiet import zone_of
from tertulia.notifications.mail_in.cutting import MARK
from tertulia.notifications.missed_mail.content import mail_content
from tertulia.notifications.missed_mail.layout import Part, page
from tertulia.notifications.missed_mail.links import Kind, unsubscribe_link
from tertulia.notifications.missed_mail.model import Batch, Recipient, Shown, Talk
from tertulia.notifications.missed_mail.words import Words, words_of

MAX_HTML = 80_000
"""Some mail programs cut longer mails, and with the end the way out of them."""
MAX_NAMES = 3


class Mail(NamedTuple):
    """A mail as the outbox takes it."""

    subject: str
    body: str
    letter: Letter


class _Told(NamedTuple):
    """What one mail differs in from another."""

    title: str
    parts: list[Part]
    more: str
    button: str
    link: str
    trigger: Trigger
    thread: str
    reply_to: str = ""


def write_mail(recipient: Recipient, talk: Talk, batch: Batch, message_id: str, reply_to: str = "") -> Mail:
    """The mail about a batch; `message_id` is its own, without its brackets. `reply_to`: where an answer becomes a message."""
    words = words_of(recipient.settings.default_language)
    if recipient.shows_content:
        parts, more = _parts(recipient, batch, words)
        button = words.open_message
    else:
        realm = one_line(recipient.realm_name)
        by = words.hidden_by_you if recipient.is_content_allowed else words.hidden_by_organization
        parts, more = [_sentence(by.format(realm=realm))], ""
        button = words.open_home.format(realm=realm)
    title, link = title_of(recipient, talk, words), link_of(recipient, talk, batch)
    told = _Told(title, parts, more, button, link, batch.trigger, talk.thread, reply_to)
    return _letter(recipient, words, told, message_id)


def write_rest(recipient: Recipient, trigger: Trigger, number: int, message_id: str) -> Mail:
    """The mail that only says in how many more conversations something was missed."""
    words = words_of(recipient.settings.default_language)
    parts = [_sentence(words.count(words.more_conversations, number))]
    button = words.open_home.format(realm=one_line(recipient.realm_name))
    told = _Told(words.new_messages, parts, "", button, recipient.realm_url, trigger, f"rest.{recipient.user_id}")
    return _letter(recipient, words, told, message_id)


def _letter(recipient: Recipient, words: Words, told: _Told, message_id: str) -> Mail:
    stop = unsubscribe_link(Kind.MISSED, recipient)
    ends = [
        (words.settings, f"{recipient.realm_url}/#settings/notifications"),
        (words.unsubscribe, stop),
    ]
    said = [words.reasons[told.trigger], words.replies if told.reply_to else words.no_replies]
    above = f"{MARK} {words.answer_above} {MARK}" if told.reply_to else ""
    button = (told.button, told.link)
    return Mail(
        f"{told.title}{_organization(recipient)}",
        _text(above, told, [button, *ends], said),
        Letter(
            page(words.language, told.title, told.parts, told.more, button, ends, said, above),
            words.sender.format(realm=one_line(recipient.realm_name)),
            _headers(recipient, told, message_id, stop),
        ),
    )


def _sentence(text: str) -> Part:
    return Part("", "", f"<p>{escape(text)}</p>", text)


def title_of(recipient: Recipient, talk: Talk, words: Words) -> str:
    """What the mail is about, in one line. It is the subject, too: by an equal one some programs know a thread."""
    if not recipient.shows_content:
        return words.new_messages
    if talk.spot.channel is not None:
        topic = talk.spot.topic or recipient.realm.settings.empty_topic_display_name
        mark = f"{words.resolved} " if topic.startswith(RESOLVED) else ""
        return f"{mark}#{one_line(talk.spot.channel)} > {one_line(topic.removeprefix(RESOLVED))}"
    names = [one_line(name) for name in talk.names]
    told = ", ".join(names[:MAX_NAMES])
    if len(names) > MAX_NAMES:
        told = words.count(words.and_others, len(names) - MAX_NAMES, names=told)
    return (words.group if len(names) > 1 else words.direct).format(names=told)


def link_of(recipient: Recipient, talk: Talk, batch: Batch) -> str:
    """Opens the conversation at the first message that was missed. A mail that shows nothing names nothing there either."""
    if not recipient.shows_content:
        return f"{recipient.realm_url}/#narrow/id/{batch.first_id}"
    return f"{recipient.realm_url}/{place_of(talk.spot, recipient.user_id)}/near/{batch.first_id}"


def _parts(recipient: Recipient, batch: Batch, words: Words) -> tuple[list[Part], str]:
    """The messages, as many as fit, and how many are missing."""
    parts: list[Part] = []
    size, more = 0, batch.more
    for at, shown in enumerate((*batch.context, *batch.messages)):
        is_missed = at >= len(batch.context)
        # What does not fit any more is not even read.
        html, text = mail_content(shown.rendered, recipient.realm_url) if size <= MAX_HTML else ("", "")
        size += len(html.encode())
        if size > MAX_HTML and parts:
            more += is_missed
            continue
        kind = "" if is_missed else words.before
        parts.append(Part(f"{one_line(shown.sender)} · {_time(recipient, shown)}", kind, html, text))
    return parts, words.count(words.more, more) if more else ""


def _time(recipient: Recipient, shown: Shown) -> str:
    local = shown.sent_at.astimezone(zone_of(recipient.timezone))
    clock = "%H:%M" if recipient.settings.twenty_four_hour_time else "%I:%M %p"
    return local.strftime(f"%Y-%m-%d {clock} %Z")


def _text(above: str, told: _Told, links: list[tuple[str, str]], said: list[str]) -> str:
    lines = [*((above, "") if above else ()), told.title, ""]
    kind = ""
    for part in told.parts:
        if part.kind and part.kind != kind:
            lines += [f"({part.kind})", ""]
        kind = part.kind
        lines += [f"{part.head}:" if part.head else "", *(f"> {line}" for line in part.text.split("\n")), ""]
    lines += [told.more, ""] if told.more else []
    lines += ["-- ", *said, *(f"{name}: {address}" for name, address in links), ""]
    return "\n".join(lines)


def _organization(recipient: Recipient) -> str:
    """Behind the subject, for those who are in several."""
    shows = {1: recipient.is_elsewhere, 2: True, 3: False}[recipient.settings.realm_name_in_email_notifications_policy]
    return f" [{one_line(recipient.realm_name)}]" if shows else ""


def _headers(recipient: Recipient, told: _Told, message_id: str, stop: str) -> dict[str, str]:
    host = split_url(recipient.realm_url).hostname or "localhost"
    # The mail that all of a thread answer to was never sent: so the first one that is lost or deleted tears nothing apart.
    thread = f"<{told.thread}@{host}>"
    return {
        "Message-ID": f"<{message_id}@{host}>",
        "In-Reply-To": thread,
        "References": thread,
        "List-Id": f"<{host}>",
        "List-Unsubscribe": f"<{stop}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "X-Auto-Response-Suppress": "All",
        **({"Reply-To": told.reply_to} if told.reply_to else {}),
    }
