"""`tertulia dev mails`: each mail that the server writes by itself, in each language, on one page to look at."""

import webbrowser
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tertulia.cli.errors import CommandFailed
from tertulia.kernel.languages import SPOKEN

if TYPE_CHECKING:
    from tertulia.notifications.missed_mail.letters import Mail
    from tertulia.notifications.missed_mail.model import Recipient, Shown

_URL = "https://chat.example.com"
_TEXTS = (
    "The lamp arrived :tada: but the **lens** is missing. See the [plan](https://example.com/plan) and `turn_on()`.",
    "* first the lens\n* then the tower\n\n> who carries it?\n\nI can.",
    "```python\ndef turn(lamp):\n    return lamp.on and 1 < 2\n```\n\n| day | who |\n|---|---|\n| Mon | Ada |",
)
_BEGINNING = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Mails of Tertulia</title>
"""
_PAGE = """{beginning}<style>
body {{ font: 16px system-ui, sans-serif; margin: 2rem; background: #ddd; color: #111 }}
section {{ margin-bottom: 3rem }}
.views {{ display: flex; gap: 1rem; align-items: start; overflow-x: auto }}
iframe {{ border: 1px solid #999; flex: none; height: 640px; width: 620px }}
iframe.dark {{ color-scheme: dark }}
iframe.phone {{ width: 360px }}
pre {{ background: #fff; padding: 1rem; overflow-x: auto }}
</style>
<h1>Mails of Tertulia</h1>
{mails}
</html>
"""
_MAIL = """<section>
<h2>{kind}, {language}</h2>
<p>From: {sender}<br>Subject: {subject}</p>
<div class="views">
<iframe title="light" sandbox srcdoc="{html}"></iframe>
<iframe title="dark" class="dark" sandbox srcdoc="{html}"></iframe>
<iframe title="phone" class="phone" sandbox srcdoc="{html}"></iframe>
</div>
<details><summary>As text</summary><pre>{text}</pre></details>
</section>
"""


def mails(
    file: Annotated[Path, typer.Argument(help="The page to write.")] = Path("mails.html"),
    show: Annotated[bool, typer.Option("--show", help="Open it in a browser.")] = False,
) -> None:
    """Write a page with each mail that the server writes by itself, light, dark and as on a phone. Needs no server."""
    _check_ours(file)
    file.write_text(previews())
    print(f"Written: {file}")
    if show:
        webbrowser.open(file.absolute().as_uri())


def _check_ours(file: Path) -> None:
    """A page that was written before is replaced, and nothing else is: who runs this by mistake, as root, loses nothing."""
    if not file.is_file():
        return
    with file.open("rb") as there:
        if there.read(len(_BEGINNING)) not in (_BEGINNING.encode(), b""):
            raise CommandFailed(f"{file} is there already, and no page of mails. Name another file.")


def previews() -> str:
    """The page."""
    return _PAGE.format(
        beginning=_BEGINNING,
        mails="".join(_shown(kind, language, mail) for language in SPOKEN for kind, mail in samples(language)),
    )


def _shown(kind: str, language: str, mail: "Mail") -> str:
    return _MAIL.format(
        kind=kind,
        language=language,
        sender=escape(mail.letter.sender_name),
        subject=escape(mail.subject),
        html=escape(mail.letter.html),
        text=escape(mail.body),
    )


def samples(language: str) -> Iterator[tuple[str, "Mail"]]:
    """One mail of each kind, by what it is about."""
    from tertulia.notifications.account_mails.letters import farewell_mail, welcome_mail
    from tertulia.notifications.concerns.places import Spot
    from tertulia.notifications.missed_mail.letters import write_mail, write_rest
    from tertulia.notifications.missed_mail.model import Batch, Talk
    from tertulia.notifications.weekly_mail.letters import write_digest
    from tertulia.notifications.weekly_mail.model import Busy, Entry

    you, shy = _recipient(language), _recipient(language, message_content_in_email_notifications=False)
    channel = Talk(Spot(4, "harbour", "the new lamp", None), "conversation.4.9", ())
    direct = Talk(Spot(None, None, None, (7, 8)), "conversation.5", ("Ada Njoroge",))
    said, before = _said(*_TEXTS), _said("Is anybody at the harbour?", sender="Grace Okafor")
    mentioned = Batch("mentioned", 41, before, said, 2)
    yield "A mention in a channel", write_mail(you, channel, mentioned, "missed.1")
    yield "A direct message", write_mail(you, direct, Batch("direct_message", 42, (), said[:1], 0), "missed.2")
    yield "A mention, without what was said", write_mail(shy, channel, mentioned, "missed.3")
    yield "More conversations than a person gets mails about", write_rest(you, "mentioned", 12, "missed.4")
    yield "The weekly digest", write_digest(you, [Entry(Busy(9, 3, 14, (1, 2)), channel, said[:2])], "digest.1")
    yield "Welcome", welcome_mail(you)
    yield "An account was deactivated", farewell_mail(you, "Thank you for all the lamps!")


def _recipient(language: str, **settings: bool) -> "Recipient":
    import msgspec

    from tertulia.notifications.missed_mail.model import Recipient
    from tertulia.organization.realms.settings import RealmFacts, RealmNotes, RealmSettings
    from tertulia.people.preferences.model import UserSettings

    return Recipient(
        user_id=7,
        email="kofi@example.com",
        timezone="Europe/Madrid",
        settings=msgspec.convert({"default_language": language, **settings}, UserSettings),
        realm_id=1,
        realm_name="Lighthouse",
        realm_url=_URL,
        realm=RealmFacts(RealmSettings(), RealmNotes(picture_key="none")),
        is_elsewhere=False,
    )


def _said(*texts: str, sender: str = "Ada Njoroge") -> "list[Shown]":
    from datetime import UTC, datetime, timedelta

    from tertulia.content.markup.renderer import render
    from tertulia.notifications.missed_mail.model import Shown

    noon = datetime(2026, 11, 16, 12, tzinfo=UTC)
    return [
        Shown(number, sender, render(text).html, noon + timedelta(minutes=number))
        for number, text in enumerate(texts, 1)
    ]
