"""From the bytes of a mail to what it says (pure).

The standard library reads headers by its older rules: the newer ones have a grammar that hostile headers keep busy. Nothing is
refused for being odd, only for being too much.
"""

import re
from collections.abc import Iterator
from email.header import decode_header
from email.message import Message

from tertulia.notifications.mail_in.html_text import text_of
from tertulia.notifications.mail_in.loops import is_automatic
from tertulia.notifications.mail_in.model import Attachment, Received
from tertulia.notifications.mail_in.parsing import ENCLOSED, MAX_HEADER, REPORT, TooMuch, decoded, parameter_of, parse

MAX_TEXT = 200_000
"""So many letters of a text are read: twenty times as many as a message may have."""
MAX_HTML = 500_000
MAX_FILES = 20
DECORATION = 8 * 1024
"""Smaller pictures in the text are those of signatures."""

_NOT_KEPT = frozenset(
    {REPORT, "application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"}
)
_UNSEEN = re.compile(r"[\x00\x02-\x08\x0b\x0c\x0e-\x1f\x7f\u2028\u2029\ufeff]")
_MESSAGE_ID = re.compile(r"<([^<>\s]{1,900})>")


def read_mail(content: bytes, envelope_sender: str) -> tuple[Received, Message]:
    """What a mail says, and the mail. Raises TooMuch."""
    mail, parts = parse(content), _Parts(_Room())
    parts.take(mail)
    named = _MESSAGE_ID.search(header_of(mail, "Message-ID"))
    received = Received(
        message_id=named[1] if named else "",
        sender=header_of(mail, "From"),
        subject=header_of(mail, "Subject"),
        text=_clean("\n\n".join(parts.texts)),
        files=tuple(parts.files),
        is_automatic=is_automatic(mail, envelope_sender),
    )
    return received, mail


def header_of(mail: Message, name: str) -> str:
    """One line, decoded."""
    raw = str(mail.get(name, ""))[:MAX_HEADER]
    try:
        pieces = decode_header(raw)
    except Exception:  # the library fails in several ways on what is no encoding
        pieces = [(raw, None)]
    told = "".join(piece if isinstance(piece, str) else decoded(piece, charset or "utf-8") for piece, charset in pieces)
    return " ".join(_UNSEEN.sub("", told.replace("\x01", "")).split())


class _Room:
    """For what is said in all parts together."""

    def __init__(self) -> None:
        self._left = MAX_HTML

    def letters(self, content: bytes, charset: str, limit: int) -> str:
        limit = min(limit, self._left)
        text = decoded(content[: 4 * limit], charset)[:limit]
        self._left -= len(text)
        return text.replace("\r\n", "\n").replace("\r", "\n")


class _Parts:
    """What is said, and what is enclosed."""

    def __init__(self, room: _Room) -> None:
        self.texts: list[str] = []
        self.files: list[Attachment] = []
        self._room = room

    def take(self, part: Message) -> None:
        kind, name = part.get_content_type(), _name_of(part)
        if kind == "multipart/alternative":
            self._take_best(part)
        elif part.get_content_maintype() == "multipart" or part.is_multipart():
            for inner in _inner(part):
                self.take(inner)
        elif kind in ("text/plain", "text/html") and not name and part.get_content_disposition() != "attachment":
            self.texts.append(_said(part, kind, self._room))
        elif kind not in _NOT_KEPT and not _is_decoration(part):
            self._enclose(name or _unnamed(kind), part.get_payload(decode=True))

    def _take_best(self, part: Message) -> None:
        """The plain text of several forms, if it says anything; then HTML. Files may be in any of the forms."""
        told: dict[bool, str] = {}
        for inner in _inner(part):
            form = _Parts(self._room)
            form.take(inner)
            for file in form.files:
                self._enclose(file.name, file.content)
            text = "\n\n".join(form.texts)
            if text.strip():
                told.setdefault(inner.get_content_type() == "text/plain", text)
        self.texts.append(told.get(True) or told.get(False, ""))

    def _enclose(self, name: str, content: object) -> None:
        if not isinstance(content, bytes) or not content:
            return
        if len(self.files) >= MAX_FILES:
            raise TooMuch(f"The mail has more than {MAX_FILES} files.")
        self.files.append(Attachment(name, content))


def _inner(part: Message) -> Iterator[Message]:
    if part.is_multipart():
        yield from (one for one in part.get_payload() if isinstance(one, Message))


def _name_of(part: Message) -> str:
    for name, header in (("filename", "content-disposition"), ("name", "content-type")):
        told, charset = parameter_of(part, name, header)
        if charset:
            told = decoded(told.encode("latin-1", "replace"), charset)
        one = Message()
        one["Subject"] = told.strip().replace("\r", "").replace("\n", " ")
        if found := header_of(one, "Subject"):
            return found
    return ""


def _unnamed(kind: str) -> str:
    if kind == ENCLOSED:
        return "mail.eml"
    return "file." + re.sub(r"[^a-z0-9]", "", kind.partition("/")[2].rpartition(".")[2].rpartition("-")[2])[:10]


def _is_decoration(part: Message) -> bool:
    if (
        part.get_content_maintype() != "image"
        or "Content-ID" not in part
        or part.get_content_disposition() == "attachment"
    ):
        return part.get_content_type() == "text/calendar"
    content = part.get_payload(decode=True)
    return isinstance(content, bytes) and len(content) < DECORATION


def _said(part: Message, kind: str, room: _Room) -> str:
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    limit = MAX_HTML if kind == "text/html" else MAX_TEXT
    text = room.letters(content, parameter_of(part, "charset")[0], limit)
    if kind == "text/html":
        return text_of(text)[:MAX_TEXT]
    if parameter_of(part, "format")[0].lower() == "flowed":
        return _unflowed(text, is_joined=parameter_of(part, "delsp")[0].lower() == "yes")
    return text


def _unflowed(text: str, *, is_joined: bool) -> str:
    """Lines that end with a blank go on in the next (RFC 3676), at the same depth of quotation."""
    lines: list[list[str]] = []
    depth, goes_on = 0, False
    for raw in text.split("\n"):
        bare = raw.lstrip(">")
        this = len(raw) - len(bare)
        content = bare[1:] if bare.startswith(" ") else bare
        is_signature = content == "-- "
        if goes_on and this == depth and not is_signature:
            lines[-1].append(content)
        else:
            lines.append([f"{'>' * this} {content}" if this else content])
        depth, goes_on = this, content.endswith(" ") and not is_signature
        if goes_on and is_joined:
            lines[-1][-1] = lines[-1][-1][:-1]
    return "\n".join("".join(line) for line in lines)


def _clean(text: str) -> str:
    return _UNSEEN.sub("", text.replace("\xa0", " "))
