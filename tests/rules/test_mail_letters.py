"""Mails about missed messages: what is in them, and that nothing in a message gets out of its place."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import get_args

import msgspec
import pytest

from tertulia.content.markup.renderer import render
from tertulia.kernel.languages import SPOKEN
from tertulia.notifications.concerns.model import Trigger
from tertulia.notifications.concerns.places import Spot
from tertulia.notifications.missed_mail.content import mail_content
from tertulia.notifications.missed_mail.letters import MAX_HTML, Mail, title_of, write_mail
from tertulia.notifications.missed_mail.links import read_token, unsubscribe_token
from tertulia.notifications.missed_mail.model import Batch, Recipient, Shown, Talk
from tertulia.notifications.missed_mail.rules import Presence, most_urgent, presence_of
from tertulia.notifications.missed_mail.words import words_of
from tertulia.organization.realms.settings import decode_realm
from tertulia.people.preferences.model import UserSettings

BASE = "https://chat.example.org"
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
RECIPIENT = Recipient(
    user_id=7,
    email="kofi@example.com",
    timezone="Europe/Berlin",
    settings=UserSettings(),
    realm_id=1,
    realm_name="Lighthouse",
    realm_url=BASE,
    realm=decode_realm('{"_picture_key": "of the organization"}'),
    is_elsewhere=False,
)
CHANNEL = Talk(Spot(4, "harbour", "the new lamp", None), "conversation.4.9", ())
TEXTS = (
    "The lamp arrived :tada: but the **lens** is missing. See the [plan](https://example.com/plan) and `lamp.py`.",
    "* first the lens\n* then the tower\n\n> who carries it?\n\nI can.",
    "```python\ndef turn(lamp):\n    return lamp.on and 1 < 2\n```\n\n| day | who |\n|---|---|\n| Mon | Ada |",
)


def shown(*texts: str, sender: str = "Ada Njoroge") -> list[Shown]:
    return [
        Shown(number, sender, render(text).html, NOON + timedelta(minutes=number))
        for number, text in enumerate(texts, 1)
    ]


def batch(messages: Sequence[Shown], trigger: Trigger = "mentioned", more: int = 0) -> Batch:
    before = shown("Is anybody at the harbour?", sender="Grace Okafor") if trigger == "mentioned" else []
    return Batch(trigger, 41, before, messages, more)


def sample(recipient: Recipient = RECIPIENT, *texts: str) -> Mail:
    return write_mail(recipient, CHANNEL, batch(shown(*(texts or TEXTS)), more=2), "missed.abc")


def test_a_mail_reads_well_as_text() -> None:
    assert sample().body == (
        "#harbour > the new lamp\n\n"
        "(Earlier)\n\n"
        "Grace Okafor · 2026-11-16 01:01 PM CET:\n> Is anybody at the harbour?\n\n"
        "Ada Njoroge · 2026-11-16 01:01 PM CET:\n"
        "> The lamp arrived 🎉 but the lens is missing. See the plan <https://example.com/plan> and lamp.py.\n\n"
        "Ada Njoroge · 2026-11-16 01:02 PM CET:\n"
        "> - first the lens\n> - then the tower\n> > who carries it?\n> I can.\n\n"
        "Ada Njoroge · 2026-11-16 01:03 PM CET:\n"
        "> def turn(lamp):\n>     return lamp.on and 1 < 2\n> day who\n> Mon Ada\n\n"
        "And 2 more.\n\n"
        "-- \n"
        "You’re getting this email because you or one of your groups was mentioned.\n"
        "Replies to this email aren’t read.\n"
        f"Open the conversation: {BASE}/#narrow/channel/4-harbour/topic/the.20new.20lamp/near/41\n"
        f"Choose which emails you get: {BASE}/#settings/notifications\n"
        f"Unsubscribe from emails about messages: {BASE}/accounts/unsubscribe/missed_messages/"
        f"{unsubscribe_token('of the organization', 7)}\n"
    )


class Balance(HTMLParser):
    """Whether everything that is opened is closed, in order, and where links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in ("br", "hr", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(html: str) -> Balance:
    balance = Balance()
    balance.feed(html)
    balance.close()
    assert balance.open == []
    return balance


HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> </td></tr></table>",
    "[click](javascript:alert(1)) [relative](/user_uploads/1/ab/x.png) [fragment](#narrow/channel/4)",
    "![picture](https://example.com/a.png) https://example.com/b.png",
    "> quote\n> > deeper\n\n1. one\n   * two\n\n```spoiler Who **did** it\nthe butler\n```",
    "$$x < y$$ ~~gone~~ ***all*** <time:2026-11-16T12:00:00Z> :heart: @**all**",
    "x" * 10_000,
    "**" * 3000,
)


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_message_says_stays_in_its_place(text: str) -> None:
    page = read(sample(RECIPIENT, text).letter.html)
    assert page.seen.isdisjoint({"script", "img", "iframe", "object", "form", "link", "video", "audio", "svg"})
    assert all(link.startswith(("https://", "mailto:")) for link in page.links)
    assert "butler" not in sample(RECIPIENT, text).letter.html + sample(RECIPIENT, text).body


def test_a_message_that_is_cut_leaves_nothing_open() -> None:
    html, text = mail_content("<p><strong>" + "<em>word</em> " * 3000, BASE)
    read(html)
    assert (html[-8:], text[-1]) == ("<p>…</p>", "…")


def test_a_mail_is_never_so_long_that_programs_cut_its_end_off() -> None:
    mail = sample(RECIPIENT, *["word " * 1900] * 20)
    assert len(mail.letter.html.encode()) < MAX_HTML + 12_000
    [left] = re.findall(r"And (\d+) more", mail.body)
    assert int(left) > 2
    assert "/accounts/unsubscribe/" in mail.letter.html


def test_names_make_no_links_and_no_further_headers() -> None:
    talk = Talk(Spot(4, "see evil.example.com\r\nBcc: x@example.com", "http://evil.example.com", None), "c.4.9", ())
    subject = write_mail(RECIPIENT, talk, batch(shown("hi")), "m").subject
    assert subject == "#see evil. example. com Bcc: x@ example. com > http: //evil. example. com"


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (["Ada"], "Direct messages with Ada"),
        (["Ada", "Grace"], "Group messages with Ada, Grace"),
        (["A", "B", "C", "D", "E"], "Group messages with A, B, C and 2 others"),
    ],
)
def test_a_direct_conversation_is_named_by_the_others_in_it(names: list[str], title: str) -> None:
    assert title_of(RECIPIENT, Talk(Spot(None, None, None, [1, 7]), "c.5.0", names), words_of("en")) == title


def test_every_reason_has_words_in_every_language() -> None:
    for language in SPOKEN:
        assert set(words_of(language).reasons) == set(get_args(Trigger)) - {"stream_push"}


def test_a_time_zone_that_is_none_is_no_reason_to_send_nothing() -> None:
    assert "12:01 PM UTC" in sample(msgspec.structs.replace(RECIPIENT, timezone="Nowhere/Land")).body


def test_the_most_urgent_reason_is_named() -> None:
    assert most_urgent(["stream_email", "mentioned", "followed_topic"]) == "mentioned"


@pytest.mark.parametrize(
    ("active", "expected"),
    [
        (None, Presence.GONE),
        (1, Presence.THERE),
        (-1, Presence.UNKNOWN),
        (-99, Presence.UNKNOWN),
        (-100, Presence.GONE),
    ],
)
def test_whoever_did_something_after_a_message_came_was_there(active: int | None, expected: Presence) -> None:
    sent, now = NOON, NOON + timedelta(seconds=100)
    assert presence_of(sent, None if active is None else NOON + timedelta(seconds=active), now) is expected


def test_a_link_is_good_for_one_person_of_one_organization() -> None:
    token = unsubscribe_token("key", 7)
    assert read_token("key", token) == 7
    for key, wrong in (("other", token), ("key", token.replace("7.", "8.", 1)), ("key", token[:-1]), ("", token)):
        assert read_token(key, wrong) is None
    for garbage in ("", ".", "7", "7.", "-7." + token[2:], "٧." + token[2:], "9" * 30 + "." + token[2:], "7.é"):
        assert read_token("key", garbage) is None
